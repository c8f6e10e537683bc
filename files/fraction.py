"""The exact rational number in which all proofs are made: `Fraction`.

That of quicktions, a compiled port of the standard library's with the same behaviour: it equals,
hashes and mixes with `fractions.Fraction`, and computes five to nine times as fast. Type checkers
see the standard library's. Callers may hand in either: `isinstance` is asked of `FRACTIONS`.
"""

from __future__ import annotations

import fractions
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

    FRACTIONS: tuple[type[Fraction], ...]
    RATIONALS: tuple[type[int], type[Fraction]]
else:
    from quicktions import Fraction

    #: Classes of fractions.
    FRACTIONS = (Fraction, fractions.Fraction)
    #: Classes of exact numbers.
    RATIONALS = (int, *FRACTIONS)

__all__ = ["FRACTIONS", "RATIONALS", "Fraction"]
