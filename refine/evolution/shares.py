"""Shares of evolution: how often which variation makes a child."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.words import SHARES, assignments, parse_number, several


@dataclass(frozen=True, slots=True)
class Shares:
    """Probabilities of variations; the defaults are what is published, and measured for steps."""

    crossed: float = 0.6
    """Children of two parents; the others are mutated copies of one."""
    mutated: float = 0.5
    """Children of two parents that are mutated as well."""
    steps: float = 0.5
    """Mutations that are small steps; the others are as published for Odyssey."""
    factorization: float = 0.4
    """Published mutations that move a divisor (α); the others draw a factor anew."""
    loose: float = 0.3
    """Published mutations that change a quantity without a split as well."""
    drawn: float = 0.5
    """Such quantities that are drawn anew; the others make a step."""
    second: float = 0.5
    """Steps that a second loop makes, too."""


PUBLISHED = Shares()

NAMES = tuple(field.name for field in fields(Shares))


def parse_shares(words: Mapping[str, object] | Sequence[str] | None) -> Shares:
    """Shares from words such as ``factorization=0.4,steps=20%``, or by name.

    Raises `InputError` if one is unknown, or no share.
    """
    if not words:
        return PUBLISHED
    pairs = (
        [(str(name), value) for name, value in words.items()]
        if isinstance(words, Mapping)
        else assignments("--shares", several(words), "factorization=0.4")
    )
    own: dict[str, float] = {}
    for name, value in pairs:
        if name not in NAMES:
            raise InputError(f"--shares {quoted(name)} is unknown{among(name, NAMES)}")
        own[name] = parse_number(f"--shares {name}", value, units=SHARES)
        if own[name] > 1:
            raise InputError(f"--shares {name} is {quoted(str(value))}; allowed: from 0 to 1")
    return Shares(**own)
