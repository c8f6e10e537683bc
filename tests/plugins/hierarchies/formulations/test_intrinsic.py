"""Edition `intrinsic`: its model against calls played one by one, its proofs against enumeration,
trends, documents."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, NUMPY
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.formulations.hardware.accelerator import Work as Run
from ithaca.formulations.problem import Limit
from ithaca.plugins.hierarchies.formulations.accelerator import HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.architecture import Tensorized
from ithaca.plugins.hierarchies.formulations.editions import EDITIONS, Setting
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.published.intrinsic.array import IntrinsicArray
from ithaca.plugins.hierarchies.formulations.published.intrinsic.design import VOCABULARY
from ithaca.plugins.hierarchies.formulations.variation import with_figures
from ithaca.solver.certificate import Status
from ithaca.solver.portfolio import solve_designs
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.formulations.calls import (
    ENERGIES,
    FLOWS,
    NESTS,
    PRICES,
    SMALL,
    carried,
    cases,
    designs,
    every_tile,
    held_words,
    machine,
    played,
    problem,
)

# -- the model, written once more: calls are played one by one -----------------------------------


@pytest.mark.parametrize(("nest", "name", "flow"), list(cases()))
def test_metrics_are_those_of_calls_played_one_by_one(nest, name, flow):
    architecture = machine(name, **SMALL | PRICES | {"tensorized.dataflow": flow})
    for design in designs(architecture, nest):
        binding = dict(design.binding)
        every = list(every_tile(design))
        for tiles in every[:: max(len(every) // 5, 1)]:
            values = {design.quantity(p): Fraction(n) for p, n in tiles.items()}
            found, expected = (
                design.metrics(values, FRACTION),
                played(nest, architecture, binding, tiles),
            )
            off_chip = found["dram_words"] * architecture.levels[1].read_energy
            expected["energy"] += (
                off_chip + found["dram_words"] * architecture.levels[0].read_energy
            )
            assert {metric: found[metric] for metric in expected} == expected
            assert found["edp"] == found["energy"] * found["latency"]
            if all(nest.sizes[loop] > 1 for loop in binding.values()) and len(binding) == len(
                IntrinsicArray(architecture).computes.loops
            ):
                assert design.work.held_words(tiles, FRACTION) == held_words(nest, binding, tiles)


@pytest.mark.parametrize(("nest", "name", "flow"), list(cases()))
@pytest.mark.parametrize(("words", "objective"), [(40, "latency"), (200, "latency"), *ENERGIES])
def test_optima_are_those_of_enumeration(nest, name, flow, words, objective):
    figures = {"tensorized.dataflow": flow, "Scratchpad.words": words}
    for design in designs(machine(name, **SMALL | PRICES | figures), nest):
        posed = problem(design, objective)
        fitting = [
            tiles
            for tiles in every_tile(design)
            if design.work.held_words(tiles, FRACTION) <= words
        ]
        known = (
            design.metrics({design.quantity(p): Fraction(n) for p, n in tiles.items()}, FRACTION)
            for tiles in fitting
        )
        least = min((found[objective] for found in known), default=None)
        (solution,) = solve_designs([posed])
        assert solution.value == least
        assert solution.certificate.status is (
            Status.INFEASIBLE if least is None else Status.OPTIMAL
        )


@pytest.mark.parametrize(("nest", "name", "flow"), list(cases()))
def test_words_off_chip_are_counted_one_by_one(nest, name, flow):
    """A bus of 16 bits: bursts of 64 bytes take 33 cycles; all else is as without. Optima are those
    of enumeration."""
    architecture = machine(name, **SMALL | {"tensorized.dataflow": flow, "tensorized.bus_bits": 16})
    burst = Fraction(
        architecture.tensorized.burst_bytes, architecture.tensorized.burst_bytes // 2 + 1
    )
    pairs = zip(
        designs(architecture, nest, off_chip=True), designs(architecture, nest), strict=True
    )
    for design, free in pairs:
        every = list(every_tile(design))
        for place, tiles in enumerate(every):
            values = {design.quantity(p): Fraction(n) for p, n in tiles.items()}
            found, without = design.metrics(values, FRACTION), free.metrics(values, FRACTION)
            if place % max(len(every) // 5, 1) == 0:
                assert found["bus"] == carried(design, tiles) / burst
                assert found["dram_words"] == carried(design, tiles)
            latency = without["latency"] + found["bus"]
            assert found == without | {
                "bus": found["bus"],
                "latency": latency,
                "edp": latency * found["energy"],
            }
        fitting = [t for t in every if design.work.held_words(t, FRACTION) <= 200]
        least = min(
            design.metrics({design.quantity(p): Fraction(n) for p, n in t.items()}, FRACTION)[
                "latency"
            ]
            for t in fitting
        )
        (solution,) = solve_designs([problem(design)])
        assert solution.value == least
        assert solution.certificate.status is Status.OPTIMAL


def test_wider_buses_and_longer_bursts_help_where_words_take_them():
    free, bus = (
        HierarchyAccelerator(
            find_architecture("hasco-gemm"), "intrinsic", MappingOptions(off_chip=o)
        )
        for o in (False, True)
    )
    for figure, values in (("bus_bits", (16, 64, 256)), ("burst_bytes", (16, 64, 256))):
        name = f"tensorized.{figure}"
        assert (free.trends[name], bus.trends[name]) == (Trend.IDLE, Trend.HELPS)
        found = []
        for value in values:
            arguments = (Run("mm", NESTS[0]), {name: Fraction(value)})
            objective = problem(designs(machine("hasco-gemm"), NESTS[0])[0]).objective
            solutions = solve_designs(bus.problems(*arguments, objective))
            found.append(min(s.value for s in solutions if s.value is not None))
        assert found[0] > found[1] > found[2]
    with pytest.raises(InputError, match="off chip bus does not go with edition timeloop"):
        _ = Setting(
            find_architecture("simple"), NESTS[0], "timeloop", MappingOptions(off_chip=True)
        ).design


def test_limits_and_objectives_that_fall_are_proven_too():
    design = designs(machine("hasco-gemm", **SMALL), NESTS[0])[0]
    values = [
        {design.quantity(p): Fraction(n) for p, n in tiles.items()} for tiles in every_tile(design)
    ]
    found = [
        design.metrics(v, FRACTION)
        for v in values
        if design.space.contains({k: int(n) for k, n in v.items()})
    ]
    few = min(each["subproblems"] for each in found)
    for text, limit in (
        ("words", Limit("subproblems", few)),
        ("calls*latency", Limit("words", Fraction(10**6))),
        ("-calls", None),
    ):
        (solution,) = solve_designs([problem(design, text, (limit,) if limit else ())])
        objective = parse_expression(text, where="objective", allowed=VOCABULARY)
        met = [each for each in found if limit is None or each[limit.metric] <= limit.bound]
        assert solution.value == min(objective.evaluate(each, FRACTION) for each in met)
        assert solution.certificate.status is Status.OPTIMAL


@given(data=st.data())
@settings(max_examples=15)
def test_number_systems_agree(data):
    nest, (name, flow) = data.draw(st.sampled_from(NESTS)), data.draw(st.sampled_from(FLOWS))
    design = data.draw(
        st.sampled_from(designs(machine(name, **SMALL | {"tensorized.dataflow": flow}), nest))
    )
    values = {
        design.quantity(p): data.draw(st.integers(1, nest.sizes[q])) for p, q in design.binding
    }
    exact = design.metrics({k: Fraction(n) for k, n in values.items()}, FRACTION)
    for numbers in (NUMPY, INTERVAL):
        found = design.metrics({k: numbers.number(Fraction(n)) for k, n in values.items()}, numbers)
        for metric, value in exact.items():
            number = found[metric]
            low, high = (number.low, number.high) if numbers is INTERVAL else (number, number)
            assert float(low) == pytest.approx(float(value)) == float(high)


# -- trends ------------------------------------------------------------------------------------


def best(architecture, nest, text="latency"):
    found = solve_designs([problem(design, text) for design in designs(architecture, nest)])
    return min((solution.value for solution in found if solution.value is not None), default=None)


VALUES = {
    "Scratchpad.words": (30, 60, 150, 400),
    "Local.words": (40, 60, 3000, 131072),
    "tensorized.banks": (1, 2, 3, 8),
    "tensorized.bus_bits": (64, 128),
    "tensorized.burst_bytes": (64, 128),
}


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_more_never_hurts_where_that_is_declared(data):
    """All figures that are not MIXED: one is raised, whatever the others are."""
    nest, (name, flow) = data.draw(st.sampled_from(NESTS)), data.draw(st.sampled_from(FLOWS))
    sides = {f"mac.mesh_{d}": data.draw(st.integers(1, 5)) for d in "xy"}
    drawn = {figure: data.draw(st.sampled_from(values)) for figure, values in VALUES.items()}
    base = machine(name, **drawn | sides | {"tensorized.dataflow": flow})
    trends = EDITIONS["intrinsic"].trends(base)
    base = with_figures(base, PRICES)
    text = data.draw(st.sampled_from(["latency", "words", "latency*words", "energy", "edp"]))
    before = best(base, nest, text)
    for figure in VALUES:
        after = best(with_figures(base, {figure: Fraction(2 * drawn[figure])}), nest, text)
        if trends[figure] is Trend.IDLE:
            assert after == before
        else:
            assert trends[figure] is Trend.HELPS
            assert before is None or (after is not None and after <= before)
    for figure, value in PRICES.items():
        after = best(with_figures(base, {figure: 2 * value}), nest, text)
        assert trends[figure] is Trend.HURTS
        assert before is None or (after is not None and after >= before)


def test_stages_of_a_product_of_three():
    """MTTKRP is a TTM and a batch of matrix-vector products, and its stages compute what it
    does."""
    accelerator = HierarchyAccelerator(find_architecture("hasco-units"), "intrinsic")
    nest = workload("mttkrp").with_sizes({"i": 2, "j": 3, "k": 4, "l": 5})
    first, second = accelerator.stages(Run("m", nest, 3, workload="w"))
    assert (first.name, second.name, first.count, second.workload) == ("m.1", "m.2", 3, "w")
    assert str(first.nest) == "T1[i][j][l] += A[i][k][l] * B[k][j]"
    assert str(second.nest) == "D[i][j] += T1[i][j][l] * C[j][l]"
    assert (first.nest.operations, second.nest.operations) == (2 * 3 * 4 * 5, 2 * 3 * 5)
    a, b, c = (np.arange(1, n * m + 1).reshape(n, m) % 7 for n, m in ((2, 20), (4, 3), (3, 5)))
    a = a.reshape(2, 4, 5)
    t = np.einsum("ikl,kj->ijl", a, b)
    assert (np.einsum("ijl,jl->ij", t, c) == np.einsum("ikl,kj,jl->ij", a, b, c)).all()
    work = Run("mm", NESTS[0])
    assert accelerator.stages(work) == (work,)
    three = replace(
        find_architecture("hasco-units"),
        tensorized=Tensorized(
            "d[i,j] += a[i,k] * b[k,j] * c[j]", (("own", ("i", "j")),), (("k", 1),)
        ),
    )
    whole = Run("mttkrp", nest)
    assert HierarchyAccelerator(three, "intrinsic").stages(whole) == (whole,)
    assert HierarchyAccelerator(find_architecture("eyeriss")).stages(whole) == (whole,)


def test_a_larger_mesh_may_hurt_and_neither_dataflow_is_best():
    """Reasons why these are MIXED: five channels on a mesh of 5 × 5 or 6 × 6; short and long
    reductions."""
    trends = EDITIONS["intrinsic"].trends(find_architecture("hasco-gemm"))
    assert {trends[name] for name in ("mac.mesh_x", "mac.mesh_y", "tensorized.dataflow")} == {
        Trend.MIXED
    }
    nest = workload("mm").with_sizes({"i": 5, "j": 5, "k": 8})
    five, six = (
        best(machine("hasco-gemm", **{"mac.mesh_x": n, "mac.mesh_y": n}), nest) for n in (5, 6)
    )
    assert five < six
    least = {}
    for k in (2, 64):
        nest = workload("mm").with_sizes({"i": 64, "j": 64, "k": k})
        least[k] = [
            best(
                machine(
                    "hasco-gemm", **{"tensorized.dataflow": flow, "mac.mesh_x": 16, "mac.mesh_y": 2}
                ),
                nest,
            )
            for flow in (1, 2)
        ]
    assert least[2][0] < least[2][1]
    assert least[64][0] > least[64][1]


# -- what a layer may run as ---------------------------------------------------------------------
