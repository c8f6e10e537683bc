"""Edition `intrinsic`: its model against calls played one by one, its proofs against enumeration,
trends, documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.exports.timeloop.hierarchy import architecture_text
from ithaca.files.errors import InputError
from ithaca.files.reading import packaged_text
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, NUMPY
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.formulations.hardware.accelerator import Work as Run
from ithaca.formulations.intrinsics import find_intrinsic
from ithaca.formulations.matching import computation
from ithaca.formulations.matching_model import matches
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.spatial.accelerator import HierarchyAccelerator
from ithaca.formulations.spatial.architecture import Architecture, Tensorized, Unit
from ithaca.formulations.spatial.editions import EDITIONS, Setting
from ithaca.formulations.spatial.intrinsic.array import IntrinsicArray
from ithaca.formulations.spatial.intrinsic.design import VOCABULARY, IntrinsicDesign
from ithaca.formulations.spatial.library import find_architecture
from ithaca.formulations.spatial.mapping_space import MappingOptions
from ithaca.formulations.spatial.variation import with_figures
from ithaca.results.files import load_result, result_document
from ithaca.solver.certificate import Status
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.result import Result
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from tests.command_line import ithaca

#: Figures by which energies are told apart (pJ).
PRICES = {
    "mac.energy": Fraction(1, 3),
    "Local.read_energy": Fraction(2, 7),
    "Scratchpad.read_energy": Fraction(5),
    "DRAM.read_energy": Fraction(110),
}
SMALL = {"Scratchpad.words": 200, "mac.mesh_x": 4, "mac.mesh_y": 4, "tensorized.banks": 2}


#: Two more intrinsics, one whose array might hold the matrix if that did not change with every
#: call, one of which all multipliers are a row and hold nothing.
OTHERS = {
    "gemv": Tensorized("gemv", (("matrix", ("i", "j")),)),
    "dot": Tensorized("dot", (("row", ("i",)),)),
}


def machine(name: str, **figures: int | Fraction) -> Architecture:
    if name in OTHERS:
        found = replace(find_architecture("hasco-gemm"), tensorized=OTHERS[name])
    else:
        found = find_architecture(name)
    return with_figures(found, {figure: Fraction(n) for figure, n in figures.items()})


def designs(
    architecture: Architecture, nest: LoopNest, *, off_chip: bool = False
) -> tuple[IntrinsicDesign, ...]:
    options = MappingOptions(off_chip=off_chip)
    found = Setting(architecture, nest, "intrinsic", options).designs
    assert all(isinstance(design, IntrinsicDesign) for design in found)
    return found  # type: ignore[return-value]


def problem(design: Any, text: str = "latency", limits: tuple[Limit, ...] = ()) -> Problem:
    return Problem(
        design,
        limits,
        Objective(text, parse_expression(text, where="objective", allowed=VOCABULARY)),
    )


# -- the model, written once more: calls are played one by one -----------------------------------


def played(
    nest: LoopNest, architecture: Architecture, binding: Mapping[str, str], tiles: Mapping[str, int]
) -> dict[str, Any]:
    """Sub-problems and calls in their order, with what the array holds; words of GEMM's and
    CONV2D's tensors by hand."""
    known = architecture.tensorized
    assert known is not None
    x, y = architecture.compute.mesh_x, architecture.compute.mesh_y
    flow, sides = known.dataflows[known.dataflow - 1]
    intrinsic = dict(known.units)[flow].intrinsic if flow in dict(known.units) else known.intrinsic
    if intrinsic == "gemm":
        still = flow != "weight-stationary"
        size = {"i": x, "j": y, "k": 1} if still else {"i": x, "j": 1, "k": y}
        words = {"m": size["i"] * size["k"], "n": size["k"] * size["j"], "l": size["i"] * size["j"]}
        index, held, call = (
            {"m": "ik", "n": "kj", "l": "ij"},
            "l" if still else "m",
            1,
        )
    elif intrinsic == "gemv" and len(sides) == 1:  # a column of rows, whose sums stay
        size, words = {"i": x * y, "j": 1}, {"a": x * y, "b": 1, "l": x * y}
        index, held, call = {"a": "ij", "b": "j", "l": "i"}, "l", 1
    elif intrinsic == "gemv":
        size, words = {"i": x, "j": y}, {"a": x * y, "b": y, "l": x}
        index, held, call = {"a": "ij", "b": "j", "l": "i"}, "a", 1
    elif intrinsic == "dot":
        size, words = {"i": x * y}, {"a": x * y, "b": x * y, "l": 1}
        index, held, call = {"a": "i", "b": "i", "l": ""}, "", 1
    else:
        size = {"k": x, "x": 16, "y": 16, "c": y, "r": 3, "s": 3}
        words = {"a": y * 18 * 18, "b": x * y * 9, "l": x * 256}
        index, held, call = {"a": "cxyrs", "b": "kcrs", "l": "kxy"}, "b", 16 * 16 * 9
    loops = list(binding)
    outer = prod(n for loop, n in nest.extents if loop not in binding.values())
    moved, calls, subproblems = 0, 0, 0
    for _ in range(outer):
        for starts in product(*(range(0, nest.sizes[binding[p]], tiles[p]) for p in loops)):
            subproblems += 1
            rest = {
                p: min(tiles[p], nest.sizes[binding[p]] - start)
                for p, start in zip(loops, starts, strict=True)
            }
            order = sorted(loops, key=lambda p: p not in index.get(held, ""))
            now = None
            for at in product(*(range(0, rest[p], size[p]) for p in order)):
                calls += 1
                place = tuple(n for p, n in zip(order, at, strict=True) if p in index.get(held, ""))
                for tensor, count in words.items():
                    if tensor != held or place != now:
                        moved += count * (2 if tensor == "l" else 1)
                now = place
    rate = 2 * known.banks
    startup = Fraction(sum(words.values()), rate)
    latency = subproblems * (x + y - 2) + max(
        subproblems * startup + calls * call, Fraction(moved, rate)
    )
    prices = [architecture.compute.energy, *(level.read_energy for level in architecture.levels)]
    mac, _, scratchpad, local = prices
    within = calls * prod(size.values()) * (mac + 4 * local) + moved * (scratchpad + local)
    return {
        "latency": latency,
        "words": moved,
        "calls": calls,
        "subproblems": subproblems,
        "energy": within,
    }


