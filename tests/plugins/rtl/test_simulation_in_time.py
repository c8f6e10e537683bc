"""Simulations under a time limit end with the cycles that the array takes at least."""

import json
import re
from contextlib import suppress
from functools import partial

import pytest

import ithaca
from ithaca.files.clock import StoppedError
from ithaca.files.errors import NothingFoundError
from ithaca.plugins.rtl.commands import simulating
from ithaca.plugins.rtl.formulations import engine
from ithaca.plugins.rtl.formulations.activity import simulate_network
from tests.command_line import ithaca as command
from tests.test_time_limits import LIMIT, MOST_OF_NETWORKS, end_after

#: What is said of a run that did not end in time.
ENDED = r"time was over before the run ended(?:: it takes ([\d,]+) cycles at least)?$"


@pytest.fixture(scope="module")
def result():
    return ithaca.solve("mm", i=16, j=16, k=16, limit={"dsp": 40}, dataflow="i,j")


def test_what_had_run_is_a_bound(result, monkeypatch):
    cycles = ithaca.simulate(result).cycles
    assert ithaca.simulate(result, time_limit=1000).cycles == cycles
    monkeypatch.setattr(engine, "SLICE", 1)  # turns
    bounds, asks = [], 150
    run = partial(ithaca.simulate, result, time_limit=LIMIT)
    with suppress(pytest.fail.Exception):  # it ended in time
        while True:
            with pytest.raises(NothingFoundError, match=ENDED) as ended:
                end_after(asks, run, monkeypatch, MOST_OF_NETWORKS)
            bound = re.search(ENDED, str(ended.value))
            bounds.append(int(((bound and bound[1]) or "0").replace(",", "")))
            asks += 8
    assert 0 < max(bounds) < cycles


def test_networks_of_processes_are_made_in_time(result, monkeypatch):
    with pytest.raises(NothingFoundError, match=r"time was over before the run ended$"):
        end_after(3, lambda: ithaca.simulate(result, time_limit=LIMIT), monkeypatch)


def test_tables_of_points_end_with_the_time(result, tmp_path):
    path = tmp_path / "points.csv"
    ithaca.seed(result, "csv", path, count=3)
    words = ("simulate", "mm", "--points", str(path))
    assert command(*words, "--time-limit", "1000").returncode == 0
    ended = command(*words, "--time-limit", "1e-9")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "time was over before any point had run\n"


def test_of_tables_of_points_those_that_had_run_are_printed(result, tmp_path, monkeypatch):
    path = tmp_path / "points.csv"
    ithaca.seed(result, "csv", path, count=3)
    words = ("simulate", "mm", "--points", str(path), "--json")
    every, simulated = json.loads(command(*words).stdout)["points"], []

    def simulate_some(*network):
        if len(simulated) == 2:
            raise StoppedError
        simulated.append(simulate_network(*network))
        return simulated[-1]

    monkeypatch.setattr(simulating, "simulate_network", simulate_some)
    ended = command(*words, "--time-limit", "1000")
    assert json.loads(ended.stdout)["points"] == every[:2]
    assert json.loads(ended.stdout)["complete"] is False
    assert ended.returncode == 1
    assert ended.stderr == "time was over: 2 of 3 points had run\n"
