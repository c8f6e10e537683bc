"""Costs that the default edition counts as built: widths of sums, whole DSP blocks, deep block
RAMs, logic; and those that it does not change."""

from dataclasses import replace
from fractions import Fraction
from math import ceil

import pytest

import ithaca
from benchmarks.resources import COUNTED, costs_of, figures, read, shared_accumulators
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DATA_TYPES, data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.logic import COEFFICIENTS
from ithaca.formulations.systolic.metrics import METRICS, metric_values, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition, GroupRole
from ithaca.plugins.calibration.formulations.fitting import errors, fitted
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.workloads.library import workload
from tests.problems import mm_tiling
from tests.solver.enumeration import enumerated_optimum
from tests.whole_spaces import small_arrays

OPEN = load_platform("rtl-open").technology


def design(dtype, edition=Edition.CYCLE, size=64):
    """A matrix multiplication on the machine of the generated hardware."""
    nest = workload("mm", dict.fromkeys("ijk", size))
    array = derive(nest, ("i", "j"), "C", edition)
    return SystolicDesign(nest, array, data_type(dtype), technology=OPEN)


def costs(dtype, edition=Edition.CYCLE):
    """Metrics of an array of 2 × 4 PEs of SIMD 4, whose PEs have 64 sums each."""
    own = design(dtype, edition)
    tiling = mm_tiling(own.array, (16, 32, 32), (8, 8), 4, A=8, B=8, C_drain=4)
    found = own.costs(own.configuration(tiling))
    return metric_values(found) | {"bytes": found.off_chip_bytes}


def blocks(words, pack, bits):
    """Block RAMs of a buffer."""
    pack = max(pack, 36 // bits)
    return ceil(bits * pack / 36) * ceil(words / (512 * pack))


@pytest.mark.parametrize(("dtype", "word", "sums"), [("int8", 8, 32), ("int16/16", 16, 16)])
def test_the_output_has_the_width_of_sums(dtype, word, sums):
    feeders = 2 * 2 * blocks(8 * 32, 8, word) + 4 * 2 * blocks(8 * 32, 8, word)
    assert costs(dtype)["bram18k"] == feeders + 8 * (blocks(64, 4, sums) + blocks(64, 1, sums))
    read = 64 * 64 * (2 + 4)  # A for each tile of j, B for each of i
    assert costs(dtype)["bytes"] == (read * word + 64 * 64 * sums) / 8


def test_published_editions_count_one_width_and_half_a_block():
    published = costs("int8", Edition.EXACT)
    assert published["bytes"] == published["off_chip_words"]
    assert (published["dsp"], costs("int8")["dsp"]) == (16, 32)
    assert published == costs("int8/16", Edition.EXACT)
    assert "lut" not in published


@pytest.mark.parametrize("dataflow", [("i", "j"), ("i", "k"), ("k",)])
def test_nothing_of_fp32_changes(dataflow):
    nest = workload("mm", dict.fromkeys("ijk", 96))
    array = derive(nest, dataflow, "C", Edition.CYCLE)
    built = SystolicDesign(nest, array, DATA_TYPES["fp32"])
    exact = replace(
        built, array=derive(nest, dataflow, "C", Edition.EXACT), data=DATA_TYPES["fp32"]
    )
    for found in small_arrays(built, 20, 1):
        ours, theirs = built.costs(found), exact.costs(found)
        assert (ours.dsp, ours.bram18k, ours.off_chip_bytes) == (
            theirs.dsp, theirs.bram18k, 4 * theirs.off_chip_words,
        )  # fmt: skip
    assert built.space.axes == exact.space.axes
    assert built.space.links == exact.space.links


def test_packs_of_sums_span_as_many_bytes():
    for dtype, most in (("int8", 4), ("int8/16", 8), ("int16", 4), ("fp32", 4)):
        own = design(dtype)
        (drain,) = (g for g in own.array.packed_groups if g.role is not GroupRole.READ)
        assert drain.package(own.data).word_bytes * most == 16
        tiling = mm_tiling(own.array, (16, 64, 8), (8, 16), 4, A=4, B=4, C_drain=most)
        assert own.space.contains(own.configuration(tiling))
        wider = replace(tiling, pack={**tiling.pack, "C_drain": 2 * most})
        assert not own.space.contains(own.configuration(wider))


def test_accumulators_are_asked_for_by_an_option_or_the_type():
    sizes = {"i": 8, "j": 8, "k": 8}
    found = ithaca.solve(
        "mm", sizes=sizes, dtype="int8", accumulator=16, limit="dsp=8", dataflow="i"
    )
    same = ithaca.solve("mm", sizes=sizes, dtype="int8/16", limit="dsp=8", dataflow="i")
    assert found.best.metrics == same.best.metrics
    assert found.document["workload"]["dtype"] == "int8/16"
    with pytest.raises(InputError, match="accumulator of fp32 is '16'; allowed: 32"):
        ithaca.solve("mm", sizes=sizes, dtype="fp32", accumulator=16)


@pytest.mark.parametrize("limit", ["lut", "ff", "lutram"])
def test_logic_is_a_limit_with_a_proof(limit):
    nest = workload("mm", dict.fromkeys("ijk", 3))
    array = derive(nest, ("i", "j"), "C", Edition.CYCLE)

    def problem(bound):
        limits = (Limit("dsp", Fraction(16)), Limit(limit, bound))
        return Problem(
            SystolicDesign(nest, array, data_type("int8"), technology=OPEN),
            limits,
            parse_objective("latency"),
        )

    free = solve_exact(problem(Fraction(10**6)))
    bound = free.metrics[limit] * 2 / 3
    found = solve_exact(problem(bound))
    assert found.certificate.status is Status.OPTIMAL
    assert found.metrics[limit] <= bound
    assert found.value == found.certificate.lower_bound == enumerated_optimum(problem(bound))
    assert found.value > free.value


def test_logic_is_refused_where_nothing_was_synthesized():
    sizes = {"i": 4, "j": 4, "k": 4}
    for words in ({}, {"dtype": "int8"}, {"platform": "rtl-open"}):
        with pytest.raises(InputError, match="metric 'lut' is not known here; allowed: integers"):
            ithaca.solve("mm", sizes=sizes, limit="lut=1000", **words)
    assert {"lut", "lutram", "ff"} <= set(METRICS)


def test_blocks_are_those_that_synthesis_makes():
    rows = read()
    for row in rows:
        found = costs_of(row)
        assert found.dsp == int(row["dsp"]), row
        if shared_accumulators(row):  # hardware has fewer than a sum each
            assert found.bram18k >= int(row["bram18k"]), row
        else:
            assert found.bram18k == int(row["bram18k"]), row
    assert len(rows) >= 50
    assert sum(map(shared_accumulators, rows)) < len(rows) / 2


@pytest.mark.parametrize("resource", COEFFICIENTS)
def test_logic_is_as_fitted(resource):
    rows = read()
    known, counts = figures(rows, resource)
    fresh = fitted(known, counts)
    assert COEFFICIENTS[resource] == tuple(round(100 * c) for c in fresh)
    ours = metric_values(costs_of(rows[0]), [resource])[resource]
    assert ours == pytest.approx(known[0] @ fresh, rel=0.01)
    wrong = abs(errors(known, counts))
    assert wrong.mean() < 0.1
    assert wrong.max() < 1 / 3
    assert counts.min() > 0
    assert resource in COUNTED
