"""Packages in the simulated array: blocks of a sparse tensor as values and the bits of their
places, by which a PE selects what they are multiplied by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Integers
from ithaca.plugins.rtl.formulations.carrying import Words
from ithaca.workloads.sparsity import BlockSparsity


def emptied(sparse: BlockSparsity, tensor: NDArray[Any], seed: int) -> NDArray[Any]:
    """A tensor with zeros at random places of its blocks.

    Parameters
    ----------
    sparse : BlockSparsity
        Places and values of a block.
    tensor : numpy.ndarray
        The tensor, whose last axis consists of whole blocks.
    seed : int
        Of the random places.
    """
    blocks = tensor.reshape(-1, sparse.block)
    order = np.random.default_rng(seed).random(blocks.shape).argsort(axis=1)
    return np.where(order < sparse.values, blocks, 0).reshape(tensor.shape)


@dataclass(frozen=True, slots=True)
class Packages:
    """Packages of a tensor: each is as many numbers as it has values, and one for its bits."""

    sparse: BlockSparsity
    """The block sparsity."""

    def packed(self, words: Words) -> Words:
        """Rows of whole blocks as rows of packages. Bits are as many as values: where a block has
        fewer that are not zero, zeros are values, too."""
        block, values = self.sparse.block, self.sparse.values
        blocks = words.reshape(-1, block)
        first = np.argsort(blocks == 0, axis=1, kind="stable")[:, :values]
        places = np.sort(first, axis=1)
        bits = (1 << places).sum(axis=1, keepdims=True).astype(words.dtype)
        packages = np.concatenate([np.take_along_axis(blocks, places, 1), bits], axis=1)
        return packages.reshape(len(words), -1)

    def places(self, addresses: Integers) -> Integers:
        """Addresses of the numbers of packages, by those of all places of their blocks."""
        each = self.sparse.values + 1
        first = addresses[:, :: self.sparse.block] // self.sparse.block * each
        return np.add.outer(first, np.arange(each)).reshape(len(addresses), -1)

    def values(self, words: Words) -> Words:
        """The values of rows of packages."""
        return self._packages(words)[:, :, :-1].reshape(len(words), -1)

    def selected(self, words: Words, others: Words) -> Words:
        """The words of another tensor that the bits of packages select.

        Parameters
        ----------
        words : Words
            A row of packages for each turn.
        others : Words
            As many rows of another tensor: a word for each place of the blocks, or one for all.
        """
        if others.shape[1] == 1:
            return others
        bits = self._packages(words)[:, :, -1:].astype(np.int64) >> np.arange(self.sparse.block)
        places = np.nonzero((bits & 1).reshape(len(words), -1))[1].reshape(len(words), -1)
        return np.take_along_axis(others, places, 1)

    def _packages(self, words: Words) -> Words:
        return words.reshape(len(words), -1, self.sparse.values + 1)