def held_words(nest: LoopNest, binding: Mapping[str, str], tiles: Mapping[str, int]) -> int:
    """Elements of the nest's tensors that a sub-problem touches, counted one by one."""
    ranges = [range(tiles[p]) for p in binding]
    total = 0
    for access in nest.accesses:
        touched = set()
        for at in product(*ranges):
            where = dict(zip(binding.values(), at, strict=True))
            touched.add(
                tuple(
                    sum(c * where.get(loop, 0) for loop, c in subscript.terms)
                    for subscript in access
                )
            )
        total += len(touched)
    return total


def every_tile(design: IntrinsicDesign) -> Iterator[dict[str, int]]:
    binding = dict(design.binding)
    for sizes in product(*(range(1, design.nest.sizes[q] + 1) for q in binding.values())):
        yield dict(zip(binding, sizes, strict=True))


NESTS = (
    workload("mm").with_sizes({"i": 6, "j": 5, "k": 7}),
    workload("conv2d").with_sizes({"o": 5, "r": 3, "c": 2, "i": 6, "p": 2, "q": 2}),
    workload("conv2d").with_sizes({"o": 3, "r": 2, "c": 5, "i": 2, "p": 2, "q": 2, "s": 2}),
    workload("depthwise_conv2d").with_sizes({"o": 5, "r": 3, "c": 4, "p": 2, "q": 2}),
    workload("pointwise_conv2d").with_sizes({"o": 6, "r": 3, "c": 4, "i": 5}),
)
FLOWS = (
    *(("hasco-gemm", 1), ("hasco-gemm", 2), ("hasco-conv", 1), ("gemv", 1), ("dot", 1)),
    *(("hasco-units", flow) for flow in (1, 2, 3, 4)),
)


ENERGIES = ((40, "energy"), (200, "energy"), (200, "edp"))


