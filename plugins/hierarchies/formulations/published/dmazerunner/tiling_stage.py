"""Search by tiles: tiles of the PEs are the inner choice, DRAM's and the scratchpad's loops the
outer one.

Inner costs depend on the tile u of the PEs and its factors (r, s), the cost of transfers on the
scratchpad's tile w alone; they are coupled by u | w (with padding, by trips that multiply to at
least ceil(extent / u)). First come tiles u, joined group by group under a bound that takes the rest
at its least; then rows (r, s) of the tiles left; a row is completed over all w and orders. Editions
say what tiles, rows, and rows with outer choices cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.number_systems import NUMPY, NumbersByName
from ithaca.formulations.algebra.rounding import EXACT, ROUNDING, least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.stage import Block, Candidates, Cutoff
from ithaca.plugins.hierarchies.formulations.corners import Corners
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import (
    ONES,
    ChoiceColumns,
    OuterChoices,
    ragged,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SPATIAL,
    SPM,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.model import reuse
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.passes import (
    ArrayPass,
    ArrayTile,
    array_pass,
    sending_energy,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tables import (
    AT_ONCE,
    Tables,
    chunks,
)

if TYPE_CHECKING:
    from ithaca.formulations.problem import Problem
    from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign

#: Tiles whose rows are one block, at first and at most; mappings evaluated at first.
FIRST_TILES, MOST_TILES, FIRST_MAPPINGS = 64, 1 << 13, 1 << 10


class TilingStage(ABC):
    """One problem on one layer, in stages."""

    least, dropped = -inf, inf
    """Nothing is known at once, and nothing left out."""
    _numbers = NUMPY
    """In which mappings are priced."""
    _exact: float = EXACT
    """Metrics below this are whole numbers that floats hold."""
    _energetic = True
    """Whether bounds need energies."""

    def __init__(
        self, problem: Problem, design: TilingDesign, corners: Corners | None = None
    ) -> None:
        self._problem, self._design, self._corners = problem, design, corners or Corners(problem)

    # -- bounds ------------------------------------------------------------------------

    @abstractmethod
    def _bounds(
        self,
        one_pass: ArrayPass,
        tiles: ChoiceColumns,
        low: NumbersByName,
        high: NumbersByName,
        outer: Sequence[tuple[Any, ...]],
    ) -> Floats:
        """The least objective of passes over tiles.

        Parameters
        ----------
        one_pass : ArrayPass
            What passes take at least.
        tiles : ChoiceColumns
            The tiles.
        low, high : NumbersByName
            Uses of capacities.
        outer : sequence of tuple
            What transfers cost at least, by reused tensor, as the tables count it.
        """

    def _pass(self, tile: ArrayTile) -> ArrayPass:
        """The pass of the array over a tile of the PEs, with its costs."""
        return array_pass(self._design.layer, self._design.machine.energies, tile)

    def _sending(self, tiles: ChoiceColumns) -> NumbersByName:
        """A lower bound of what networks carry of tiles."""
        return tiles.by_tensor("sent", self._tables.tensors)

    def _computing(self, tiles: ChoiceColumns) -> Floats:
        """Cycles of PEs that share the work of a tile."""
        shared: Floats = np.ceil(tiles["tile"] / self._design.machine.pes)
        return np.maximum(shared, tiles["r"])

    def _tile_bounds(self, tiles: ChoiceColumns) -> Floats:
        """Bounds of tiles: their register files hold and send no more words than need be, their PEs
        share all work."""
        machine, tensors = self._design.machine, self._tables.tensors
        energy = {}
        if self._energetic:
            spread, sent = (tiles.by_tensor(what, tensors) for what in ("spread", "sent"))
            energy = sending_energy(machine.energies, spread, sent)
        one_pass = ArrayPass(self._computing(tiles), 0.0, self._sending(tiles), energy, 0.0)
        return self._bounds(one_pass, tiles, {}, {}, [self._tables.least_outer])

    def _row_bounds(
        self,
        rows: ChoiceColumns,
        tiles: ChoiceColumns,
        outer: OuterChoices | None = None,
        place: Integers | slice = slice(None),
    ) -> Floats:
        """Lower bounds of the objective of rows, perhaps each with an outer choice."""
        held, groups, sent = (
            columns.by_tensor(what, self._tables.tensors)
            for columns, what in ((rows, "held"), (rows, "s"), (tiles, "sent"))
        )
        one_pass = self._pass(ArrayTile(rows["r"], rows["s"], groups, held, sent))
        known, parts = self._known(rows), [self._tables.least_outer]
        if outer is not None:
            known |= {"spm_banks": outer.banks[place]}
            parts = [tuple(column[place] for column in part) for part in outer.parts]
        return self._bounds(one_pass, tiles, known, known, parts)

    def _known(self, rows: ChoiceColumns) -> dict[str, Any]:
        """Metrics that follow from rows alone: PEs, words of register files."""
        words = sum(rows[f"held.{tensor}"] for tensor in self._tables.tensors)
        return {"pes": rows["s"], "rf_words": words}

    @property
    def _tables(self) -> Tables:
        return self._design.tables

    # -- incumbents --------------------------------------------------------------------

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """No start: spaces with padding are searched for divisors first."""
        return iter(())

    # -- inner choices -----------------------------------------------------------------

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Rows of tiles in the order of the tiles' bounds."""
        if self._tables.empty:
            return
        tiles, bounds = np.zeros((len(self._tables.groups), 0), np.int32), np.zeros(0)
        for joined in self._joined(cutoff):
            if isinstance(joined, float):
                yield Block.empty(joined)
            else:
                tiles, bounds = joined
        order = np.argsort(bounds, kind="stable")
        tiles, bounds = tiles[:, order], bounds[order]
        for part in chunks(bounds.size, FIRST_TILES, MOST_TILES):
            limit = least_double(cutoff())
            if bounds[part.start] >= limit:
                break
            kept = tiles[:, part][:, bounds[part] < limit]
            rows, row_bounds = self._rows(kept)
            rest = float(bounds[part.stop]) if part.stop < bounds.size else inf
            keep = row_bounds < limit
            yield Block(rows[:, keep].T, row_bounds[keep], rest)
        yield Block.empty(inf)

    def _joined(self, cutoff: Cutoff) -> Iterator[tuple[NDArray[np.int32], Floats] | float]:
        """Tiles that may hold an improvement, by group, and their bounds; now and then before, a
        bound of them all."""
        tables, machine = self._tables, self._design.machine
        parts, ones = tables.tiles, dict.fromkeys(machine.limits, 1.0)
        least = [part.least for part in parts]
        every = tables.product(least, np.zeros((len(least), 1), np.int64))
        joined, bounds = np.zeros((0, 1), np.int32), self._tile_bounds(every)
        for place, part in enumerate(parts):
            # its choices, with the least of the groups that come after it
            own = reduce(ChoiceColumns.times, least[place + 1 :], part)
            step = max(AT_ONCE // own["trips"].size, 1)
            kept: list[tuple[NDArray[np.int32], Floats]] = []
            for begin in range(0, max(bounds.size, 1), step):
                outer = joined[:, begin : begin + step]
                before = tables.product(parts[:place], outer) if place else ONES
                words = sum(
                    np.multiply.outer(before[name], own[name])
                    for name in (f"sent.{tensor}" for tensor in tables.tensors)
                )
                first, second = np.nonzero(words <= machine.banks * machine.bank_words)
                columns, limit = before.take(first).times(own.take(second)), least_double(cutoff())
                cycles = columns["trips"] * self._computing(columns)
                alone = self._corners.least({**ones, "latency": cycles}, machine.limits)
                near = np.flatnonzero(np.broadcast_to(alone < limit, cycles.shape))
                bound = self._tile_bounds(columns.take(near))
                keep = np.flatnonzero(bound < limit)
                near = near[keep]
                made = outer[:, first[near]], second[None, near].astype(np.int32)
                kept.append((np.concatenate(made), bound[keep]))
                yield float(bounds.min(initial=inf))
            joined = np.concatenate([places for places, _ in kept], axis=1)
            bounds = np.concatenate([bound for _, bound in kept])
        yield joined, bounds

    def _rows(self, tiles: NDArray[Any]) -> tuple[Integers, Floats]:
        """All rows of tiles, by group, with their bounds."""
        tables = self._tables
        owner, rows = tables.rows_of(tiles)
        return rows, self._row_bounds(
            tables.product(tables.rows, rows), tables.product(tables.tiles, tiles[:, owner])
        )

    # -- completions -------------------------------------------------------------------

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """Rows by their tiles: all outer choices of a few tiles at a time, the best first."""
        tables = self._tables
        inner = np.asarray(rows).T
        tile_of = np.stack(
            [group.tile_of[row] for group, row in zip(tables.groups, inner, strict=True)]
        )
        tiles, which = np.unique(tile_of, axis=1, return_inverse=True)
        sizes = tables.outer_counts(tiles)
        begin = 0
        while begin < tiles.shape[1]:
            end = begin + max(int(np.searchsorted(np.cumsum(sizes[begin:]), AT_ONCE)), 1)
            mine = np.flatnonzero((which.ravel() >= begin) & (which.ravel() < end))
            yield from self._completed(
                tiles[:, begin:end], inner[:, mine], which.ravel()[mine] - begin, cutoff
            )
            begin = end

    def _completed(
        self, tiles: Integers, rows: Integers, tile_of: Integers, cutoff: Cutoff
    ) -> Candidates:
        tables = self._tables
        outer = tables.outer_of(tiles)
        order = np.argsort(tile_of, kind="stable")
        rows, tile_of = rows[:, order], tile_of[order]
        row_columns, tile_columns = (
            tables.product(tables.rows, rows),
            tables.product(tables.tiles, tiles),
        )
        # tiles with each outer choice, then rows with each: a tile's rows are bounded by the least
        # of them
        begins = np.searchsorted(tile_of, np.arange(tiles.shape[1] + 1))
        entry, number = ragged(np.diff(begins)[outer.tile])
        row = begins[outer.tile][entry] + number
        bound = np.concatenate(
            [np.zeros(0)]
            + [
                self._row_bounds(
                    row_columns.take(row[part]),
                    tile_columns.take(tile_of[row[part]]),
                    outer,
                    entry[part],
                )
                for part in (slice(begin, begin + AT_ONCE) for begin in range(0, row.size, AT_ONCE))
            ]
        )
        order = np.argsort(bound, kind="stable")
        for part in chunks(order.size, FIRST_MAPPINGS, AT_ONCE):
            limit = least_double(cutoff())
            picked = order[part]
            picked = picked[bound[picked] < limit]
            if not picked.size:
                return
            yield self._best(rows[:, row[picked]], outer, entry[picked], limit)

    def _best(
        self, rows: Integers, outer: OuterChoices, place: Integers, limit: float
    ) -> Configuration | None:
        """The best of some mappings, all orders tried; None if none is below the limit."""
        factors: dict[str, dict[str, Floats]] = {DRAM: {}, SPM: {}, RF: {}, SPATIAL: {}}
        for group, row, choice in zip(
            self._tables.groups, rows, outer.choices[:, place], strict=True
        ):
            p, d, _ = group.outer
            for number, loop in enumerate(group.loops):
                for slot, table, at in (
                    (DRAM, d, choice),
                    (SPM, p, choice),
                    (RF, group.r, row),
                    (SPATIAL, group.s, row),
                ):
                    factors[slot][loop] = table[number, at].astype(float)
        layer, orders, price = (
            self._design.layer,
            self._design.orders,
            self._design.pricing(factors, self._numbers),
        )
        levels = (
            [reuse(layer, factors[level], order, NUMPY) for order in orders[level]]
            for level in (SPM, DRAM)
        )
        known = [price(*pair)[0] for pair in product(*levels)]
        return self._confirmed(
            np.array([self._corners.least(each, each) for each in known]), known, factors, limit
        )

    def _confirmed(
        self,
        values: Floats,
        known: Sequence[Mapping[str, Floats]],
        factors: Mapping[str, Mapping[str, Floats]],
        limit: float,
    ) -> Configuration | None:
        """The best of mappings by pair of orders: the exact reference decides among those that
        floats cannot tell apart."""
        best, least, chosen = limit, None, None
        orders = len(self._design.orders[DRAM])
        names = {
            part
            for name in self._problem.used_metrics
            for part in (("energy", "latency") if name == "edp" else (name,))
        }
        seen = set()
        for place in np.argsort(values, axis=None, kind="stable"):
            pair, entry = divmod(int(place), values.shape[1])
            if values[pair, entry] >= best + 4 * ROUNDING * abs(best):
                break
            numbers = tuple(float(known[pair][name][entry]) for name in sorted(names))
            if max(numbers, default=0.0) < self._exact:  # the same value
                if numbers in seen:
                    continue
                seen.add(numbers)
            choice = {
                f"{loop}.{slot}": int(column[entry])
                for slot, loops in factors.items()
                for loop, column in loops.items()
            }
            choice |= {f"order.{SPM}": pair // orders + 1, f"order.{DRAM}": pair % orders + 1}
            configuration = Configuration(choice)
            value = self._problem.feasible_value(configuration)
            if value is not None and value < (least if least is not None else value + 1):
                least, chosen = value, configuration
                best = min(best, float(value))
        return chosen
