"""The trees of a loop's options, by the levels in which these have more than one trip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.search.box_search import OptionTree
from ithaca.plugins.hierarchies.formulations.search.loop_options import Row
from ithaca.plugins.hierarchies.formulations.search.option_table import OptionTable

#: Options whose tree is always that of all, and the share of more from which on it is, too.
SMALL, WHOLE = 1 << 10, 0.8


class OptionForest:
    """The trees of a loop's options: one for all that have more than one trip in the same levels,
    which are a *kind*. The first nodes say what kinds cost at least."""

    def __init__(
        self, table: OptionTable, rows: Sequence[Row], weights: Floats, legal: Mask
    ) -> None:
        """The trees of some options.

        Parameters
        ----------
        table : OptionTable
            All options.
        rows : sequence of Row
            Their factors: the levels whose trips are among them tell kinds apart.
        weights : ndarray
            How much each factor matters.
        legal : ndarray
            Whether each option may be in a mapping.
        """
        self.table, self._legal = table, legal
        some: Integers = np.zeros(0, np.int64)
        if legal.size:
            some = np.flatnonzero(np.logical_or.reduceat(legal, table.begins))
        levels = {level for what, _, level in rows if what == "trips"}
        bits = table.patterns[some] & sum(1 << level for level in levels)
        kinds, which = np.unique(bits, return_inverse=True)
        self.kinds = int(kinds.size)
        #: The patterns of every kind.
        self._patterns = [some[np.ravel(which) == kind] for kind in range(self.kinds)]
        numbers: dict[int, int] = {}
        #: The place of every factor among those that differ: trees have no others.
        self.places = np.array(
            [numbers.setdefault(table.number(row), len(numbers)) for row in rows], np.int64
        )
        first = np.unique(self.places, return_index=True)[1]
        self._rows = [rows[place] for place in first]
        largest = np.zeros(len(numbers))
        np.maximum.at(largest, self.places, weights)
        self._weights = largest[:, None]
        low = np.array(
            [[table.least(row)[own].min() for own in self._patterns] for row in self._rows]
        ).reshape(len(numbers), self.kinds)
        none = np.zeros(self.kinds, np.int64)
        self._count = 0
        self._held: dict[str, NDArray[Any]] = {}
        self._add(OptionTree(low, low[:0], np.zeros_like(low, np.float32), none, none, none))

    def several(self, row: int) -> Mask:
        """Whether a factor is more than 1 in all options of each kind."""
        return np.asarray(self._held["low"][self.places[row], : self.kinds] > 1)

    def fixed(self, kind: int) -> Mask:
        """The steps in which no option of a kind has more than one trip or lane."""
        return np.asarray(self.table.widest[:, self._patterns[kind]].max(axis=1) <= 1)

    @remembered
    def options(self, kind: int) -> Integers:
        """The places of a kind's options."""
        places = self.table.places(self._patterns[kind])
        return places if self._legal.all() else places[self._legal[places]]

    def root(self, kind: int, kept: Mask | None = None) -> int:
        """The node of a kind's options.

        Parameters
        ----------
        kind : int
            The kind.
        kept : ndarray, optional
            Those of its options that matter, one at least; by default all.
        """
        # a small tree, or one of nearly all, is that of all, which others may share
        if kept is None or kept.size <= SMALL or np.count_nonzero(kept) > WHOLE * kept.size:
            return self._whole(kind)
        return self._grown(self.options(kind)[kept])

    @remembered
    def _whole(self, kind: int) -> int:
        return self._grown(self.options(kind))

    def _grown(self, places: Integers) -> int:
        poll()
        own = self.table.options.take(places)
        factors = np.array([own.value(row) for row in self._rows])
        tree = OptionTree.grown(factors.reshape(len(self._rows), -1), self._weights)
        root = self._count
        self._add(replace(tree, option=places[tree.option], half=tree.half + root))
        return root

    def _add(self, tree: OptionTree) -> None:
        """Add nodes; where there is no room for them, room for as many again is made."""
        begin, end = self._count, self._count + tree.size.size
        for name in ("low", "spread", "size", "option", "half"):
            own, held = getattr(tree, name), self._held.get(name)
            if held is None or held.shape[-1] < end:
                held, before = np.empty((*own.shape[:-1], 2 * end), own.dtype), held
                if before is not None:
                    held[..., :begin] = before[..., :begin]
                self._held[name] = held
            held[..., begin:end] = own
        self._count = end
        vars(self).pop("tree", None)

    @cached_property
    def tree(self) -> OptionTree:
        """All nodes, without their largest factors."""
        held = {name: own[..., : self._count] for name, own in self._held.items()}
        return OptionTree(high=held["low"][:0], **held)
