"""Tensors of several formats: optima against enumeration, and figures by hand."""

import random
from fractions import Fraction
from math import ceil

import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import energies, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.solver.certificate import Status
from ithaca.solver.engines import engine
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.workloads.formats import with_formats
from ithaca.workloads.library import workload
from tests.solver.enumeration import enumerated_optimum
from tests.whole_spaces import lengths, small_arrays, tables_of

#: Bits of a value in memory, with its share of a scale.
BITS = {
    "int2": 2,
    "int3": 3,
    "int4": 4,
    "int5": 5,
    "int8": 8,
    "int12": 12,
    "int16": 16,
    "bf16": 16,
    "fp16": 16,
    "fp32": 32,
    "fp8e4m3": 8,
    "fp8e5m2": 8,
    "mxfp4": Fraction(32 * 4 + 8, 32),
    "mxfp6": Fraction(32 * 6 + 8, 32),
    "mxfp8": Fraction(32 * 8 + 8, 32),
    "int4b8s8": Fraction(8 * 4 + 8, 8),
    "int3b4s4": Fraction(4 * 3 + 4, 4),
}

INTEGERS = ("int2", "int3", "int4", "int5", "int8", "int12", "int16")
BLOCKS = ("int4b8s8", "int3b4s4", "int4", "int8")
FLOATS = ("bf16", "fp16", "fp32", "fp8e4m3", "fp8e5m2", "int4", "mxfp4", "mxfp6", "mxfp8")


def seeds(count):
    """Seeds of drawn problems, of which the first three are fast tests; those of blocks of integers
    begin at 100."""
    drawn = (*range(count), *range(100, 100 + count // 3))
    return [pytest.param(seed, marks=() if seed < 3 else pytest.mark.ci) for seed in drawn]


def drawn(seed):
    """A small problem with a format of each tensor."""
    draw = random.Random(seed)
    kinds = draw.choice((INTEGERS, INTEGERS, FLOATS)) if seed < 100 else BLOCKS
    name = draw.choice(("mv", "mv", "mm"))
    sizes = {"i": draw.choice((3, 8, 12)), "j": draw.choice((8, 24, 40))}
    if name == "mm":
        sizes = {"i": draw.choice((2, 3)), "j": draw.choice((4, 6)), "k": draw.choice((8, 12))}
    nest = workload(name, sizes)
    formats = {access.tensor: draw.choice(kinds) for access in nest.inputs}
    if all(form.startswith("int") for form in formats.values()) and draw.random() < 0.5:
        formats[nest.output.tensor] = draw.choice(("int16", "int32"))
    nest = with_formats(nest, formats, "format")
    edition = draw.choice((Edition.CYCLE, Edition.EXACT))
    dataflow = draw.choice((("i",), ("i", "j")))
    array = derive(nest, dataflow, nest.output.tensor, edition)
    technology = data_type("int8").of(nest).energies(Technology())
    design = SystolicDesign(nest, array, data_type("int8"), technology=technology)
    limits = (Limit("dsp", Fraction(draw.choice((8, 20)))), Limit("bram18k", Fraction(40)))
    objective = draw.choice(("latency", "latency", "energy", "bram18k*latency", "bandwidth"))
    return Problem(design, limits, parse_objective(objective)), formats


@pytest.mark.parametrize("seed", seeds(30))
def test_engines_find_the_optimum(seed):
    problem, formats = drawn(seed)
    optimum = enumerated_optimum(problem)
    solution = solve_exact(problem, SolveOptions(time_limit=60))
    if optimum is None:
        assert solution.certificate.status is Status.INFEASIBLE, formats
        return
    assert solution.certificate.status is Status.OPTIMAL
    assert float(solution.value) == pytest.approx(float(optimum), rel=1e-12), formats


@pytest.mark.ci
@pytest.mark.parametrize("seed", [2, 5])
def test_other_engines_agree(seed):
    problem, _ = drawn(seed)
    problem = Problem(problem.design, problem.limits, parse_objective("latency"))
    best = solve_exact(problem, SolveOptions(time_limit=60))
    if best.value is None:
        return
    assert engine("cpsat")(problem, SolveOptions(time_limit=60)).value == best.value
    if systolic(problem).array.edition is Edition.EXACT:
        bound = engine("gp")(problem, SolveOptions(time_limit=60)).certificate.lower_bound
        assert bound is not None
        assert bound <= best.value


def blocks_of(words, bits, pack):
    """Blocks of RAM of a buffer, as their widths and depths are."""
    depths = {1: 16_384, 2: 8_192, 4: 4_096, 9: 2_048, 18: 1_024, 36: 512}
    width = ceil(bits * pack)
    if width > 36:
        return ceil(Fraction(width, 36)) * ceil(words / (512 * pack))
    return ceil(words / pack / next(depth for most, depth in depths.items() if width <= most))


@pytest.mark.parametrize("seed", seeds(40))
def test_figures_by_hand(seed):
    """Bytes, energy of moving them and block RAM of any point, by the bits of each tensor."""
    problem, formats = drawn(seed)
    design = systolic(problem)
    sums = int(formats.pop(design.nest.output.tensor, "int32").removeprefix("int"))
    if not design.data.as_built:  # one published type of all, with sums as wide as words
        sums = design.data.bits
    if 0 in lengths(tables_of(design.space)):  # rows shorter than a block of mxfp
        return
    for point in small_arrays(design, 3, seed):
        costs = design.costs(point)
        bits = {tensor: BITS[form] for tensor, form in formats.items()}
        bits |= {design.nest.output.tensor: sums}
        moved = sum(words * bits[tensor] for tensor, words in costs.words.items())
        assert costs.off_chip_bytes == Fraction(moved) / 8
        for group in design.array.packed_groups:
            values = {**design.extents, **point}
            words, count, pack = (
                e.evaluate({n: Fraction(v) for n, v in values.items()}, FRACTION)
                for e in (group.size, group.count, group.pack)
            )
            assert pack * bits[group.tensor] % 8 == 0
            copies = len(group.buffers) * (2 if group.double_buffered else 1)
            each = blocks_of(words, bits[group.tensor], pack)
            assert costs.blocks[group.name] == copies * count * each
        read = {**bits, design.nest.output.tensor: design.data.format.word_bits}
        weighed = sum(words * Fraction(read[tensor]) for tensor, words in costs.words.items())
        assert (
            energies(costs)["dram"]
            == weighed * design.technology.dram / design.data.format.word_bits
        )


@pytest.mark.parametrize("dtype", ["int8", "int16", "fp32", "bf16"])
def test_one_format_of_all_is_the_data_type(dtype):
    nest = workload("mm", {"i": 6, "j": 4, "k": 16})
    named = with_formats(nest, {"W": dtype, "A": dtype}, "format")
    own, other = (
        SystolicDesign(each, derive(each, ("i", "j"), "C", Edition.CYCLE), data)
        for each, data in ((nest, data_type(dtype)), (named, data_type("fp32")))
    )
    assert own.data == other.data
    for point in small_arrays(own, 5, 1):
        assert own.metrics(point, FRACTION) == other.metrics(point, FRACTION)
