"""Legal and inferred data packing factors (DESIGN.md §5.5 and §6).

All functions work on integer arrays: one entry per candidate row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic.systolic_array import Packing

#: The published estimator caps packs in words of its only data type, fp32.
PUBLISHED_WORD_BYTES = 4


def pack_options(packing: Packing, data: DataType) -> NDArray[np.int64]:
    """Every power of two that can be a legal pack of some row (words)."""
    widest = max(packing.max_bytes // data.bytes, data.max_simd)
    return 2 ** np.arange(widest.bit_length(), dtype=np.int64)


def pack_is_legal(
    pack: NDArray[np.int64], last: NDArray[np.int64], multiple: NDArray[np.int64], packing: Packing, data: DataType
) -> NDArray[np.bool_]:
    """Whether a power of two is a legal pack: a multiple, dividing the last dimension, not too wide."""
    cap = np.maximum(packing.max_bytes // data.bytes, multiple)
    legal: NDArray[np.bool_] = (pack % multiple == 0) & (last % pack == 0) & (pack <= cap)
    return legal


def inferred_pack(
    last: NDArray[np.int64], multiple: NDArray[np.int64], packing: Packing
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The pack the published estimator infers, and whether it accepts the candidate.

    It takes the largest multiple of the lower bound that divides
    ``max(min(last, cap), lower bound)``, and rejects the candidate unless that is a power of two.
    """
    target = np.maximum(np.minimum(last, packing.max_bytes // PUBLISHED_WORD_BYTES), multiple)
    legal = (target % multiple == 0) & (target & (target - 1) == 0)
    return target, legal
