"""Timelines of modules: shares over the time of a run, against all words that moved, and in the
report."""

import numpy as np
import pytest

from ithaca import solve
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.engine import run_network
from ithaca.plugins.rtl.formulations.timeline import timeline
from tests.command_line import ithaca, succeed
from tests.plugins.rtl.formulations.test_values import NETWORK


def test_shares_are_those_of_the_words_that_moved():
    run = simulate_network(NETWORK)
    found = timeline(run, 7)
    length = int(found.begins[1])
    counts = run_network(NETWORK, words=True)
    assert len(found.begins) == len(found.working[0])
    assert run.cycles <= len(found.begins) * length < run.cycles + length
    lengths = np.minimum(length, run.cycles - found.begins)
    # a PE is at work in the cycles in which it takes words of A
    names = [fifo.name for fifo in NETWORK.fifos]
    taken = [(names[fifo], cycle) for fifo, left, cycle in counts.words.tolist() if left]
    cycles = [
        c for name, c in taken if NETWORK.readers[name].startswith("PE") and name.startswith("A ")
    ]
    expected = np.histogram(cycles, [*found.begins, run.cycles])[0] / 9 / lengths
    assert found.working[found.modules.index("PE")] == pytest.approx(expected)
    # in all, what the table of shares says
    for module in run.modules:
        row = found.working[found.modules.index(module.module)]
        assert (row * lengths).sum() / run.cycles == pytest.approx(module.working)
    assert found.modules[0].endswith("L3_in")


def test_reports_show_the_run_unless_they_are_to_be_quick(tmp_path):
    solve("mm", i=16, j=16, k=16, dataflow="i,j").save(tmp_path / "r.json")
    succeed("report", tmp_path / "r.json", "-o", tmp_path / "r.html")
    succeed("report", tmp_path / "r.json", "-o", tmp_path / "quick.html", "--quick")
    page = (tmp_path / "r.html").read_text()
    assert "The run, word by word" in page
    assert "When modules work" in page
    cycles = ithaca("simulate", tmp_path / "r.json").stdout.splitlines()[1]
    assert f"the array takes {cycles}" in page
    assert "The run, word by word" not in (tmp_path / "quick.html").read_text()


def test_the_run_ends_with_the_time_limit_of_the_report(tmp_path, monkeypatch):
    monkeypatch.setattr("ithaca.plugins.rtl.formulations.engine.SLICE", 100)
    result = solve("mm", i=8, j=8, k=8, dataflow="i,j")
    result.report(tmp_path / "r.html", time_limit=1e-9)
    page = (tmp_path / "r.html").read_text()
    assert "Not simulated: the time limit is over; allowed: more than 1e-09 s." in page
