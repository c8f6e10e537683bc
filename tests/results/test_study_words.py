"""Titles and headings of studies, and their best points."""

from fractions import Fraction

import pytest

import ithaca
from ithaca.formulations.systolic.insight import facts
from ithaca.formulations.systolic.insight.cycles import PES, ArrayBottleneck, Contender
from ithaca.results.study_explanation import study_rows, study_statements
from ithaca.results.systolic import result_view as systolic_view

SMALL = {"i": 4, "j": 4, "k": 4, "dataflow": "i,j", "divisors_only": True}


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """A study of two boards whose clocks differ, the one of fewer cycles the slower; its file."""
    folder = tmp_path_factory.mktemp("boards")
    text = """\
name: {name}
clock_mhz: {clock}
resources:
  dsp: {{total: {dsp}, usable: 1}}
  bram18k: {{total: 1000, usable: 1}}
memory: {{kind: own, channels: 1, bandwidth: {bandwidth}}}
"""
    for name, clock, dsp, bandwidth in (("slow", 100, 2000, 1000), ("fast", 400, 60, 4000)):
        own = text.format(name=name, clock=clock, dsp=dsp, bandwidth=bandwidth)
        (folder / f"{name}.yaml").write_text(own)
    places = [str(folder / f"{name}.yaml") for name in ("slow", "fast")]
    return places, folder / "boards.json"


def test_the_best_board_is_the_fastest_where_clocks_differ(boards):
    places, path = boards
    large = SMALL | {"i": 16, "j": 16, "k": 16}
    study = ithaca.whatif("mm", **large, vary={"platform": places})
    slow, fast = (point.answer for point in study.points.values())
    assert slow.value < fast.value
    assert slow.metrics["time"] > fast.metrics["time"]
    (best,) = [line for line in study_statements(study) if line.startswith("Best: ")]
    assert best.startswith(f"Best: latency {int(fast.value)} at platform ")
    assert "fast" in best
    assert "the least time, as clocks differ" in best
    study.save(path)
    assert best.partition(";")[0] in "".join(study_statements(ithaca.load(path)))
    energy = ithaca.whatif("mm", **SMALL, vary={"platform": places}, objective="energy")
    assert "clocks" not in " ".join(study_statements(energy))


def test_the_title_names_a_single_platform(tmp_path):
    study = ithaca.whatif("mm", **SMALL, vary={"platform": ["u250"]})
    assert study.title == "mm (i=4, j=4, k=4) fp32, u250, cycle model edition"
    study.save(tmp_path / "one.json")
    assert ithaca.load(tmp_path / "one.json").title == study.title
    two = ithaca.whatif("mm", **SMALL, vary={"platform": ["u250", "u55c"]})
    assert "several platforms" in two.title


def test_values_under_several_objectives_have_a_heading_of_their_own():
    study = ithaca.whatif("mm", **SMALL, vary={"objective": ["latency", "dsp"]})
    headings = [[name for name, _ in row] for row in study_rows(study)]
    assert headings[0][:2] == ["objective", "value"]
    assert all(len({*row}) == len(row) for row in headings)


@pytest.mark.parametrize(
    ("cycles", "takes", "next_cycles", "words"),
    [
        (90, 110, 100, "the PEs work 90 of the 120 cycles of the run (110 with buffers that swap)"),
        (90, 110, 80, "the PEs work 90 of the 120 cycles of the run; next: A_in with 80"),
    ],
)
def test_what_limits_is_said_with_what_it_is_ranked_by(
    cycles, takes, next_cycles, words, monkeypatch
):
    first = Contender(PES, Fraction(cycles), Fraction(takes))
    second = Contender("A_in", Fraction(next_cycles), Fraction(next_cycles))
    whole = ArrayBottleneck(first, second, "run", Fraction(120), Fraction(120))
    monkeypatch.setattr(systolic_view, "binding", lambda costs: whole)
    result = ithaca.solve("mm", **SMALL)

    text = systolic_view._bottleneck(result.best)
    assert words in text


def test_explanations_say_the_same():
    first, second = (Contender(name, Fraction(n), Fraction(t)) for name, n, t in ((PES, 90, 110), ("A_in", 100, 100)))  # fmt: skip
    whole = ArrayBottleneck(first, second, "main phase", Fraction(110), Fraction(120))
    lines = [*facts._binding(whole)]
    assert "Binding: with the cycles in which buffers swap, 110 in all." in lines
    assert lines[-1].startswith("Next: A_in with 100 cycles; the work of the PEs takes 1.1 times")
