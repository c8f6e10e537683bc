"""Errors of each model edition against what runs: random arrays, rankings of whole spaces, and
arrays measured on boards."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.quantities import pack
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import Technology
from ithaca.plugins.rtl.formulations.compared import Simulation, simulate_configuration
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest

EDITIONS = (Edition.CYCLE, Edition.EXACT, Edition.ODYSSEY)

#: The buildable designs of the two kernels.
DESIGNS = tuple(
    (name, array.dataflow)
    for name in ("mm", "conv2d")
    for array in choose_designs(workload(name), Edition.CYCLE)
)

#: The extents that random arrays have, and those of filters.
EXTENTS, FILTERS = (8, 12, 16, 24, 32), (1, 3)

#: PEs of a random array, at most.
MOST_PES = 64


def design_of(
    nest: LoopNest, dataflow: tuple[str, ...], dtype: str = "fp32", *, divisors: bool = False
) -> SystolicDesign:
    """The design of a nest in the exact edition that keeps its output in the array."""
    array = derive(nest, dataflow, nest.output.tensor, Edition.EXACT)
    return SystolicDesign(nest, array, data_type(dtype), SpaceOptions(divisors_only=divisors))


def rows_of(design: SystolicDesign) -> list[dict[str, NDArray[np.int64]]]:
    """The candidates of each axis; here all of their products are legal."""
    assert not design.space.links
    return [{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            for parts in (list(axis.rows()) for axis in design.space.axes)]  # fmt: skip


# -- random arrays ---------------------------------------------------------------------


def random_arrays(
    name: str, dataflow: tuple[str, ...], count: int, seed: int
) -> Iterator[tuple[SystolicDesign, Configuration]]:
    """Random legal configurations of random extents, of 2 to `MOST_PES` PEs."""
    draw = random.Random(seed)
    while count:
        loops = workload(name).loops
        extents = {loop: draw.choice(FILTERS if loop in "pq" else EXTENTS) for loop in loops}
        design = design_of(workload(name, extents), dataflow)
        found: dict[str, int] = {}
        for rows in rows_of(design):
            place = draw.randrange(next(iter(rows.values())).size)
            found |= {quantity: int(values[place]) for quantity, values in rows.items()}
        pes = design.array.pe.count.evaluate(
            {k: Fraction(n) for k, n in {**design.extents, **found}.items()}, FRACTION
        )
        if design.space.contains(found) and 1 < pes <= MOST_PES:
            count -= 1
            yield design, Configuration(found)


@dataclass(frozen=True)
class Errors:
    """Errors of an edition on simulated arrays, as shares of the simulated cycles."""

    errors: tuple[float, ...]

    @property
    def equal(self) -> float:
        """Share of arrays without error."""
        return fmean(error == 0 for error in self.errors)

    @property
    def mean(self) -> float:
        """Mean size."""
        return fmean(map(abs, self.errors))


def errors(
    name: str, dataflow: tuple[str, ...], machine: Machine, count: int, seed: int = 1
) -> dict[Edition, Errors]:
    """Errors of all editions on random arrays of a design."""
    found: dict[Edition, list[float]] = {edition: [] for edition in EDITIONS}
    for design, configuration in random_arrays(name, dataflow, count, seed):
        ran = simulate_configuration(design, configuration, machine)
        assert ran.cycles is not None
        for edition, own in found.items():
            own.append(float(ran.models[edition.value] / ran.cycles - 1))
    return {edition: Errors(tuple(own)) for edition, own in found.items()}


# -- rankings --------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranking:
    """Simulated cycles of an edition's best configurations of a space; regrets over the least
    cycles that any took."""

    ties: int
    """Configurations of the edition's least latency."""
    regret: float
    """Mean regret of the edition's optimum, over the ties that ran."""
    worst: float
    """Regret of the worst of the optima that ran."""
    best: float
    """Regret of the best that ran."""


def rankings(
    name: str,
    sizes: Mapping[str, int],
    dataflow: tuple[str, ...],
    machine: Machine,
    dsp: int,
    count: int = 50,
) -> tuple[int, dict[Edition, Ranking]]:
    """Size of the space (t1 that divide extents, a limit on DSP), and the ranking of its ``count``
    best by each edition.

    Equal latencies are in random order, of a fixed seed: an edition prefers none of them.
    """
    design = design_of(workload(name, sizes), dataflow, divisors=True)
    axes = rows_of(design)
    counts = [next(iter(rows.values())).size for rows in axes]
    places = np.unravel_index(np.arange(prod(counts)), counts)
    points = {
        k: values[place]
        for rows, place in zip(axes, places, strict=True)
        for k, values in rows.items()
    }
    size = _evaluated(design, points, Edition.EXACT, machine).dsp <= dsp
    points = {k: values[size] for k, values in points.items()}
    total, shuffled = int(size.sum()), np.random.default_rng(1).permutation(int(size.sum()))
    first: dict[Edition, NDArray[np.int64]] = {}
    ties: dict[Edition, int] = {}
    for edition in EDITIONS:
        latency = np.broadcast_to(_evaluated(design, points, edition, machine).latency, total)
        first[edition] = np.lexsort((shuffled, latency))[:count]
        ties[edition] = int((latency == latency.min()).sum())
    cycles: dict[int, int] = {}
    for place in {int(p) for found in first.values() for p in found}:
        ran = simulate_configuration(
            design, Configuration({k: int(v[place]) for k, v in points.items()}), machine
        )
        assert ran.cycles is not None
        cycles[place] = ran.cycles
    least = min(cycles.values())
    found = {}
    for edition, own in first.items():
        regrets = [cycles[int(place)] / least - 1 for place in own]
        optimal = regrets[: ties[edition]]
        found[edition] = Ranking(ties[edition], fmean(optimal), max(optimal), min(regrets))
    return total, found


