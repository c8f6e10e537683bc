"""Directed roundings of logarithms that a proof rests on, each with the argument why it is safe."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import TypeVar

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Mask

Logarithms = TypeVar("Logarithms", float, Floats)

#: Outward rounding of every derived bound of a logarithm, beside 1. Logarithms of quantities are
#: below 700, which floats hold to 2**-44; sums of exponentials have at most a few hundred terms:
#: together less than 1e-12.
LOG_MARGIN = 1e-11

#: How far a value may be from a whole number and still count as that number (relative). Ranges are
#: off by a few `LOG_MARGIN`, hundred times less; the largest quantity is 131,072, whose neighbours
#: are 7.6e-6 of it away.
WHOLE = 1e-9


def log_above(logarithm: Logarithms) -> Logarithms:
    """An upper bound of a logarithm that was derived in floats."""
    return logarithm + LOG_MARGIN


def log_below(logarithm: Logarithms) -> Logarithms:
    """A lower bound of a logarithm that was derived in floats."""
    return logarithm - LOG_MARGIN


def surely_above(logarithm: float) -> float:
    """An upper bound of a logarithm with a hundred times the room of `log_above`, for comparing
    with sums of many logarithms."""
    return logarithm + 100 * LOG_MARGIN


def log_room(room: Floats, least: Floats) -> Floats:
    """The largest growth of a sum's terms from ``least`` (logarithms) if the others leave them
    ``room``."""
    growth: Floats = (
        np.log(np.maximum(room, 0) + LOG_MARGIN) - least + LOG_MARGIN * (1 + np.abs(least))
    )
    return growth


def hull_below(offset: float) -> float:
    """The offset of a line below a curve's points, or of a constraint that repeats a range:
    logarithms of one operation."""
    return offset - 1e-12


def exceeds(low: Floats | float, high: Floats | float) -> Mask:
    """Whether a lower bound is above an upper one by more than rounding: then nothing lies
    between."""
    return np.asarray(low > np.add(high, WHOLE))


def whole_up(values: Floats | float) -> Floats:
    """The least whole numbers in ranges that begin at positive values; one just below a value
    counts as in its range."""
    whole: Floats = np.ceil(np.asarray(values) * (1 - WHOLE))
    return whole


def whole_down(values: Floats | float) -> Floats:
    """The greatest whole numbers in ranges that end at positive values; one just above a value
    counts as in its range."""
    whole: Floats = np.floor(np.asarray(values) * (1 + WHOLE))
    return whole


def exponent_up(exponents: Floats | float) -> Floats:
    """The least whole exponents in ranges that begin so; one just below counts as in its range."""
    whole: Floats = np.ceil(np.asarray(exponents) - WHOLE)
    return whole


def exponent_down(exponents: Floats | float) -> Floats:
    """The greatest whole exponents in ranges that end so; one just above counts as in its range."""
    whole: Floats = np.floor(np.asarray(exponents) + WHOLE)
    return whole


def value_above(value: float | Fraction) -> float:
    """An upper end for values that are kept as logarithms and come back with their rounding
    (`WHOLE`)."""
    return float(value) * (1 + WHOLE)


def exponential_below(logarithm: float) -> Fraction:
    """A number that the exponential of a certified logarithm is not below: `exp` errs by a few
    units in the last place."""
    return Fraction(exp(logarithm)) * (1 - Fraction(1, 2**40))
