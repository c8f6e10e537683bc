"""Runs on a user's own platform."""

import json
from fractions import Fraction

from ithaca import simulate, solve
from ithaca.formulations import machine
from ithaca.formulations.platform_files import load_platform
from tests.formulations.test_platform_files import WAITING


def test_memory_that_waits_is_simulated_unless_told_otherwise(tmp_path):
    platform, result = tmp_path / "own.yaml", tmp_path / "result.json"
    platform.write_text(WAITING % "latency: 40")
    technology = load_platform(str(platform)).technology
    shared = int(Fraction("12.8") * Fraction("0.75") * 1000 / technology.clock_mhz)
    assert technology.memory == machine.MemoryTiming(latency=40, bandwidth=shared)
    solve(
        "mm",
        i=12,
        j=12,
        k=12,
        dataflow="i,j",
        edition="cycle",
        platform=platform,
        limit={"bandwidth": None},
    ).save(result)
    stated, same = simulate(result), simulate(result, memory={"latency": 40, "bandwidth": shared})
    assert stated.cycles == same.cycles
    ideal = simulate(result, memory={"latency": 0, "bandwidth": 0})
    assert ideal.cycles < stated.cycles
    # all that is moved takes its time: a bound of the run, which the model holds, too
    slow = simulate(result, memory={"bandwidth": 1})
    least = 4 * json.loads(result.read_text())["best"]["metrics"]["off_chip_words"]
    assert slow.models["cycle"] == max(least, ideal.models["cycle"])
    assert least <= slow.cycles
