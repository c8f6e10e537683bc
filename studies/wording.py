"""Expressions over metrics as text that `ithaca.formulations.algebra.parsing` reads back.

Studies make limits and objectives of their own; like a user's they are stated as text, which result
and store files show.
"""

from __future__ import annotations

from fractions import Fraction

from ithaca.formulations.algebra.expression import CeilingDivision, Constant, Expression, Maximum, Minimum, Product, Sum, Symbol
from ithaca.formulations.algebra.parsing import MAX_DIGITS


def wording(node: Expression) -> str:
    """The text of an expression; in parentheses wherever it is not a single name."""
    match node:
        case Symbol():
            return node.name
        case Constant():
            return f"({_number(node.value)})"
        case Sum():
            return f"({' + '.join(wording(t) for t in node.terms)})"
        case Product():
            over = [wording(b) for b, e in node.factors for _ in range(e)]
            under = "".join(f"/{wording(b)}" for b, e in node.factors for _ in range(-e))
            if node.coefficient != 1 or not over:
                over.insert(0, wording(Constant(node.coefficient)))
            return f"({'*'.join(over)}{under})"
        case CeilingDivision():
            return f"ceil({wording(node.numerator)}/{wording(node.denominator)})"
        case Maximum() | Minimum():
            name = "max" if isinstance(node, Maximum) else "min"
            return f"{name}({', '.join(wording(a) for a in node.arguments)})"
    raise TypeError(f"no text of {type(node).__name__}")


def _number(value: Fraction) -> str:
    over = ("-" if value < 0 else "") + _integer(abs(value.numerator))
    return over if value.denominator == 1 else f"{over}/{_integer(value.denominator)}"


def _integer(value: int) -> str:
    """Digits, in pieces where they are more than a text may hold at once."""
    digits = str(value)
    if len(digits) <= MAX_DIGITS:
        return digits
    low = MAX_DIGITS // 2
    return f"({_integer(int(digits[:-low]))}*1e{low} + {_integer(int(digits[-low:]))})"
