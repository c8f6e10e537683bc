"""Machines of calls of an intrinsic, and their calls played one by one."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import pytest

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Objective, Problem
from ithaca.plugins.hierarchies.formulations.architecture import Tensorized
from ithaca.plugins.hierarchies.formulations.editions import Setting
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.published.intrinsic.array import IntrinsicArray
from ithaca.plugins.hierarchies.formulations.published.intrinsic.design import (
    VOCABULARY,
    IntrinsicDesign,
)
from ithaca.plugins.hierarchies.formulations.variation import with_figures
from ithaca.workloads.library import workload

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


def machine(name, **figures):
    if name in OTHERS:
        found = replace(find_architecture("hasco-gemm"), tensorized=OTHERS[name])
    else:
        found = find_architecture(name)
    return with_figures(found, {figure: Fraction(n) for figure, n in figures.items()})


def designs(architecture, nest, *, off_chip=False):
    options = MappingOptions(off_chip=off_chip)
    found = Setting(architecture, nest, "intrinsic", options).designs
    assert all(isinstance(design, IntrinsicDesign) for design in found)
    return found


def problem(design, text="latency", limits=()):
    return Problem(
        design,
        limits,
        Objective(text, parse_expression(text, where="objective", allowed=VOCABULARY)),
    )


def played(nest, architecture, binding, tiles):
    """Sub-problems and calls in their order, with what the array holds; words of GEMM's and
    CONV2D's tensors by hand."""
    known = architecture.tensorized
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


def held_words(nest, binding, tiles):
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


def every_tile(design):
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


def cases():
    for nest, (name, flow) in product(NESTS, FLOWS):
        yield pytest.param(
            nest, name, flow, id=f"{nest.name}-{nest.short_sizes.replace(' ', '')}-{name}-{flow}"
        )


def carried(design, tiles):
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