def cases() -> Iterator[Any]:
    for nest, (name, flow) in product(NESTS, FLOWS):
        yield pytest.param(
            nest, name, flow, id=f"{nest.name}-{nest.short_sizes.replace(' ', '')}-{name}-{flow}"
        )


@pytest.mark.ci
@pytest.mark.parametrize(("nest", "name", "flow"), list(cases()))
def test_metrics_are_those_of_calls_played_one_by_one(nest: LoopNest, name: str, flow: int) -> None:
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


@pytest.mark.ci(every=9)
@pytest.mark.parametrize(("nest", "name", "flow"), list(cases()))
@pytest.mark.parametrize(("words", "objective"), [(40, "latency"), (200, "latency"), *ENERGIES])
def test_optima_are_those_of_enumeration(
    nest: LoopNest, name: str, flow: int, words: int, objective: str
) -> None:
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


def carried(design: IntrinsicDesign, tiles: Mapping[str, int]) -> int:
    """Words of every sub-problem's tensors, counted one by one; results go both ways."""
    intrinsic, extents = IntrinsicArray(design.architecture).computes, dict(design.work.extents)
    total = 0
    for starts in product(*(range(0, extents[p], tiles[p]) for p in tiles)):
        rest = {p: min(tiles[p], extents[p] - n) for p, n in zip(tiles, starts, strict=True)}
        for access in (*intrinsic.inputs, intrinsic.output):
            ranges = [range(rest.get(loop, 1)) for loop in sorted(access.loops)]
            touched = {
                tuple(
                    sum(c * dict(zip(sorted(access.loops), at, strict=True))[n] for n, c in s.terms)
                    for s in access
                )
                for at in product(*ranges)
            }
            total += len(touched) * (2 if access is intrinsic.output else 1)
    return total * design.work.outer


@pytest.mark.ci
@pytest.mark.parametrize(("nest", "name", "flow"), list(cases()))
def test_words_off_chip_are_counted_one_by_one(nest: LoopNest, name: str, flow: int) -> None:
    """On a bus of 16 bits, bursts of 64 bytes in 33 cycles; all else is as without. Optima are
    those of enumeration."""
    architecture = machine(name, **SMALL | {"tensorized.dataflow": flow, "tensorized.bus_bits": 16})
    assert architecture.tensorized is not None
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


def test_wider_buses_and_longer_bursts_help_where_words_take_them() -> None:
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


def test_limits_and_objectives_that_fall_are_proven_too() -> None:
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
def test_number_systems_agree(data: st.DataObject) -> None:
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


def best(architecture: Architecture, nest: LoopNest, text: str = "latency") -> Fraction | None:
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
def test_more_never_hurts_where_that_is_declared(data: st.DataObject) -> None:
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


def test_stages_of_a_product_of_three() -> None:
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


def test_units_of_files_are_checked(tmp_path: Path) -> None:
    text = packaged_text("ithaca.formulations.spatial.architectures", "hasco-units")
    for change, complaint in (
        (
            ("gemv: {intrinsic", "gemw: {intrinsic"),
            "units has 'gemw', no dataflow; allowed: gemm, gemv",
        ),
        (("{intrinsic: dot}", "{}"), "intrinsic is missing"),
    ):
        path = tmp_path / "own.yaml"
        path.write_text(text.replace(*change))
        with pytest.raises(InputError, match=complaint):
            find_architecture(str(path))
    path.write_text(text)
    found, own = find_architecture(str(path)), find_architecture("hasco-units")
    assert found.tensorized == own.tensorized
    path.write_text(architecture_text(own))
    assert find_architecture(str(path)).tensorized == own.tensorized


def test_a_larger_mesh_may_hurt_and_neither_dataflow_is_best() -> None:
    """Why these are MIXED: five channels on a mesh of 5 × 5 or 6 × 6; short and long reductions."""
    trends = EDITIONS["intrinsic"].trends(find_architecture("hasco-gemm"))
    assert {trends[name] for name in ("mac.mesh_x", "mac.mesh_y", "tensorized.dataflow")} == {
        Trend.MIXED
    }
    nest = workload("mm").with_sizes({"i": 5, "j": 5, "k": 8})
    five, six = (
        best(machine("hasco-gemm", **{"mac.mesh_x": n, "mac.mesh_y": n}), nest) for n in (5, 6)
    )
    assert five is not None
    assert six is not None
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
    assert least[2][0] < least[2][1]  # type: ignore[operator]
    assert least[64][0] > least[64][1]  # type: ignore[operator]


