"""A layer on an accelerator with an intrinsic, by one match: the space of its tiles, their metrics,
and the stage that searches them: few tiles of each loop can be best, and all their combinations are
bounded at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.expression import SYMBOLIC, Constant
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY, NumbersByName, NumberSystem
from ithaca.formulations.algebra.rounding import EXACT, least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.space import Axis, Link, Quantity, Relation, Space, make_space
from ithaca.formulations.stage import Block, Candidates, Cutoff, Stage
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraints import NONE
from ithaca.plugins.hierarchies.formulations.corners import Corners
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Laid
from ithaca.plugins.hierarchies.formulations.mapping import Order, Slot
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.metrics import priced
from ithaca.plugins.hierarchies.formulations.published.intrinsic.array import Binding, array_of
from ithaca.plugins.hierarchies.formulations.published.intrinsic.model import TensorizedWork
from ithaca.workloads.nest import LoopNest

VOCABULARY = {
    metric.name: metric
    for metric in (
        Metric("latency", "cycles", "of all sub-problems, with traffic off chip if asked for"),
        Metric("energy", "pJ", "of multiply-accumulates and words, off chip as well"),
        Metric("edp", "pJ·cycles", "energy times latency"),
        Metric("computing", "cycles", "of all calls"),
        Metric("network", "cycles", "that the words between scratchpad and local memory take"),
        Metric(
            "startup",
            "cycles",
            "in which first operands come and last results leave, beside no call",
        ),
        Metric("skew", "cycles", "by which the last PE is behind the first, in all sub-problems"),
        Metric("bus", "cycles", "that the words of sub-problems take from and to off-chip memory"),
        Metric("words", "words", "between scratchpad and local memory"),
        Metric("dram_words", "words", "of sub-problems, from and to off-chip memory"),
        Metric("subproblems", "sub-problems", "into which the layer is cut"),
        Metric("calls", "calls", "of the intrinsic"),
        Metric("computes", "MACs", "multiply-accumulates, padding included"),
        Metric("pes", "PEs", "that have work where tiles are large enough", most=True),
    )
}


@dataclass(frozen=True)
class IntrinsicDesign(MappingDesign):
    """A layer cut into calls of an intrinsic."""

    nest: LoopNest
    """The layer."""
    architecture: Architecture
    """The accelerator."""
    binding: Binding
    """Which of the intrinsic's loops run which of the layer's."""
    options: MappingOptions = field(default_factory=MappingOptions)
    """Whether words off chip take cycles."""
    edition: ClassVar[str] = "intrinsic"
    constraints = NONE

    @property
    def vocabulary(self) -> Mapping[str, Metric]:
        """The metrics of the edition, but for energy where nothing says it."""
        return priced(VOCABULARY, self.architecture)

    @cached_property
    def work(self) -> TensorizedWork:
        """The counts that costs follow from."""
        array = array_of(self.architecture)
        return array.work(self.nest, self.binding, off_chip=self.options.off_chip)

    @property
    def name(self) -> str:
        """The match in words: ``i=r j=o k=i``."""
        return " ".join(f"{loop}={image}" for loop, image in self.binding)

    def quantity(self, loop: str) -> str:
        """The tile of a loop of the intrinsic: iterations of the loop that runs on it in a
        sub-problem."""
        return Slot(self.architecture.levels[1].name).quantity(dict(self.binding)[loop])

    def _tile(self, values: NumbersByName) -> dict[str, Any]:
        return {loop: values[self.quantity(loop)] for loop, _ in self.binding}

    @cached_property
    def space(self) -> Space:
        """Tiles whose tensors fit the scratchpad together; whether a call's fit local memory is a
        condition of the design."""
        axes = [Axis(name, (Quantity(name, 1, extent),)) for name, extent in self._extents.items()]
        held = self.work.held_words(
            self._tile(
                {
                    name: axis.quantities[0].symbol
                    for name, axis in zip(self._extents, axes, strict=True)
                }
            ),
            SYMBOLIC,
        )
        return make_space(
            axes, [Link(held, Relation.AT_MOST, Constant(Fraction(self.work.scratchpad)))]
        )

    @property
    def _extents(self) -> dict[str, int]:
        return {self.quantity(loop): extent for loop, extent in self.work.extents}

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        """The metrics asked for at tiles of the bound loops.

        Parameters
        ----------
        values : NumbersByName
            The tile of each bound loop (iterations of a sub-problem).
        numbers : NumberSystem
            The number system.
        names : collection of str, optional
            The metrics wanted; by default all.
        """
        along = {
            loop: self.work.tiles(loop, tile, numbers) for loop, tile in self._tile(values).items()
        }
        costs = self.work.metrics(
            {n: tiles for n, (tiles, _) in along.items()},
            {n: c for n, (_, c) in along.items()},
            numbers,
        )
        return {name: costs[name] for name in self.vocabulary if names is None or name in names}

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        """No metric falls with sub-problems, of which there is one, or calls, which are all
        full."""
        calls = {
            loop: Fraction(ceil(Fraction(n, dict(self.work.sizes)[loop])))
            for loop, n in self.work.extents
        }
        return self.work.metrics(dict.fromkeys(calls, Fraction(1)), calls, FRACTION)

    def conditions(
        self, values: NumbersByName, numbers: NumberSystem
    ) -> tuple[tuple[Any, Fraction], ...]:
        """Local memory holds what a call reads and writes."""
        return ((numbers.number(Fraction(sum(self.work.call_words))), Fraction(self.work.local)),)

    def stage(self, problem: Problem) -> Stage | None:
        """All tiles that may be best; None for objectives and limits that may fall as metrics
        grow."""
        return None if problem.falling else IntrinsicStage(problem, self)

    # -- mappings ------------------------------------------------------------------------

    @property
    def orders(self) -> Mapping[str, tuple[Order, ...]]:
        """The loop order of each level, outermost loop first: unbound loops outside, those that the
        held tensor does not know inside."""
        image = dict(self.binding)
        held = next(
            (operand.loops for operand in self.work.operands if operand.held), frozenset(image)
        )
        inside = [image[loop] for loop, _ in self.binding if loop not in held]
        outer = [loop for loop in self.nest.loops if loop not in image.values()]
        calls = tuple(loop for loop in self.nest.loops if loop not in inside) + tuple(inside)
        tiles = (*outer, *(loop for loop in self.nest.loops if loop not in outer))
        return dict(
            zip(
                (level.name for level in self.architecture.levels),
                ((tiles,), (calls,), (calls,)),
                strict=True,
            )
        )

    def mapping(self, configuration: Mapping[str, int]) -> Laid:
        """Sub-problems, their calls, and the iterations of a call, each padded to the full size."""
        array, image, sizes = array_of(self.architecture), dict(self.binding), dict(self.work.sizes)
        off_chip, scratchpad, local = (level.name for level in self.architecture.levels)
        tiles = {loop: extent for loop, extent in self.nest.extents if loop not in image.values()}
        calls, inside = {}, {loop: size for loop, size in sizes.items() if loop in image}
        for loop, tile in self._tile(configuration).items():
            tiles[image[loop]] = -(-self.nest.sizes[image[loop]] // tile)
            calls[image[loop]] = -(-tile // sizes[loop])
        factors = {
            Slot(off_chip): tiles,
            Slot(scratchpad): calls,
            Slot(local): {image[p]: n for p, n in inside.items() if p not in array.sides},
        }
        for along, (p, n) in zip("xy", array.mesh, strict=True):
            if p in image:
                factors[Slot(local, along)] = {image[p]: n}
        keeps = frozenset(access.tensor for access in self.nest.accesses)
        orders = {level: order for level, (order,) in self.orders.items()}
        return Laid(factors, orders, dict.fromkeys(orders, keeps))


#: Tiles of a loop, the sub-problems along it, and the calls: a row each.
TileRows = Integers

#: Combinations of tiles that are bounded at once.
AT_ONCE = 1 << 14


class IntrinsicStage:
    """A problem whose objective and limits do not fall as metrics grow: fewer sub-problems and
    calls are better."""

    dropped = inf
    """Nothing is left out."""

    def __init__(self, problem: Problem, design: IntrinsicDesign) -> None:
        self._design, self._corners, self._work = design, Corners(problem), design.work
        sizes = dict(self._work.sizes)
        self._tables = {loop: _table(extent, sizes[loop]) for loop, extent in self._work.extents}

    @property
    def least(self) -> float:
        """The lower bound as if every loop had its fewest sub-problems and calls with its smallest
        tile."""
        return float(self._priced(self._best)[0][0])

    @cached_property
    def _best(self) -> Mapping[str, TileRows]:
        return {loop: table.min(axis=1, keepdims=True) for loop, table in self._tables.items()}

    def _priced(self, columns: Mapping[str, TileRows]) -> tuple[Floats, Floats]:
        """Bounds of columns of the tables, infinite where tiles do not fit; and what all their
        metrics follow from."""
        tile, tiles, calls = (
            {loop: c[place].astype(float) for loop, c in columns.items()} for place in range(3)
        )
        known = self._work.metrics(tiles, calls, NUMPY)
        in_call = sum(self._work.call_words) <= self._work.local
        fits = in_call & (self._work.held_words(tile, NUMPY) <= self._work.scratchpad)
        bounds, fits, *counts = np.broadcast_arrays(
            self._corners.least(known, known),
            fits,
            *(known[name] for name in ("subproblems", "calls", "words", "dram_words")),
        )
        return np.atleast_1d(np.where(fits, bounds, inf)), np.atleast_2d(np.stack(counts))

    def _configuration(self, columns: Mapping[str, Any]) -> Configuration:
        return Configuration(
            {self._design.quantity(loop): int(column[0]) for loop, column in columns.items()}
        )

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """Loops take their best tiles one after the other, from tiles as small as they are, and
        from square ones."""
        side = (self._work.scratchpad / len(self._work.operands)) ** 0.5
        for square in (False, True):
            chosen = {
                n: t[:, :1] if not square else _up_to(t, side) for n, t in self._tables.items()
            }
            for loop, table in (*self._tables.items(), *self._tables.items()):
                bounds, _ = self._priced(chosen | {loop: table})
                place = int(np.argmin(bounds))
                chosen[loop] = table[:, place : place + 1]
            yield self._configuration({loop: column[:, 0] for loop, column in chosen.items()})

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Tiles joined loop by loop, as long as they may improve with the best of all later
        loops."""
        rows, rest = np.zeros((0, 1), np.int64), self.least
        for place, table in enumerate(self._tables.values(), 1):
            own, parts, least = np.arange(table.shape[1]), [np.zeros((place, 0), np.int64)], inf
            step = max(AT_ONCE // own.size, 1)
            for begin in range(0, rows.shape[1], step):
                outer = rows[:, begin : begin + step]
                joined = np.concatenate(
                    [np.repeat(outer, own.size, axis=1), np.tile(own, outer.shape[1])[None]]
                )
                known = zip(self._tables.items(), joined, strict=False)
                bounds, counts = self._priced(
                    {**self._best, **{n: t[:, row] for (n, t), row in known}}
                )
                kept = np.flatnonzero(bounds < least_double(cutoff()))
                if place < len(self._tables):
                    parts.append(joined[:, kept])
                    least = min(least, float(bounds[kept].min(initial=inf)))
                    yield Block.empty(rest)
                    continue
                if kept.size and counts[:, kept].max() < EXACT:  # equal counts cost the same
                    kept = kept[np.unique(counts[:, kept], axis=1, return_index=True)[1]]
                yield Block(joined[:, kept].T, bounds[kept], rest)
            rows, rest = np.concatenate(parts, axis=1), max(rest, least)
        yield Block.empty(inf)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """The configurations of rows, which are complete as they are."""
        for row in rows:
            yield self._configuration(
                {n: t[:, place] for (n, t), place in zip(self._tables.items(), row, strict=True)}
            )


def _table(extent: int, size: int) -> TileRows:
    """The tiles of a loop that no smaller one beats with no more sub-problems and calls,
    ascending."""
    tile = np.arange(1, extent + 1)
    tiles = -(-extent // tile)
    calls = (tiles - 1) * -(-tile // size) + -(-(extent - (tiles - 1) * tile) // size)
    # sub-problems never rise with tiles: of those with as many, the first with fewer calls than all
    # before
    group = np.cumsum(np.diff(tiles, prepend=tiles[0]) != 0)
    falling = calls - group * (extent + 1)
    first = np.concatenate([[True], falling[1:] < np.minimum.accumulate(falling)[:-1]])
    return np.stack([tile, tiles, calls])[:, first]


def _up_to(table: TileRows, tile: float) -> TileRows:
    """The column of the largest tile that is not above one."""
    place = max(int(np.searchsorted(table[0], tile, side="right")), 1)
    return table[:, place - 1 : place]
