"""Metrics of which more is better are maximised, and the words say so."""

from fractions import Fraction

import pytest

import ithaca
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import as_asked, goal, to_minimise
from ithaca.results.study_explanation import front_rows
from tests.command_line import succeed

ARRAY = ("mm", "-s", "i=4,j=4,k=4", "--dataflow", "i,j", "--divisors-only", "--limit", "dsp=40")


@pytest.mark.parametrize(
    ("text", "minimised"),
    [
        ("most", "-most"),
        (" most", "-most"),
        ("-most", "-most"),
        ("1/most", "1/most"),
        ("1*most", "1*most"),
        ("most/least", "-(most/least)"),
        ("2*most - least", "-(2*most - least)"),
        ("least/most", "least/most"),
        ("least*most", "least*most"),
        ("least", "least"),
        ("least - most", "least - most"),
    ],
)
def test_what_is_to_grow_is_maximised(text, minimised):
    known = {name: Metric(name, "", "", most=name == "most") for name in ("most", "least")}
    assert to_minimise(text, known) == minimised
    assert to_minimise(minimised, known) == minimised


def test_goals_say_what_grows():
    assert goal(["latency", "dsp"], ",") == "minimising latency,dsp"
    words = "maximising throughput, then minimising dsp"
    assert as_asked("-(a/ceil(b))", Fraction(-3)) == ("a/ceil(b)", 3)
    assert as_asked("-(a)-(b)", Fraction(-3)) == ("-(a)-(b)", -3)  # the negative of a + b
    assert goal(["-throughput", "dsp"], ",") == words
    assert goal(["-a - b"]) == "minimising -a - b"


@pytest.mark.ci
def test_the_most_throughput_is_that_of_the_least_latency(tmp_path):
    """Operations of one nest are the same, so both have the same best array."""
    options = {"dataflow": "i,j", "divisors_only": True, "limit": {"dsp": 40}}
    fast = ithaca.solve("mm", i=4, j=4, k=4, **options)
    most = ithaca.solve("mm", i=4, j=4, k=4, objective="throughput", **options)
    operations = 2 * 4**3 / 1000  # and MHz make Gop/s
    assert float(-most.value) == pytest.approx(operations * 300 / float(fast.value))
    assert most.status == "optimal"
    output = succeed("solve", *ARRAY, "--objective", "throughput", "-o", tmp_path / "r.json").stdout
    words = "maximising throughput"
    assert words in output
    assert f"objective  throughput {float(-most.value):.4f}".rstrip("0") in output
    explained = succeed("explain", tmp_path / "r.json", "--quick").stdout
    assert words in explained
    assert (
        f"Design: {most.best.design}; throughput is {float(-most.value):.4f}".rstrip("0")
        in explained
    )
    assert "confirmed" in succeed("verify", tmp_path / "r.json").stdout


@pytest.mark.ci
def test_a_front_and_a_mapping_have_the_most(tmp_path):
    front = ithaca.pareto(
        "mm", i=4, j=4, k=4, objectives="throughput,dsp", dataflow="i,j", divisors_only=True
    )
    least = ithaca.pareto(
        "mm", i=4, j=4, k=4, objectives="latency,dsp", dataflow="i,j", divisors_only=True
    )
    assert [point.values[1] for point in front.points] == [p.values[1] for p in least.points]
    assert [row[1][0] for row in front_rows(front)] == ["throughput (Gop/s)"] * len(front.points)
    assert front.statements[1].startswith("Most throughput: ")
    assert "-throughput" not in "".join(front.statements)
    output = succeed(
        "map", "mm", "-s", "i=4,j=4,k=4", "--arch", "simple", "--objective", "pes",
        "--divisors-only",
    ).stdout  # fmt: skip
    assert "maximising pes" in output
    assert "objective  pes 64  (optimal" in output
