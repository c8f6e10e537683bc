"""What may run each stage of a network: designs with lanes and SIMD factor, and bounds of every
layer on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, inf
from typing import NamedTuple

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import below, largest_double, sum_below, whole_up
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Minimise
from ithaca.solver.options import SolveOptions
from ithaca.studies.families.systolic.alone import LayersAlone
from ithaca.studies.families.systolic.hardware_bounds import HardwareBounds, Node
from ithaca.studies.families.systolic.layer import Room, objective_step
from ithaca.studies.families.systolic.plans import Budget

#: Block RAM where there is no limit on it.
ENDLESS = 1 << 40


class AtBest(NamedTuple):
    """The best of layers on an array, each alone."""

    value: Fraction
    """What they take together."""
    bram18k: int
    """The most shares of block RAM that one of them needs."""
    hardware: Node
    """The array."""


@dataclass
class Stages:
    """Layers in sequence, to be cut into stages, and all hardware (choices) that a stage may have.

    Each design has the distinct layers, with how often a run in the sequence repeats each;
    ``sequence`` is the network in order, as their numbers. More arrays than layers make no
    difference, as each has at least one. Where ``shares`` states sizes, arrays take whole ones of
    DSP blocks and block RAM. A limit on the bandwidth holds of every layer; without a share of it
    that each array has, also of the sum of what arrays that work at the same time, for the slowest,
    move at most.

    Raises `InputError` if a limit cannot be divided among arrays, or there is no limit on DSP
    blocks.
    """

    designs: Sequence[Sequence[tuple[Problem, int]]]
    sequence: Sequence[int]
    arrays: int
    minimise: Minimise
    options: SolveOptions
    shares: Mapping[str, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limits = {limit.metric: limit.bound for limit in self.designs[0][0][0].limits}
        if "dsp" not in limits or not limits.keys() <= {"dsp", "bram18k", "bandwidth"}:
            raise InputError(
                "several arrays share a limit on dsp, and perhaps ones on bram18k and "
                "bandwidth; no other limits are allowed"
            )
        self.sequence, self.arrays = tuple(self.sequence), min(self.arrays, len(self.sequence))
        self.options = self.options.from_now
        # every objective is a multiple of the coarsest grid that all layers share
        self._step = objective_step([problem for layers in self.designs for problem, _ in layers])
        together = self.minimise is Minimise.SLOWEST and "bandwidth" not in self.shares
        self._at_once = limits.get("bandwidth") if together else None
        # counted in shares from here on: of block RAM a block each unless they are larger
        self._shares = {"dsp": Fraction(0), "bram18k": Fraction(1), **self.shares}
        self._memory = (
            floor(limits["bram18k"] / self._shares["bram18k"]) if "bram18k" in limits else ENDLESS
        )
        size, dsp = self._shares["dsp"], limits.get("dsp", Fraction(ENDLESS))
        self._budget = Budget(floor(dsp / size) if size else largest_double(dsp), self._memory)

    def _bound_choices(self, alone: Sequence[LayersAlone]) -> None:
        """Bound all hardware of all designs; `StoppedError` if the options say to stop."""
        checkpoint = self.options.checkpoint()
        for each in alone:
            while not each.complete:
                each.prepare(checkpoint)
        self._banks = [each.bank(checkpoint, common=False) for each in alone]
        dsp = np.concatenate([b.dsp for b in self._banks])
        if share := self._shares["dsp"]:
            sizes, which = np.unique(dsp, return_inverse=True)
            dsp = np.array([float(ceil(Fraction(size) / share)) for size in sizes.tolist()])[which]
        order = np.argsort(dsp, kind="stable")
        self._dsp: Floats = dsp[order]
        self._design: Integers = np.concatenate(
            [np.full(b.nodes.shape[1], n) for n, b in enumerate(self._banks)]
        )[order]
        self._column: Integers = np.concatenate([np.arange(b.nodes.shape[1]) for b in self._banks])[
            order
        ]
        self._bounds: Floats = np.concatenate([b.bounds for b in self._banks], axis=1)[:, order]
        least = np.concatenate([b.bram18k for b in self._banks], axis=1)[:, order]
        self._bram18k: Floats = whole_up(least / float(self._shares["bram18k"]))

    def _members(self, first: int, end: int) -> tuple[Integers, Integers]:
        """The distinct layers of a stage, and how often it runs each."""
        layers, counts = np.unique(self.sequence[first:end], return_counts=True)
        return layers, counts * np.array([count for _, count in self.designs[0]])[layers]

    def _hardware(self, choice: int) -> tuple[HardwareBounds, Node]:
        """The lanes and SIMD factor of a choice, among those of its design."""
        bank = self._banks[self._design[choice]]
        return bank, tuple(int(n) for n in bank.nodes[:, self._column[choice]])

    def _at_best(
        self,
        first: int,
        end: int,
        choice: int,
        shares: int,
        top: float = inf,
        *,
        ports: bool = True,
    ) -> AtBest | None:
        """The best of the layers of a stage, each alone on the array within some shares of block
        RAM, with the best port widths.

        Without ``ports`` these are each layer's own. None if that is not below ``top``.
        """
        bank, node = self._hardware(choice)
        layers, counts = self._members(first, end)
        nodes, least = np.array(node)[:, None], np.full(1, -inf)
        if ports:
            nodes = bank.fine.inside(bank.coarse, node)
            least = sum_below(counts[:, None] * bank.fine.bounds(nodes)[layers])
        best: AtBest | None = None
        for index in np.argsort(least, kind="stable"):
            if least[index] >= (top if best is None else best.value):
                break
            used, value, hardware = 0, Fraction(0), tuple(int(n) for n in nodes[:, index])
            for layer, count in zip(layers, counts, strict=True):
                optimum = bank.optimum(
                    int(layer), hardware, self.options, ports=ports, room=self._room(shares)
                )
                if optimum is None:
                    break
                value += int(count) * optimum.value
                used = max(used, ceil((optimum.needs.bram18k or 0) / self._shares["bram18k"]))
                if below(value) >= top or (best is not None and value >= best.value):
                    break
            else:
                best = AtBest(value, used, hardware)
        return best

    def _room(self, shares: int) -> Room:
        """So many shares of the block RAM."""
        return Room(shares * self._shares["bram18k"])
