"""Seeds: parameters and their repair, the score, the choice of configurations, and the file
formats."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.buffering import single_buffered
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.points import load_points, points_text
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.unreachable import exceeded
from ithaca.plugins.seeds.exports.for_odyssey import (
    odyssey_ancestor,
    odyssey_parameters,
    odyssey_text,
    pack_names,
)
from ithaca.plugins.seeds.exports.for_opentuner import opentuner_files, opentuner_seeds
from ithaca.plugins.seeds.exports.parameters import (
    INFEASIBLE,
    Seeds,
    parameter_space,
    penalised,
    score,
)
from ithaca.solver.exact.engine import solve_exact
from ithaca.workloads.library import workload
from tests.problems import MM_DATAFLOWS, mm_points, mm_problem, mm_sizes
from tests.reference import DESCRIPTORS

SMALL = (48, 40, 32)


def conv_problem(dataflow, permutation="cout"):
    """A small layer of a CNN."""
    nest = workload("conv2d", {"o": 8, "r": 6, "c": 6, "i": 8, "p": 3, "q": 3})
    limits = (Limit("dsp", Fraction(320)), Limit("bram18k", Fraction(200)))
    array = derive(nest, dataflow, permutation, Edition.EXACT)
    return Problem(
        SystolicDesign(nest, array, DATA_TYPES["fp32"]), limits, parse_objective("latency")
    )


# -- parameters ----------------------------------------------------------------------------


@given(mm_points())
def test_decode_undoes_encode(point):
    problem, found = point
    if not problem.space.contains(
        found
    ):  # packs that depend on several loops were drawn independently
        return
    space = parameter_space(problem)
    parameters = space.encode(found)
    assert tuple(parameters) == space.names
    for p in space.parameters:
        assert p.low <= parameters[p.name] <= p.high
    assert space.decode(parameters) == found
    assert space.named(space.vector(found)) == parameters
    assert space.problem.space.contains(found)


def legal(problem, configuration):
    """The rules of legal configurations, stated anew (exact model edition)."""
    design = systolic(problem)
    tiling, array, word = design.tiling(configuration), design.array, design.data.bytes
    if tiling.simd * word > 32 or tiling.simd.bit_count() != 1:
        return False
    for loop in array.band:
        outer, inner, extent = (
            tiling.array_part[loop],
            tiling.t2(array, loop),
            design.nest.sizes[loop],
        )
        if not 1 <= outer <= max(2 * extent, 16) or outer % inner:
            return False
        if loop in array.dataflow and outer // inner < design.options.min_lanes:
            return False
        if design.options.divisors_only and extent % outer:
            return False
    values = {**configuration, **design.extents}
    for group in array.packed_groups:
        pack, at_l1 = tiling.pack[group.name], group.buffers[0].level == 1
        last = group.packing.last.evaluate(values, FRACTION)
        accesses = {a.tensor: a for a in design.nest.accesses}
        floor = tiling.simd if accesses[group.tensor].indexed_by(array.simd_loop) else 1
        if pack.bit_count() != 1 or pack % floor or last % pack:
            return False
        if pack > max((16 if at_l1 else 64) // word, floor):
            return False
    return True


@given(
    sizes=mm_sizes,
    dataflow=st.sampled_from(MM_DATAFLOWS),
    permutation=st.sampled_from("ABC"),
    dtype=st.sampled_from(["fp32", "int8"]),
    space=st.builds(SpaceOptions, st.sampled_from([1, 2]), st.booleans()),
    data=st.data(),
)
def test_any_integers_decode_to_a_legal_tiling(
    sizes,
    dataflow,
    permutation,
    dtype,
    space,
    data,
):
    problem = mm_problem(sizes, dataflow, permutation, dtype=dtype, space=space)
    try:
        found = parameter_space(problem)
    except InputError:  # two lanes of a loop of one iteration, without padding
        return
    chosen = {
        p.name: data.draw(st.integers(p.low - 1, p.high + 1), p.name) for p in found.parameters
    }
    configuration = found.decode(chosen)
    assert legal(problem, configuration)
    assert found.decode(found.encode(configuration)) == configuration
    tiling = systolic(problem).tiling(configuration)
    if space == SpaceOptions():
        # t1 is taken as it is; t2 becomes the largest divisor of t1 not above it
        for loop in systolic(problem).array.band:
            p = next(p for p in found.parameters if p.name == f"t1_{loop}")
            t1 = min(max(chosen[p.name], 1), p.high)
            if loop != systolic(problem).array.simd_loop:
                wanted = max(chosen[f"t2_{loop}"], 1)
                assert tiling.array_part[loop] == t1
                assert tiling.latency_hiding[loop] == max(
                    d for d in range(1, t1 + 1) if t1 % d == 0 and d <= wanted
                )


def test_any_integers_decode_in_the_odyssey_edition_too():
    problem = mm_problem((12, 20, 24), edition="odyssey")
    space = parameter_space(problem)
    assert not [name for name in space.names if name.startswith("pack")]
    draw = np.random.default_rng(0)
    for _ in range(100):
        configuration = space.decode(
            {p.name: int(draw.integers(p.low, p.high + 1)) for p in space.parameters}
        )
        assert space.problem.space.contains(configuration)
        for pack in systolic(problem).tiling(configuration).pack.values():
            assert pack.bit_count() == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"t1_i": None}, "'t1_i' is missing"),
        ({"t1_q": 3}, "'t1_q' is unknown"),
        ({"t1_i": 2.5}, "'t1_i' is 2.5"),
        ({"t1_i": float("nan")}, "'t1_i' is nan"),
        ({"t1_i": float("inf")}, "'t1_i' is inf"),
    ],
)
def test_wrong_parameters_are_refused_by_name(seeds, change, told):
    given_ = {
        name: value
        for name, value in {**seeds.parameters[0], **change}.items()
        if value is not None
    }
    with pytest.raises(InputError, match=told):
        seeds.space.decode(given_)


def test_whole_numbers_of_any_type_are_taken(seeds):
    as_floats = {name: np.float64(value) for name, value in seeds.parameters[0].items()}
    assert seeds.space.decode(as_floats) == seeds.configurations[0]


def test_an_empty_design_space_is_refused():
    problem = mm_problem((1, 8, 8), space=SpaceOptions(min_lanes=2, divisors_only=True))
    with pytest.raises(InputError, match=r"empty at 'i'"):
        parameter_space(problem)


# -- score ---------------------------------------------------------------------------------


def test_score_is_the_reference_and_its_violation_says_feasible():
    problem = mm_problem(
        (12, 10, 16), dsp="60", bram18k="30", objective="2*latency - off_chip_words/3"
    )
    space = parameter_space(problem)
    draw = np.random.default_rng(1)
    feasible = 0
    for _ in range(300):
        chosen = {p.name: int(draw.integers(p.low, p.high + 1)) for p in space.parameters}
        value, violation = score(space, chosen)
        configuration = space.decode(chosen)
        assert value == problem.value(configuration)
        assert violation >= 0
        kept = not exceeded(problem.limits, problem.metrics(configuration)) and bool(
            systolic(problem).costs(configuration).meets_bounds
        )
        assert (violation == 0) == kept
        loss = penalised(space, chosen)
        assert loss == (
            float(value) if kept else pytest.approx(INFEASIBLE * (1 + float(violation)))
        )
        assert kept or loss >= INFEASIBLE
        feasible += kept
    assert 0 < feasible < 300


# -- formats -------------------------------------------------------------------------------


def test_csv_reads_back_as_points(seeds, tmp_path):
    problem = seeds.space.problem
    path = tmp_path / "seeds.csv"
    design = systolic(problem)
    path.write_text(
        points_text([(design, configuration) for configuration in seeds.configurations])
    )
    points = load_points(path, design.nest, design.data)
    assert points == tuple((design, c) for c in seeds.configurations)
    header = path.read_text().splitlines()[0].split(",")
    golden = "app,descriptor,dataflow,reuse,edition,sizes,array_part,latency_hiding,simd,pack,latency,prologue,main,epilogue"
    assert [name for name in header if name != "technology"][:14] == golden.split(",")
    assert {"dsp", "bram18k", "off_chip_words", "meets_bounds"} <= set(header)


def test_opentuner_folder_holds_one_configuration_per_file(seeds):
    files = opentuner_files(seeds)
    assert list(files) == sorted(files)
    assert [json.loads(text) for text in files.values()] == list(seeds.parameters)
    # its search driver pops configurations from the end of the list
    taken = opentuner_seeds(seeds.parameters)
    assert [taken.pop() for _ in seeds.configurations] == list(seeds.parameters)


def test_odyssey_names_extents_factors_and_packs(seeds):
    problem, configuration = seeds.space.problem, seeds.configurations[0]
    found = odyssey_parameters(problem, configuration)
    tiling = systolic(problem).tiling(configuration)
    assert list(found) == [
        "i",
        "j",
        "k",
        "i_t1",
        "j_t1",
        "k_t1",
        "i_t2",
        "j_t2",
        "k_t2",
        "p9",
        "p10",
        "p12",
    ]
    assert (found["i"], found["i_t1"], found["j_t2"], found["k_t2"]) == (
        48,
        tiling.array_part["i"],
        tiling.latency_hiding["j"],
        tiling.simd,
    )
    assert (found["p9"], found["p12"]) == (tiling.pack["A"], tiling.pack["C_drain"])
    assert odyssey_ancestor(problem, configuration) == [
        found[n] for n in ["i_t1", "j_t1", "k_t1", "i_t2", "j_t2", "k_t2"]
    ]
    read = json.loads(odyssey_text(seeds))
    assert read == [odyssey_parameters(problem, t) for t in seeds.configurations]


@pytest.mark.slow
def test_odyssey_names_are_those_of_the_published_descriptions():
    """Numbers of packs and order of the tunable parameters, of all 27 designs."""
    names = {"gemm": ("mm", "ABC"), "cnn": ("conv2d", ("cin", "w", "cout"))}
    spaces = {
        "gemm": ("i", "j", "k", "i,j", "i,k", "j,k"),
        "cnn": ("o", "r", "c", "i", "o,r", "o,c", "o,i", "r,c", "r,i", "c,i"),
    }
    seen = 0
    for name, text in DESCRIPTORS.items():
        described = json.loads(text)
        app, kernel, _ = name.replace("kernel", "").split("_")
        nest = workload(names[app][0])
        dataflow = find_dataflow(nest, tuple(spaces[app][int(kernel)].split(",")))
        # the order of permutations differs between the two: take the one whose modules agree
        modules = {m for m in described["memory"] if m != "PE"}
        for permutation in names[app][1]:
            array = derive(nest, dataflow, permutation, Edition.EXACT)
            if modules != {m.name for g in array.packed_groups for m in g.buffers}:
                continue
            problem = Problem(
                SystolicDesign(nest, array, DATA_TYPES["fp32"]), (), parse_objective("latency")
            )
            packs = pack_names(systolic(problem))
            expected = {
                m: v["data_pack_factor_inter"] for m, v in described["memory"].items() if m != "PE"
            }
            assert {
                m.name: packs[g.name] for g in array.packed_groups for m in g.buffers
            } == expected, name
            tunable = [p["name"] for p in described["params"] if p["tunable"]]
            small = problem.with_design(nest=nest.with_sizes(dict.fromkeys(nest.loops, 2)))
            configuration = solve_exact(small).configuration
            assert configuration is not None
            assert [
                n for n in odyssey_parameters(small, configuration) if n in tunable
            ] == tunable, name
            seen += 1
            break
        else:
            pytest.fail(f"no design has the modules of {name}")
    assert seen == 27


def test_odyssey_has_no_parameter_for_single_buffers():
    nest = workload("mm", {"i": 16, "j": 16, "k": 16})
    array = single_buffered(derive(nest, ("i", "j"), "C"), ("A",))
    design = SystolicDesign(nest, array, DATA_TYPES["fp32"])
    case = Problem(design, (), parse_objective("latency"))
    with pytest.raises(InputError, match="Odyssey's buffers are doubled but for drains"):
        odyssey_text(Seeds(parameter_space(case), ()))
