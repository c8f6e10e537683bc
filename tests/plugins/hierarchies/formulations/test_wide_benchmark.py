"""The benchmark of wide memories: what it prints of a command is the command's answer."""

from __future__ import annotations

import pytest

import ithaca
from benchmarks import wide_mappings


@pytest.mark.ci
def test_a_row_has_the_answer_and_what_it_took(monkeypatch, capsys):
    command = "map mm -s i=6,j=5,k=4 --arch simple --objective energy"
    monkeypatch.setattr(wide_mappings, "CASES", {"small": command, "other": "map nothing"})
    wide_mappings.main(["--only", "small"])
    _, row = capsys.readouterr().out.splitlines()
    name, value, bound, gap, status, seconds, memory, beyond = row.split(" | ")
    expected = ithaca.map("mm", i=6, j=5, k=4, arch="simple", objective="energy")
    assert (name, gap, status) == ("small", "0.00%", "optimal")
    assert value == bound == f"{float(expected.value):,.10g}"
    assert float(seconds) > 0
    assert 0 < float(memory) < 2
    assert beyond == "nothing"
    with pytest.raises(SystemExit, match="--arch is missing"):
        wide_mappings.main(["--only", "other"])