# -- what a layer may run as ---------------------------------------------------------------------


def test_a_layer_is_one_problem_a_match() -> None:
    accelerator = HierarchyAccelerator(find_architecture("hasco-gemm"), "intrinsic")
    nest = workload("conv2d").with_sizes({"o": 64, "r": 28, "c": 56, "i": 64})
    objective = Objective(
        "latency", parse_expression("latency", where="objective", allowed=VOCABULARY)
    )
    names = [p.design.name for p in accelerator.problems(Run("conv", nest), {}, objective)]
    # r or c beside the channels, and what reduces: channels, or the window across
    assert sorted(names) == ["i=c j=o k=i", "i=c j=o k=p", "i=r j=o k=i", "i=r j=o k=q"]
    square = replace(
        nest, extents=tuple({**nest.sizes, "r": 56}.items())
    )  # its rows and columns cost the same
    assert len(accelerator.problems(Run("conv", square), {}, objective)) == 2
    stationary = {"tensorized.dataflow": Fraction(1)}  # which operand is held matters
    assert len(accelerator.problems(Run("conv", nest), stationary, objective)) == 8


def test_the_listing_of_the_paper() -> None:
    """Listing 1: k = c = 64, 56 × 56, 3 × 3 on 16 × 16, tiles k 32, x 32, c 8: 16,128 sub-problems
    of 32 calls."""
    nest = workload("conv2d").with_sizes({"o": 64, "r": 56, "c": 56, "i": 64, "p": 3, "q": 3})
    design = IntrinsicDesign(
        nest, find_architecture("hasco-gemm"), (("i", "o"), ("j", "c"), ("k", "i"))
    )
    found = design.metrics(
        {"o.Scratchpad": Fraction(32), "c.Scratchpad": Fraction(32), "i.Scratchpad": Fraction(8)},
        FRACTION,
    )
    assert found["subproblems"] == 16_128
    whole = (
        2 * 8 * 56 * 9
        # sub-problems with all 32 columns; as many have the other 24, which take two calls across,
        # too
    )
    assert found["calls"] == 2 * whole * 32
    (match,) = (
        m
        for m in matches(computation(nest), find_intrinsic("gemm", {"k": 1}))
        if set(m.loops) == {"o", "c", "i"}
    )
    tiling = match.tiled({"o": 32, "c": 32, "i": 8})  # as `ithaca match` counts
    assert (tiling.subproblems, tiling.calls) == (found["subproblems"], found["calls"])


def test_local_memory_must_hold_a_call() -> None:
    nest = NESTS[0]
    for words, status in ((24 - 1, Status.INFEASIBLE), (24, Status.OPTIMAL)):  # 4 + 4 + 16 words
        (solution,) = solve_designs(
            [problem(designs(machine("hasco-gemm", **SMALL | {"Local.words": words}), nest)[0])]
        )
        assert solution.certificate.status is status


