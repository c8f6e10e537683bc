"""Widths of values: the share of a level's word that a value of a tensor takes.

A tensor without a format of its own takes a word of every level. Of others as many values lie in a
word as fit it whole, and a wider one takes several words. Bits that a block of values shares take
what they do of words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import Any

from ithaca.formulations.formats import number_format
from ithaca.plugins.hierarchies.formulations.architecture import Level
from ithaca.workloads.nest import LoopNest

#: Widest integers: nothing here multiplies them.
MAX_BITS = 64

_INTEGER = re.compile(r"int([1-9][0-9]?)")


@dataclass(frozen=True, slots=True)
class Units:
    """The least units that words of a level, and values in it, are whole numbers of."""

    word: int
    """Units of a word."""
    values: Mapping[str, int]
    """Units of a value by tensor."""

    @property
    def plain(self) -> bool:
        """Whether every value takes a word."""
        return self.word == 1 and set(self.values.values()) <= {1}

    def share(self, tensor: str) -> Fraction:
        """Words that a value takes on average."""
        return Fraction(self.values[tensor], self.word)

    def words(self, tensor: str, values: Any) -> Any:
        """Words that hold so many values: a number, or an array of whole ones."""
        weight = self.values[tensor]
        return values if weight == self.word else -(-values * weight // self.word)


def _share(name: str, what: str, word: int) -> Fraction:
    """Words of so many bits that a value of a format takes on average."""
    match = _INTEGER.fullmatch(name)
    if match is not None and int(match[1]) <= MAX_BITS:
        bits, shared = int(match[1]), Fraction(0)
    else:
        form = number_format(name, what)
        bits, shared = form.bits, form.word_bits - form.bits
    own = Fraction(1, word // bits) if bits <= word else Fraction(ceil(Fraction(bits, word)))
    return own + shared / word


def units(level: Level, nest: LoopNest) -> Units:
    """The units of a level for a nest: words where each value takes one.

    Raises `InputError` if a format is unknown.
    """
    shares = dict.fromkeys((access.tensor for access in nest.accesses), Fraction(1))
    for tensor, name in nest.formats:
        shares[tensor] = _share(name, f"format of {tensor}", level.word_bits)
    word = lcm(*(share.denominator for share in shares.values()))
    return Units(word, {tensor: int(share * word) for tensor, share in shares.items()})
