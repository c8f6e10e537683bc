"""What-if studies and fronts of mappings onto memory hierarchies."""

from fractions import Fraction

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.variation import with_figure
from tests.whole_spaces import every_row

SIZES = {"i": 4, "j": 4, "k": 2}


def test_each_figure_is_varied_as_if_the_file_said_so():
    simple = find_architecture("simple")
    study = ithaca.whatif(
        "mm",
        sizes=SIZES,
        arch=simple,
        vary={"RF.words": [4, 8]},
        objective="energy",
        divisors_only=True,
    )
    for words, point in zip((4, 8), study.points.values(), strict=True):
        changed = with_figure(simple, "RF.words", Fraction(words))
        alone = ithaca.map("mm", sizes=SIZES, arch=changed, objective="energy", divisors_only=True)
        assert point.answer.value == alone.value
        assert point.answer.certificate.status.value == "optimal"


def test_figures_change_the_architecture_that_is_varied_too():
    vary = {"Buffer.read_bandwidth": ["1", "none"], "arch": ["simple", "tpu-like"]}
    with pytest.raises(
        InputError, match=r"tpu-like has no Buffer.read_bandwidth; its parts are DRAM, "
    ):
        ithaca.whatif("mm", sizes=SIZES, arch="simple", vary=vary)


def test_meshes_grow_with_what_is_inside():
    simple = find_architecture("simple")
    narrow = with_figure(simple, "RF.mesh_x", Fraction(4))
    assert (narrow.levels[-1].instances, narrow.compute.instances, narrow.compute.mesh_x) == (
        64,
        64,
        4,
    )
    assert with_figure(narrow, "RF.mesh_x", Fraction(16)) == simple


def test_words_of_half_the_width_are_twice_as_many():
    simple = find_architecture("simple")
    narrow = with_figure(simple, "word_bits", Fraction(8))
    for old, new in zip(simple.levels, narrow.levels, strict=True):
        assert new.words == (None if old.words is None else 2 * old.words)
        assert new.read_bandwidth == (
            None if old.read_bandwidth is None else 2 * old.read_bandwidth
        )
    assert with_figure(narrow, "word_bits", Fraction(16)) == simple


@pytest.mark.parametrize(
    ("vary", "complaint"),
    [
        ("Buffer.words=1.5", "'Buffer.words' is 1.5; allowed: a positive integer"),
        (
            "Buffer.wrds=1",
            "vary 'Buffer.wrds': Buffer has no such figure; allowed: words (capacity of an instance",
        ),
        ("RF.mesh_x=none", "'RF.mesh_x' is none; allowed: a number"),
        ("Buffer.read_bandwidth=0", "Buffer.read_bandwidth is 0; allowed: a positive number"),
        ("platform=u250", "vary 'platform' is unknown"),
    ],
)
def test_bad_figures_are_refused(vary, complaint):
    with pytest.raises(InputError) as refused:
        ithaca.whatif("mm", sizes=SIZES, arch="simple", vary=[vary])
    assert complaint in str(refused.value)


def test_a_front_is_that_of_all_mappings():
    front = ithaca.pareto(
        "mm",
        sizes={"i": 2, "j": 2, "k": 2},
        arch="simple",
        divisors_only=True,
        objectives="latency,energy",
    )
    design = front.problems[0].design
    found = set()
    for values in every_row(design.space):
        if design.space.contains(values):
            metrics = design.metrics(
                {n: Fraction(v) for n, v in values.items()}, FRACTION, ("latency", "energy")
            )
            found.add((metrics["latency"], metrics["energy"]))
    best = {z for z in found if not any(a <= z[0] and b <= z[1] and (a, b) != z for a, b in found)}
    assert front.complete
    assert {point.values for point in front.points} == best
    assert front.title == "mm (i=2, j=2, k=2), simple, timeloop model edition"


def test_studies_of_mappings_are_documents_and_tables():
    study = ithaca.whatif(
        "mm", sizes=SIZES, arch="simple", vary={"limit.pes": [0.5, 4]}, divisors_only=True
    )
    infeasible, best = study.document["points"]
    assert infeasible["best"] is None
    assert best["best"]["metrics"]["edp"] == best["objective"]["value"]
    assert {"mapping", "DRAM.energy"} <= set(study.to_dataframe().columns)
