"""The rules that tests count by, held against what the real Timeloop counted of random mappings
(`tests/data/README.md`)."""

import csv
import re
import tarfile
from functools import cache

import pytest
import yaml

from tests.plugins.hierarchies.exports.timeloop_rules import count, read_published
from tests.reference import DATA


@cache
def published():
    with tarfile.open(DATA / "timeloop.tar.xz") as archive:
        found = {m.name: archive.extractfile(m) for m in archive.getmembers() if m.isfile()}
        return {name: file.read().decode() for name, file in found.items() if file is not None}


def rows(machine):
    files = published()
    architecture = yaml.safe_load(files[f"{machine}/arch.yaml"])
    table = list(csv.DictReader(files[f"{machine}.csv"].splitlines()))
    problems = {
        r["workload"]: yaml.safe_load(files[f"{machine}/problem_{r['workload']}.yaml"])
        for r in table
    }
    return [(read_published(architecture, problems[row["workload"]], row), row) for row in table]


@pytest.mark.parametrize(("machine", "counts"), [("simple", 2460), ("eyeriss", 2214)])
def test_counts_are_the_tools(machine, counts):
    compared = 0
    for mapped, row in rows(machine):
        if row["valid"] != "1":
            continue
        found = count(mapped)
        for level, counted in found.levels.items():
            for what in ("reads", "fills", "updates", "capacity"):
                for tensor, words in getattr(counted, what).items():
                    assert words == int(row[f"{level}.{tensor}.{what}"]), (
                        row["workload"],
                        level,
                        tensor,
                        what,
                    )
                    compared += 1
        assert found.compute_cycles == int(row["compute_cycles"])
        assert found.macs == int(row["computes"])
        assert found.multipliers == int(row["mac_instances"])
        # the tool divides in doubles before it rounds up: now and then a cycle too many
        assert int(row["cycles"]) - found.cycles in (0, 1)
    assert compared == counts


@pytest.mark.parametrize("machine", ["simple", "eyeriss"])
def test_tiles_that_the_tool_rejects_do_not_fit(machine):
    rejected = 0
    for mapped, row in rows(machine):
        overfull = count(mapped).overfull
        if size := re.search(
            r"level (\w+): mapped tile size (\d+) exceeds buffer capacity (\d+)",
            row["reject_reason"],
        ):
            level, needed, had = size.groups()
            assert overfull[level] == (int(needed), int(had))
            rejected += 1
        elif row["valid"] == "1":
            assert overfull == {}
    assert rejected > 15
