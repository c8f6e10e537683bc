"""Costs of a layer run in calls of an intrinsic: plain arithmetic in any number system.

After HASCO (Xiao, Zheng, Zhang, Liang, Ji, Yang, Liang: "HASCO: Towards Agile Hardware and Software
Co-design for Tensor Computation", ISCA 2021) and the release, which asks MAESTRO (Kwon et al.,
MICRO 2019); ``docs/co-design-searches.md`` says what is published and what is ours. A layer is cut
into *sub-problems*, whose tensors fit the scratchpad, and these into *calls*, whose tensors fit
local memory. Words come from off chip for nothing, unless they take a bus: then before and after
what a sub-problem does, as it fills the scratchpad, results both ways; a burst takes a cycle to
begin.
With a bound loop's extent N, tile f and size d in a call,

    T = ceil(N / f) sub-problems
    C = (T - 1) · ceil(f / d) + ceil((N - (T - 1) · f) / d) calls along it,

the last of the T takes what remains; calls are padded to d. A call takes as many cycles as every PE
has multiply-accumulates in it. Calls of a sub-problem overlap with the words between scratchpad and
local memory: operands of every call, and of the tensor that the array holds (the one that all loops
along its sides index) only with every change of it; results are read and written. What does not
overlap, in every sub-problem: the words of one call, as its first operands come and its last
results leave, and the cycles by which the PEs at the far corner are behind.

Energy is that of multiply-accumulates, padding included, with four accesses of local memory each,
and of words between memories, which cost an access at both ends. Nothing leaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from ithaca.formulations.algebra.number_systems import FRACTION, NumbersByName, NumberSystem
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import Energies
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.passes import RF_ACCESSES
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import Sizes

#: Energies of an array that states none.
FREE = Energies(*[Fraction(0)] * 5)

#: Words that a bank moves in a cycle: it has two ports.
PORTS = 2


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor of an intrinsic."""

    access: Access
    """How a call indexes it."""
    held: bool
    """Whether the array holds it while others pass."""
    result: bool
    """Whether it is accumulated: read and written."""

    @property
    def loops(self) -> frozenset[str]:
        """The loops that index the tensor."""
        return self.access.loops

    def words(self, tile: NumbersByName, numbers: NumberSystem) -> Any:
        """Words that a tile of iterations touches, gathered: rows that a stride of the layer skips
        are none."""
        gathered: Any = numbers.number(Fraction(1))
        for subscript in self.access:
            apart = prod(tile[loop] for loop in subscript.loops)
            if len(subscript.terms) > 1:
                box = 1 + sum(factor * (tile[loop] - 1) for loop, factor in subscript.terms)
                apart = numbers.minimum(apart, box)
            gathered = gathered * apart
        return gathered


