"""Answers that maximise: files hold what is minimised, people read what they asked for."""

import re

import pytest

import ithaca
from tests.command_line import succeed

SMALL = ("mm", "-s", "i=4,j=4,k=4", "--divisors-only", "--dataflow", "i,j", "--limit", "dsp=30")


def shown(words):
    """Words between lines and blanks of tables."""
    return re.sub(r"[\s│]+", " ", words)


@pytest.mark.ci
def test_an_objective_and_its_negative_are_two_points_that_a_file_keeps(tmp_path):
    path = tmp_path / "study.json"
    table = shown(succeed("whatif", *SMALL, "--vary", "objective=dsp,-dsp", "-o", path).stdout)
    assert "dsp 5 optimal" in table
    assert "-dsp 10 optimal" in table
    study = ithaca.load(path)
    assert study.axes[0].labels == ("dsp", "-dsp")
    assert [point.answer.value for point in study.points.values()] == [5, -10]
    assert "value 10" in succeed("verify", path).stdout


@pytest.mark.ci
def test_of_networks_changes_are_those_of_what_is_maximised():
    layer = ("vgg16", "--layers", "fc8", "--dataflow", "i,j", "--divisors-only")
    words = (*layer, "--objective=-energy", "--limit", "dsp=30")
    table = shown(succeed("whatif", *words, "--vary", "dtype=fp32,int8").stdout)
    assert "fp32 1,796,572,400 0 %" in table
    assert "int8 765,246,780 −57.4 %" in table


@pytest.mark.ci
def test_other_designs_have_less_of_what_is_maximised(tmp_path):
    path = tmp_path / "r.json"
    words = ("-s", "i=8,j=8,k=8", "--divisors-only", "--objective", "throughput")
    table = shown(succeed("solve", "mm", *words, "--limit", "dsp=64", "-o", path).stdout)
    assert "[i,k] C 3.2681 (-4.3%)" in table
    assert "value 3.2681 re-evaluated" in succeed("verify", path).stdout
