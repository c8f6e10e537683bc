"""The trees of a loop's options, by the levels in which these have more than one trip."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.search.box_search import OptionTree


class OptionForest:
    """The trees of a loop's options: one for all that have more than one trip in the same levels,
    which are a *kind*. The first nodes say what kinds cost at least."""

    def __init__(self, factors: Floats, trips: list[int], weights: Floats) -> None:
        """The trees of some options.

        Parameters
        ----------
        factors : ndarray
            The factors of all options, shape (factors, options).
        trips : list of int
            The places of trips that may move tensors.
        weights : ndarray
            How much each factor matters.
        """
        repeats = np.array([np.ones(factors.shape[1]), *(factors[place] > 1 for place in trips)])
        kinds, self.kind = np.unique(repeats, axis=1, return_inverse=True)
        self.kind = np.ravel(self.kind)
        self.kinds = int(kinds.shape[1])
        places: dict[bytes, int] = {}
        #: The place of every factor among those that differ: trees have no others.
        self.places = np.array([places.setdefault(row.tobytes(), len(places)) for row in factors])
        factors = factors[np.unique(self.places, return_index=True)[1]]
        largest = np.zeros(len(places))
        np.maximum.at(largest, self.places, weights)
        self.factors, self._weights = factors, largest[:, None]
        lows = [factors[:, self.kind == kind].min(axis=1) for kind in range(self.kinds)]
        low = np.array(lows).T.reshape(factors.shape[0], self.kinds)
        none = np.zeros(self.kinds, np.int64)
        self._parts = [OptionTree(low, low[:0], np.zeros_like(low, np.float32), none, none, none)]
        self._count: int = self.kinds

    def several(self, row: int) -> Mask:
        """Whether a factor is more than 1 in all options of each kind."""
        return np.asarray(self._parts[0].low[self.places[row], : self.kinds] > 1)

    @remembered
    def root(self, kind: int) -> int:
        """The node of a kind's options."""
        poll()
        places = np.flatnonzero(self.kind == kind)
        tree = OptionTree.grown(self.factors[:, places], self._weights)
        root = self._count
        self._parts.append(
            replace(tree, high=tree.high[:0], option=places[tree.option], half=tree.half + root)
        )
        self._count += int(tree.size.size)
        vars(self).pop("tree", None)
        return root

    @cached_property
    def tree(self) -> OptionTree:
        """All nodes."""
        parts = self._parts
        if len(parts) > 1:
            joined = OptionTree(
                np.concatenate([part.low for part in parts], axis=1),
                parts[0].high,
                np.concatenate([part.spread for part in parts], axis=1),
                np.concatenate([part.size for part in parts]),
                np.concatenate([part.option for part in parts]),
                np.concatenate([part.half for part in parts]),
            )
            self._parts = [joined]
        return self._parts[0]