def _evaluated(
    design: SystolicDesign,
    points: Mapping[str, NDArray[np.int64]],
    edition: Edition,
    machine: Machine,
) -> Any:
    array = derive(design.nest, design.array.dataflow, design.array.permutation, edition)
    values = {name: np.asarray(column, np.float64) for name, column in points.items()} | dict(
        design.extents
    )
    return evaluate(array, values, design.data, NUMPY, Technology(machine=machine))


#: Small spaces, with a limit on DSP (64 fp32 multiply-accumulates).
SPACES = tuple(
    (
        name,
        {
            "mm": {"i": 32, "j": 32, "k": 32},
            "conv2d": {"o": 16, "r": 6, "c": 6, "i": 16, "p": 3, "q": 3},
        }[name],
        dataflow,
        320,
    )
    for name, dataflow in DESIGNS
)


# -- measured boards ---------------------------------------------------------------------


@dataclass(frozen=True)
class Board:
    """An array that was measured, with the widest packs that are legal, since no more is known of
    them.

    SIMD of 64 bytes is wider than what the space has; the model is the same.
    """

    kernel: str
    sizes: Mapping[str, int]
    dataflow: tuple[str, ...]
    dtype: str
    t1: Mapping[str, int]
    t2: Mapping[str, int]
    simd: int
    measured: int
    """Time times the nominal clock (cycles)."""

    @property
    def title(self) -> str:
        """A short name."""
        return f"{self.kernel} {self.dtype}"

    @property
    def design(self) -> SystolicDesign:
        """The design of the board's array."""
        return design_of(workload(self.kernel, self.sizes), self.dataflow, self.dtype)

    def configuration(self) -> Configuration:
        """The configuration of the board's array."""
        design = self.design
        tiling = Tiling(
            self.t1, self.t2, self.simd, {group.name: 1 for group in design.array.packed_groups}
        )
        found = dict(design.configuration(tiling))
        values = {name: Fraction(value) for name, value in {**design.extents, **found}.items()}
        for group in design.array.packed_groups:
            last, multiple = (
                int(e.evaluate(values, FRACTION))
                for e in (group.packing.last, group.packing.multiple_of)
            )
            widest = max(group.packing.max_bytes // design.data.bytes, multiple)
            found[pack(group.name).name] = max(
                p for p in range(multiple, widest + 1, multiple) if last % p == 0
            )
        return Configuration(found)

    def simulated(self, machine: Machine) -> Simulation:
        """The simulated run of the board's array."""
        return simulate_configuration(self.design, self.configuration(), machine)

    def modelled(self, machine: Machine) -> dict[Edition, Fraction]:
        """The latency of the board's array by each edition (cycles)."""
        design, configuration = self.design, self.configuration()
        arrays = {
            edition: derive(design.nest, self.dataflow, design.array.permutation, edition)
            for edition in EDITIONS
        }
        technology = Technology(machine=machine)
        return {
            edition: replace(design, array=array, technology=technology)
            .costs(configuration)
            .latency
            for edition, array in arrays.items()
        }


def _board(
    kernel: str,
    sizes: Sequence[int],
    dataflow: str,
    dtype: str,
    t1: Sequence[int],
    t2: Mapping[str, int],
    simd: int,
    cycles: int,
) -> Board:
    nest = workload(kernel)
    extents = dict(zip(nest.loops, sizes, strict=True))
    band = derive(nest, tuple(dataflow.split(",")), nest.output.tensor, Edition.EXACT).band
    return Board(
        kernel,
        extents,
        tuple(dataflow.split(",")),
        dtype,
        dict(zip(band, t1, strict=True)),
        t2,
        simd,
        cycles,
    )


#: Loops that the compiler left untiled in the PE (l of mttkrp, m of ttmc) have one
#: tile.
BOARDS = (
    _board(
        "mm", (1040, 1024, 1024), "i,j", "fp32", (260, 256, 512), {"i": 20, "j": 16}, 8, 697_071
    ),
    _board(
        "conv2d",
        (512, 56, 56, 512, 3, 3),
        "o,r",
        "fp32",
        (64, 56, 14, 64),
        {"o": 4, "r": 4, "c": 7},
        8,
        4_204_225,
    ),
    _board(
        "mm", (1024, 1024, 1024), "i,j", "int16", (256, 256, 32), {"i": 16, "j": 16}, 32, 163_186
    ),
    _board("mm", (1056, 1024, 1024), "i,j", "int8", (264, 256, 64), {"i": 11, "j": 32}, 64, 90_786),
    _board(
        "mttkrp", (256,) * 4, "i,j", "fp32", (128, 128, 2, 256), {"i": 16, "j": 8}, 8, 4_238_940
    ),
    _board(
        "ttmc",
        (128,) * 5,
        "i,j",
        "fp32",
        (16, 64, 16, 32, 128),
        {"i": 1, "j": 8, "k": 8},
        8,
        33_730_800,
    ),
)
