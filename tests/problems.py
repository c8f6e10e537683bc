"""Problems the tests share, and strategies that draw random ones."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload
from tests.whole_spaces import some_row, tables_of

MM_DATAFLOWS = (("i",), ("j",), ("k",), ("i", "j"), ("i", "k"), ("j", "k"))


def mm_problem(
    sizes,
    dataflow=("i", "j"),
    permutation="C",
    edition="exact",
    *,
    dsp="8601.6",
    bram18k="3763.2",
    objective="latency",
    dtype="fp32",
    space=None,
    more_limits=(),
):
    """A matrix multiplication; the default limits are the U250's at 70 %."""
    nest = workload("mm", dict(zip("ijk", sizes, strict=True)))
    array = derive(nest, dataflow, permutation, Edition(edition))
    limits = (Limit("dsp", Fraction(dsp)), Limit("bram18k", Fraction(bram18k)), *more_limits)
    return Problem(
        SystolicDesign(nest, array, DATA_TYPES[dtype], space or SpaceOptions()),
        limits,
        parse_objective(objective),
    )


def mm_tiling(array, t1, t2, simd, **packs):
    """A tiling of matrix multiplication, with packs by group name."""
    return Tiling(
        dict(zip("ijk", t1, strict=True)),
        dict(zip("ij", t2, strict=True)),
        simd,
        {g.name: packs[g.name] for g in array.packed_groups},
    )


def configuration_of(problem, tiling):
    """The configuration that a tiling states."""
    return systolic(problem).configuration(tiling)


def costs_at(problem, tiling):
    """Everything the cost model says of a tiling, by the exact reference."""
    return systolic(problem).costs(configuration_of(problem, tiling))


mm_sizes = st.tuples(*[st.integers(1, 24)] * 3)


@st.composite
def mm_points(draw):
    """A random design of a random matrix multiplication with a random legal configuration."""
    problem = mm_problem(
        draw(mm_sizes),
        draw(st.sampled_from(MM_DATAFLOWS)),
        draw(st.sampled_from("ABC")),
        draw(st.sampled_from(["exact", "odyssey"])),
        dtype=draw(st.sampled_from(["fp32", "int16", "int8"])),
    )
    row = some_row(tables_of(problem.space), lambda count: draw(st.integers(0, count - 1)))
    return problem, Configuration(row)


def array_question(data, limits, objective="latency", **more):
    """A question about arrays on the U250, within these limits alone."""
    platform = replace(load_platform("u250"), resources={})
    bounds = {limit.metric: limit.bound for limit in limits}
    minimised = parse_objective(objective)
    return ArrayQuestion(data=data, platform=platform, bounds=bounds, objective=minimised, **more)
