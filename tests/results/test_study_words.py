"""Titles and headings of studies, and their best points."""

import pytest

import ithaca
from ithaca.results.study_explanation import study_statements

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
