"""The choices for each stage of a network: designs with lanes and SIMD factor, bounds of every
layer on them, and the costs of stages within parts of the block RAM and the bandwidth.

A stage on a choice is first what its layers' bounds say. Where a plan of such stages promises
enough, they are told apart by port widths, then solved within what the plan leaves them, and again
within less where that does not fit together. What is proven within some room bounds all within it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby
from math import ceil, floor, inf
from operator import itemgetter, le

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.logarithms import whole_up
from ithaca.formulations.algebra.rounding import below, largest_double, sum_below
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Minimise
from ithaca.plugins.codesign.studies.arrays import ahead
from ithaca.plugins.codesign.studies.arrays.alone import LayersAlone
from ithaca.plugins.codesign.studies.arrays.hardware_bounds import DesignBounds, Node
from ithaca.plugins.codesign.studies.arrays.joint import ArrayStage
from ithaca.plugins.codesign.studies.arrays.layer import PARTS, Room, objective_step
from ithaca.plugins.codesign.studies.arrays.plans import ArrayLimits, Options, Plan, PlannedStage
from ithaca.solver.options import SolveOptions

#: Block RAM where there is no limit on it.
ENDLESS = 1 << 40

#: Shares of a bandwidth that is divided in any way: it is bounded by whole ones, rounded down.
FINE = 1 << 40

#: Choices of a stage that are told apart by port widths at once.
DIVIDED = 256

#: Less bandwidth is told apart from more where it raises bounds by such a factor.
NOTABLE = 1.1

#: Shares of block RAM and of bandwidth.
Shares = tuple[int, int]


def in_whole_shares(
    designs: Sequence[Sequence[tuple[Problem, int]]], shares: Mapping[str, Fraction]
) -> Sequence[Sequence[tuple[Problem, int]]]:
    """Layers on designs, within the whole shares that their limits hold: nobody can take more."""
    limits = designs[0][0][0].limits
    whole = {x.metric: x.bound // size * size for x in limits if (size := shares.get(x.metric))}
    return [[(problem.within(whole), n) for problem, n in layers] for layers in designs]


@dataclass(frozen=True)
class AtBest:
    """The best of layers on an array, each alone."""

    value: Fraction
    """The amount that they take together."""
    used: Shares
    """The most that one of them needs, or that the stage takes."""
    hardware: Node
    """The array."""
    stage: ArrayStage | None = None
    """How they run together on it, if that is known."""


@dataclass(frozen=True)
class ResourceRange:
    """A choice of a stage that takes from so much to so much."""

    choice: int
    """Its number."""
    least: Shares
    """The least that it takes."""
    most: Shares
    """The most."""
    value: float
    """A lower bound of what it takes."""
    best: AtBest | None = None
    """A solution that takes no longer than that, within this region or not; None: it has not been
    solved."""


@dataclass
class Stages:
    """Layers in sequence, to be cut into stages, and all hardware (choices) that a stage may have.

    Each design has the distinct layers, with how often a run in the sequence repeats each;
    ``sequence`` is the network in order, as their numbers. More arrays than layers make no
    difference, as each has at least one. Where ``shares`` states sizes, arrays take whole ones of
    DSP blocks, block RAM and bandwidth. A limit on the bandwidth holds of every layer; where arrays
    take shares of it, or work at the same time, for the slowest, also of the sum of what each one's
    widest layer moves.

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
        self.designs = in_whole_shares(self.designs, self.shares)
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
        divided = "bandwidth" in limits and (
            self.minimise is Minimise.SLOWEST or "bandwidth" in self.shares
        )
        self._at_once = limits["bandwidth"] if divided else None
        #: Limits on the sum of what arrays take.
        self._together = {x: n for x, n in limits.items() if x != "bandwidth" or divided}
        if divided:
            self.designs = [
                [(replace(problem, divided=frozenset({"bandwidth"})), n) for problem, n in layers]
                for layers in self.designs
            ]
        # counted in shares from here on: of block RAM a block each unless they are larger
        self._shares = {
            "dsp": Fraction(0),
            "bram18k": Fraction(1),
            "bandwidth": (self._at_once or Fraction(1)) / FINE,
            **self.shares,
        }
        self._most: Shares = (
            floor(limits["bram18k"] / self._shares["bram18k"]) if "bram18k" in limits else ENDLESS,
            floor(self._at_once / self._shares["bandwidth"]) if self._at_once is not None else 0,
        )
        size, dsp = self._shares["dsp"], limits.get("dsp", Fraction(ENDLESS))
        self._budget = ArrayLimits(floor(dsp / size) if size else largest_double(dsp), *self._most)
        #: By stage: its choices that are regions by now, and these, by numbers after all choices.
        self._added = 0
        self._opened: dict[tuple[int, int], set[int]] = {}
        self._regions: dict[tuple[int, int], dict[int, ResourceRange]] = {}

    def _bound_choices(self, alone: Sequence[LayersAlone]) -> None:
        """Bound all hardware of all designs; `StoppedError` if the options say to stop."""
        checkpoint = self.options.checkpoint()
        ahead.build(alone, self.options)
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
        # of choices told apart by port widths: which, the columns of each, and bounds of all layers
        self._divided: Integers = np.zeros(0, np.int64)
        self._starts: Integers = np.zeros(0, np.int64)
        self._parts: Floats = np.zeros((len(self._bounds), 0))
        # what layers of each design take at least within parts of the bandwidth
        most = self._most[1]
        parts = {max(floor(part * most) - self._rounded, 0) for part in PARTS if part < 1}
        self._rooms = [(self._most[0], width) for width in sorted(parts | {most})]
        rooms = [self._room(room) for room in self._rooms]
        self._floors: Floats = np.array(
            [[layer.floors(rooms) for layer in bank.layers] for bank in self._banks]
        )

    def _times(self, first: int, end: int) -> Floats:
        """A bound of what a stage takes on every choice, with ports that serve all of its layers
        where choices are told apart by them."""
        layers, counts = self._members(first, end)
        times = sum_below(counts[:, None] * self._bounds[layers])
        if self._divided.size:
            parts = np.minimum.reduceat(
                sum_below(counts[:, None] * self._parts[layers]), self._starts
            )
            times[self._divided] = np.maximum(times[self._divided], parts)
        return times

    def _divided_times(self, first: int, end: int, times: Floats) -> Floats:
        """A bound of what a stage takes on choices told apart by port widths, within parts of the
        bandwidth, shape (parts, choices); ``times`` are those with all of it."""
        layers, counts = self._members(first, end)
        own, floors = self._bounds[layers][:, self._divided], self._floors[:, layers]
        least: Floats = np.stack(
            [
                sum_below(counts[:, None] * np.maximum(own, part[self._design[self._divided]].T))
                for part in np.moveaxis(floors, 2, 0)
            ]
        )
        least = np.maximum(least, times[self._divided])
        for place in range(len(least) - 2, -1, -1):
            more = least[place + 1]
            least[place] = np.where(least[place] < NOTABLE * more, more, least[place])
        return least

    def _divide(
        self, plan: Plan, stages: Mapping[tuple[int, int], Options]
    ) -> list[tuple[int, int]]:
        """Tell the choices of a plan, and others that promise most of its stages, apart by port
        widths; whose options then are others, none if that was done before."""
        fresh = np.unique(
            np.concatenate([self._undivided(part) for part in plan.parts]).astype(np.int64)
        )
        for design in np.unique(self._design[fresh]):
            own, bank = fresh[self._design[fresh] == design], self._banks[design]
            parts = [bank.fine.inside(bank.coarse, self._hardware(int(c))[1]) for c in own]
            starts = np.cumsum([self._parts.shape[1], *(part.shape[1] for part in parts)])
            bounds = bank.fine.bounds(np.concatenate(parts, axis=1), self.options.checkpoint())
            self._divided = np.concatenate([self._divided, own])
            self._starts = np.concatenate([self._starts, starts[:-1]])
            self._parts = np.concatenate([self._parts, bounds], axis=1)
        # elsewhere they were dominated already
        return [cut for cut, options in stages.items() if np.isin(options.choice, fresh).any()]

    def _undivided(self, part: PlannedStage) -> Integers:
        """The choice of a stage and others that promise most, none if it is divided."""
        if part.choice >= self._dsp.size or part.choice in self._divided:
            return np.zeros(0, np.int64)
        times = self._times(part.first, part.end)
        times[self._divided], times[part.choice] = inf, -inf
        fresh = np.argsort(times, kind="stable")[:DIVIDED]
        return fresh[times[fresh] < inf]

    def _members(self, first: int, end: int) -> tuple[Integers, Integers]:
        """The distinct layers of a stage, and how often it runs each."""
        layers, counts = np.unique(self.sequence[first:end], return_counts=True)
        return layers, counts * np.array([count for _, count in self.designs[0]])[layers]

    def _hardware(self, choice: int) -> tuple[DesignBounds, Node]:
        """The lanes and SIMD factor of a choice, among those of its design."""
        bank = self._banks[self._design[choice]]
        return bank, tuple(int(n) for n in bank.nodes[:, self._column[choice]])

    # -- rooms -------------------------------------------------------------------------

    def _options_of(self, first: int, end: int, top: float) -> Options:
        """The options of a stage that take less than a value."""
        times, regions = self._times(first, end), self._regions.get((first, end), {})
        opened = list(self._opened.get((first, end), ()))
        least = self._bram18k[self._members(first, end)[0]].max(axis=0)
        rows = []
        if self._divided.size:
            known = ~np.isin(self._divided, opened)
            own, below_ = self._divided[known], 0
            for (_, width), values in zip(
                self._rooms, self._divided_times(first, end, times)[:, known], strict=True
            ):
                bandwidth = np.full(own.size, float(below_))
                rows.append(Options(self._dsp[own], least[own], bandwidth, values, own))
                below_ = width + 1
        times[opened], times[self._divided] = inf, inf
        own = np.flatnonzero(times < top)
        rows.append(Options(self._dsp[own], least[own], np.zeros(own.size), times[own], own))
        if regions:
            numbers = np.array(list(regions), np.int64)
            choices = np.array([region.choice for region in regions.values()])
            bram18k, bandwidth = np.array([region.least for region in regions.values()], float).T
            values = np.array([region.value for region in regions.values()])
            rows.append(Options(self._dsp[choices], bram18k, bandwidth, values, numbers))
        every = Options.joined(rows)
        return every.only(every.value < top).front

    def _region(self, part: PlannedStage) -> int:
        """The number of the region of a part of a plan."""
        cut = part.first, part.end
        if part.choice < self._dsp.size:
            times = self._times(*cut)
            values = self._divided_times(*cut, times)[:, self._divided == part.choice][:, 0]
            bram18k = int(self._bram18k[self._members(*cut)[0], part.choice].max())
            self._opened.setdefault(cut, set()).add(part.choice)
            below_ = 0
            for value, same in groupby(
                zip(values.tolist(), self._rooms, strict=True), itemgetter(0)
            ):
                *_, (_, room) = same
                self._add(cut, ResourceRange(part.choice, (bram18k, below_), room, value))
                below_ = room[1] + 1
            return next(
                number
                for number, region in self._regions[cut].items()
                if (region.choice, *region.least) == (part.choice, part.bram18k, part.bandwidth)
            )
        return part.choice

    def _add(self, cut: tuple[int, int], region: ResourceRange) -> None:
        """Put a region of a stage beside the others, unless nothing is in it."""
        if all(least <= most for least, most in zip(region.least, region.most, strict=True)):
            own = self._regions.setdefault(cut, {})
            own[self._dsp.size + self._added] = region
            self._added += 1

    def _solved(self, plan: Plan, top: float) -> tuple[list[AtBest | None], bool]:
        """The best runs of a plan's stages, as far as they take less than a value, and whether any
        of it is new; if not, they fit together."""
        numbers = [self._region(part) for part in plan.parts]
        regions = [
            self._regions[part.first, part.end][number]
            for part, number in zip(plan.parts, numbers, strict=True)
        ]
        best = [region.best for region in regions]
        used = [[each.used[m] for each in best if each is not None] for m in range(len(self._most))]
        if all(best) and all(map(le, map(sum, used), self._most)):
            return best, False
        rooms = self._shared_out(regions)
        for place, (part, number) in enumerate(zip(plan.parts, numbers, strict=True)):
            known = best[place]
            if known is None or not all(map(le, known.used, rooms[place])):
                best[place] = self._solve(part, number, rooms[place], top)
        return best, True

    def _shared_out(self, regions: Sequence[ResourceRange]) -> list[Shares]:
        """The shares of a plan's stages in the resources: all that is left where that suffices, or
        some are not solved, else a part of it in proportion to their needs."""
        rooms = []
        for measure, most in enumerate(self._most):
            spare = most - sum(region.least[measure] for region in regions)
            more = [
                max(region.best.used[measure] - region.least[measure], 0)
                for region in regions
                if region.best is not None
            ]
            if len(more) < len(regions) or sum(more) <= spare:
                own = [spare] * len(regions)
            else:
                own = [spare * part // sum(more) for part in more]
            rooms.append(
                [
                    min(region.least[measure] + part, region.most[measure])
                    for region, part in zip(regions, own, strict=True)
                ]
            )
        return list(zip(*rooms, strict=True))

    def _solve(self, part: PlannedStage, number: int, room: Shares, top: float) -> AtBest | None:
        """Solve a region of a stage within some room; around that it stays what it was."""
        cut = part.first, part.end
        region = self._regions[cut].pop(number)
        best = self._best(replace(part, choice=region.choice), room, top)
        (bram18k, bandwidth), most = room, region.most
        self._add(cut, replace(region, least=(bram18k + 1, region.least[1])))
        self._add(
            cut, replace(region, least=(region.least[0], bandwidth + 1), most=(bram18k, most[1]))
        )
        if best is not None:
            value = max(below(best.value), region.value)
            self._add(cut, replace(region, most=room, value=value, best=best))
        return best

    def _best(self, part: PlannedStage, room: Shares, top: float) -> AtBest | None:
        """The best of a stage within some room, if it takes less than a value."""
        return self._at_best(part.first, part.end, part.choice, room, top)

    def _at_best(
        self,
        first: int,
        end: int,
        choice: int,
        shares: Shares,
        top: float = inf,
        *,
        ports: bool = True,
    ) -> AtBest | None:
        """The best of the layers of a stage, each alone on the array within some shares of block
        RAM and bandwidth, with the best port widths.

        Without ``ports`` these are each layer's own. None if that is not below ``top``.
        """
        (bank, node), room = self._hardware(choice), self._room(shares)
        layers, counts = self._members(first, end)
        nodes, bounds = np.array(node)[:, None], self._bounds[layers, choice][:, None]
        if ports:
            nodes = bank.fine.inside(bank.coarse, node)
            bounds = np.maximum(bank.fine.bounds(nodes, room=room)[layers], bounds)
        bounds = counts[:, None] * bounds
        best: AtBest | None = None
        least = sum_below(bounds)
        near = ahead.wanted(nodes, bounds, layers, counts, self.options)
        ahead.solve([(bank, ahead.Wanted(*n, top, ports, room)) for n in near], self.options)
        for index in np.argsort(least, kind="stable"):
            limit: float | Fraction = top
            if best is not None and best.value < top:
                limit = best.value
            if least[index] >= limit:
                break
            used, hardware = (0, 0), tuple(int(n) for n in nodes[:, index])
            values: dict[int, Fraction] = {}
            own = bounds[:, index].copy()  # of each layer what is known of it
            for place in np.argsort(-own, kind="stable"):
                if float(sum_below(own[:, None])[0]) >= limit:
                    break
                optimum = bank.optimum(
                    int(layers[place]), hardware, self.options, ports=ports, room=room
                )
                if optimum is None:
                    break
                values[place] = int(counts[place]) * optimum.value
                own[place] = below(values[place])
                needs = self._needs(optimum.needs)
                used = max(used[0], needs[0]), max(used[1], needs[1])
            else:
                value = sum(values.values(), start=Fraction(0))
                if below(value) < top and (best is None or value < best.value):
                    best = AtBest(value, used, hardware)
        return best

    def _room(self, shares: Shares) -> Room:
        """The room of so many shares of the block RAM and the bandwidth."""
        bram18k, bandwidth = shares
        return Room(
            bram18k * self._shares["bram18k"],
            None
            if self._at_once is None
            else (bandwidth + self._rounded) * self._shares["bandwidth"],
        )

    def _needs(self, room: Room) -> Shares:
        """The shares of block RAM and bandwidth that hold what something takes."""
        bram18k = ceil((room.bram18k or 0) / self._shares["bram18k"])
        if self._at_once is None:
            return bram18k, 0
        bandwidth = ceil((room.bandwidth or 0) / self._shares["bandwidth"])
        return bram18k, max(bandwidth - self._rounded, 0)

    @property
    def _rounded(self) -> int:
        """The number of shares of the bandwidth that a count of them may be below what it stands
        for."""
        return 0 if "bandwidth" in self.shares else 1
