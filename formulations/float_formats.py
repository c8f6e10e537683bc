"""Floating-point numbers as hardware has them: rounded to a type, and as bits."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Integers

Floats: TypeAlias = NDArray[np.float32]


def least_normal(name: str) -> np.floating:
    """The least positive number of a type that is not subnormal."""
    return np.finfo(np.float16 if name == "fp16" else np.float32).tiny


def rounded(numbers: Floats, name: str, *, normal: bool = False) -> Floats:
    """Numbers as a type has them, in single precision; subnormal ones are zero.

    Parameters
    ----------
    numbers : ndarray
        The numbers.
    name : str
        The type.
    normal : bool, optional
        Whether none is known to be subnormal, which then is not looked for.
    """
    if name == "fp16":
        numbers = numbers.astype(np.float16).astype(np.float32)
    elif name == "bf16":
        bits = numbers.view(np.uint32)
        numbers = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    if normal:
        return numbers
    subnormal = (np.abs(numbers) < least_normal(name)) & (numbers != 0)
    if not subnormal.any():  # which takes less than to replace none
        return numbers
    return np.where(subnormal, np.copysign(np.float32(0), numbers), numbers)


def bit_patterns(numbers: Floats, name: str) -> Integers:
    """The bits of numbers of a type."""
    if name == "fp16":
        return numbers.astype(np.float16).view(np.uint16).astype(np.int64)
    return numbers.view(np.uint32).astype(np.int64) >> (16 if name == "bf16" else 0)