@dataclass(frozen=True)
class TensorizedWork:
    """A layer on an array: all that its costs follow from."""

    extents: Sizes
    """Iterations along each bound loop of the intrinsic."""
    sizes: Sizes
    """Iterations of a call along every loop of the intrinsic."""
    sides: tuple[str, ...]
    """The loops along the sides of the array."""
    outer: int
    """Iterations of all loops that are not bound, each of them sub-problems of their own."""
    operands: tuple[Operand, ...]
    """Inputs, then the output."""
    call: int
    """Cycles of a call."""
    skew: int = 0
    """Cycles by which the last PE is behind the first."""
    rate: Fraction = Fraction(1)
    """Words between scratchpad and local memory a cycle."""
    bus: Fraction | None = None
    """Words from and to off-chip memory a cycle; None: for nothing."""
    energies: Energies = FREE
    """Energies of local memory (as of register files), the scratchpad, off-chip memory."""
    scratchpad: int = 1
    """Words that the tensors of a sub-problem may fill."""
    local: int = 1
    """Words that the tensors of a call may fill."""

    @cached_property
    def call_words(self) -> tuple[int, ...]:
        """Words of every operand in a call."""
        sizes = dict(self.sizes)
        return tuple(int(operand.words(sizes, FRACTION)) for operand in self.operands)

    def held_words(self, tile: NumbersByName, numbers: NumberSystem) -> Any:
        """Words of all tensors of a sub-problem: tiles of the bound loops, one iteration of the
        others."""
        one = numbers.number(Fraction(1))
        tile = {loop: tile.get(loop, one) for loop, _ in self.sizes}
        return sum(operand.words(tile, numbers) for operand in self.operands)

    def tiles(self, loop: str, tile: Any, numbers: NumberSystem) -> tuple[Any, Any]:
        """Sub-problems and calls along a bound loop.

        Parameters
        ----------
        loop : str
            The loop, which is bound to an index of the intrinsic.
        tile : number
            Iterations of it in a sub-problem.
        numbers : NumberSystem
            The number system.

        Returns
        -------
        tuple
            Sub-problems, and calls of the intrinsic, along the loop.
        """
        extent, size = (
            numbers.number(Fraction(dict(of)[loop])) for of in (self.extents, self.sizes)
        )
        tiles = numbers.ceil_div(extent, tile)
        calls = (tiles - 1) * numbers.ceil_div(tile, size) + numbers.ceil_div(
            extent - (tiles - 1) * tile, size
        )
        return tiles, calls

    def traffic(self, tiles: NumbersByName, numbers: NumberSystem) -> Any:
        """Words of all sub-problems: every operand's tile with each of them. It never falls as
        there are more of them: windows that overlap are read again at edges, a stride's rows once
        for every row of the window."""
        extents, total = dict(self.extents), numbers.number(Fraction(0))
        for operand in self.operands:
            words: Any = self.outer * prod(tiles[n] for n in tiles if n not in operand.loops)
            for subscript in operand.access:
                bound = [(n, factor) for n, factor in subscript.terms if n in extents]
                apart: Any = numbers.number(Fraction(prod(extents[n] for n, _ in bound)))
                if len(bound) > 1 and all(factor == 1 for _, factor in bound):
                    every = prod(tiles[n] for n, _ in bound)
                    edges = sum(
                        extents[n] * prod(tiles[m] for m, _ in bound if m != n) for n, _ in bound
                    )
                    apart = edges - (len(bound) - 1) * every
                words = words * apart
            total = total + words * (2 if operand.result else 1)
        return total

    def metrics(
        self, tiles: NumbersByName, calls: NumbersByName, numbers: NumberSystem
    ) -> dict[str, Any]:
        """Every metric, from the sub-problems and calls along each bound loop. None falls as one of
        these grows.

        Parameters
        ----------
        tiles : NumbersByName
            Sub-problems along each bound loop.
        calls : NumbersByName
            Calls of the intrinsic along each bound loop.
        numbers : NumberSystem
            The number system.
        """
        rate = numbers.number(self.rate)
        subproblems, runs = self.outer * prod(tiles.values()), self.outer * prod(calls.values())
        words: Any = numbers.number(Fraction(0))
        for operand, each in zip(self.operands, self.call_words, strict=True):
            moves = runs
            if operand.held:
                moves = self.outer * prod(
                    calls[loop] if loop in operand.loops else tiles[loop] for loop in tiles
                )
            words = words + moves * (each * (2 if operand.result else 1))
        alone = subproblems * sum(self.call_words)
        skew, startup, computing, network = (
            subproblems * self.skew,
            alone / rate,
            runs * self.call,
            words / rate,
        )
        extents = dict(self.extents)
        bus, off_chip = numbers.number(Fraction(0)), self.traffic(tiles, numbers)
        if self.bus is not None:
            bus = off_chip / numbers.number(self.bus)
        latency = skew + numbers.maximum(startup + computing, network) + bus
        known, computes = self.energies, runs * prod(size for _, size in self.sizes)
        energy = (
            computes * numbers.number(known.mac + RF_ACCESSES * known.rf)
            + words * numbers.number(known.rf + known.spm)
            + off_chip * numbers.number(known.spm + known.dram)
        )
        return {
            "latency": latency,
            "energy": energy,
            "edp": energy * latency,
            "dram_words": off_chip,
            "bus": bus,
            "computing": computing,
            "network": network,
            "startup": startup,
            "skew": skew,
            "pes": numbers.number(
                Fraction(
                    prod(min(size, extents.get(n, 1)) for n, size in self.sizes if n in self.sides)
                )
            ),
            "words": words,
            "subproblems": subproblems,
            "calls": runs,
            "computes": computes,
        }
