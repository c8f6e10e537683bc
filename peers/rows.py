"""The legal rows of one axis, and the one nearest to what is wanted: many at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class NestedRows:
    """Rows of columns, searched column by column.

    The nearest row has, of the values that its first column takes, the largest that does not exceed the one wanted, or
    the smallest if all exceed it; then so for the second column among the rows that are left, and so on. This is the
    rule of `exports.seeds.parameters`, for arrays of wishes.

    Parameters
    ----------
    columns : sequence of array, shape (rows,)
        The rows; equal ones count once.
    """

    def __init__(self, columns: Sequence[Integers]) -> None:
        self.rows: Integers = np.unique(np.stack(columns), axis=1)
        self._radix = int(self.rows.max(initial=0)) + 1
        self._keys: list[Integers] = []
        self._first: list[Integers] = []
        prefix = np.zeros(self.rows.shape[1], dtype=np.int64)
        for column in self.rows:
            keys, inverse = np.unique(prefix * self._radix + column, return_inverse=True)
            self._keys.append(keys)
            self._first.append(np.searchsorted(keys, np.arange(prefix.max(initial=0) + 1) * self._radix))
            prefix = inverse.reshape(-1)

    def nearest(self, wanted: Integers) -> Integers:
        """The nearest rows.

        Parameters
        ----------
        wanted : array, shape (columns, wishes)
            Wanted values, none negative.

        Returns
        -------
        array, shape (columns, wishes)
            The rows.
        """
        prefix = np.zeros(wanted.shape[1], dtype=np.int64)
        for keys, first, values in zip(self._keys, self._first, wanted, strict=True):
            key = prefix * self._radix + np.minimum(values, self._radix - 1)
            prefix = np.maximum(np.searchsorted(keys, key, side="right") - 1, first[prefix])
        return self.rows[:, prefix]