def test_results_come_back(tmp_path: Any) -> None:
    for name in ("hasco-gemm", "hasco-conv", "hasco-units"):
        posed = [problem(design) for design in designs(machine(name, **SMALL), NESTS[1])]
        solutions = solve_designs(posed)
        found = Result(name, min(solutions, key=lambda s: s.value or 0), solutions)
        path = tmp_path / f"{name}.json"
        document = result_document(found)
        path.write_text(json.dumps(document))
        again = load_result(path)
        assert result_document(again) == document
        assert again.solutions[0].problem.design == posed[0].design
        document["best"]["tiling"][1]["loops"] = ["o=7"]
        path.write_text(json.dumps(document))
        with pytest.raises(InputError, match=r"Scratchpad\.loops"):
            load_result(path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"dataflow": 3},
            "tensorized.dataflow is number 3; allowed: one of weight-stationary, output-stationary",
        ),
        ({"banks": 0}, "tensorized.banks is 0; allowed: a positive integer"),
        (
            {"intrinsic": "gemmm"},
            "tensorized.intrinsic is 'gemmm'; allowed: dot, gemv, gemm, conv2d, or a statement",
        ),
        (
            {"dataflows": (("a", ("i", "z")),), "dataflow": 1},
            "tensorized.sizes or a side: unknown loop 'z' of l[i][j]",
        ),
        (
            {"dataflows": (("a", ("i", "j")), ("b", ("k", "z"))), "dataflow": 1},
            "tensorized.sizes or a side: unknown loop 'z' of l[i][j]",
        ),
        (
            {"dataflows": (("a", ("i", "i")),), "dataflow": 1, "sizes": (("j", 1), ("k", 1))},
            "tensorized.dataflows: 'a' is i, i; allowed: one or two of the loops i, j, k",
        ),
        (
            {"units": (("weight-stationary", Unit("gemw")),)},
            "tensorized.intrinsic is 'gemw'; allowed: dot, gemv, gemm, conv2d, or a statement",
        ),
        (
            {"sizes": ()},
            "tensorized.sizes lacks j; allowed: sizes of all loops of l[i][j] += m[i][k] * n[k][j]",
        ),
        ({"sizes": (("z", 3),)}, "tensorized.sizes or a side: unknown loop 'z'"),
    ],
)
def test_what_an_array_cannot_be_is_refused(change: Mapping[str, Any], complaint: str) -> None:
    architecture = find_architecture("hasco-gemm")
    assert architecture.tensorized is not None
    with pytest.raises(InputError) as raised:
        designs(
            replace(architecture, tensorized=replace(architecture.tensorized, **change)), NESTS[0]
        )
    assert str(raised.value).startswith(f"hasco-gemm: {complaint}")
    assert "\n" not in str(raised.value)


def test_other_architectures_and_nests_are_refused() -> None:
    with pytest.raises(InputError, match="eyeriss: has 5 levels; allowed in edition intrinsic"):
        designs(find_architecture("eyeriss"), NESTS[0])
    with pytest.raises(InputError, match="mttkrp multiplies 3 tensors"):
        designs(find_architecture("hasco-gemm"), workload("mttkrp"))
    with pytest.raises(
        InputError,
        match=r"edition intrinsic; allowed: edition timeloop, dmazerunner, explainable, uneven$",
    ):
        _ = Setting(
            find_architecture("hasco-gemm"),
            NESTS[0],
            "intrinsic",
            MappingOptions(divisors_only=True),
        ).designs


def test_map_on_the_command_line(tmp_path: Path) -> None:
    """All matches are solved, the best is shown and drawn, and its file goes through every command
    that reads it."""
    out, page = tmp_path / "out.json", tmp_path / "page.html"
    words = "--problem conv2d -s o=8,r=8,c=6,i=9 --arch hasco-gemm --edition intrinsic --objective latency"
    said = ithaca("map", *words.split(), "-o", str(out)).stdout
    assert "i=r j=o k=i, intrinsic model edition, on hasco-gemm" in said
    assert "parallel for r in 0..15" in said
    document = json.loads(out.read_text())
    assert document["best"]["binding"] == {"i": "r", "j": "o", "k": "i"}
    assert len(document["designs"]) == 4
    assert "confirmed by staged" in ithaca("verify", str(out)).stdout
    assert "Padding:" in ithaca("explain", str(out)).stdout
    ithaca("report", str(out), "-o", str(page))
    assert "The memory hierarchy" in page.read_text()
    asked = [
        "-s",
        "i=9,j=8,k=7",
        "--arch",
        "hasco-gemm",
        "--edition",
        "intrinsic",
        "--objective",
        "latency",
    ]
    study = ithaca("whatif", "mm", *asked, "--vary", "tensorized.banks=1,2", "--json").stdout
    values = [float(row["best"]["metrics"]["latency"]) for row in json.loads(study)["points"]]
    assert values[0] > values[1]
    refused = ithaca("network", "resnet18", *asked[2:])
    assert refused.returncode == 2
    said = "ithaca: --edition is intrinsic, of which layers have several designs; allowed: map, or codesign for networks"
    assert refused.stderr.strip() == said
