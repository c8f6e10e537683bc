"""Directions of objectives: metrics of which less is better are minimised, others maximised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from ithaca.files.words import split_values
from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.monotonicity import POSITIVE, trends
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.design import Metric

#: The negative of one thing, whose parentheses are closed only in the end.
_NEGATIVE = re.compile(r"\s*-(\(((?:[^()]|\([^()]*\))*)\)|[A-Za-z_][\w.]*)\s*").fullmatch

_Value = TypeVar("_Value", Fraction, Fraction | None)


def goal(texts: Sequence[str], between: str = ", ") -> str:
    """Objectives in words, the negative of one as what is maximised; with a comma between them they
    are in order."""
    names = [name_asked(text) for text in texts]
    if names == list(texts):
        return f"minimising {between.join(texts)}"
    pairs = zip(texts, names, strict=True)
    join = ", then " if between == "," else between
    return join.join(f"m{'in' if t == n else 'ax'}imising {n.strip()}" for t, n in pairs)


def name_asked(text: str) -> str:
    """The name of an objective, or of objectives in order; of a negative what is maximised."""
    parts = split_values(text)
    if len(parts) > 1:
        return ",".join(map(name_asked, parts))
    return no[2] or no[1] if (no := _NEGATIVE(text)) else text


def as_asked(text: str, value: _Value) -> tuple[str, _Value]:
    """An objective with a value of it; of the negative of something that, with its own value."""
    return name_asked(text), -value if value is not None and _grows(text) else value


def bound_as_asked(text: str, bound: _Value) -> tuple[str, _Value]:
    """The name of a bound of an objective, lower or upper, with its value as asked."""
    return f"{'upp' if _grows(text) else 'low'}er bound", as_asked(text, bound)[1]


def _grows(text: str) -> bool:
    """Whether an objective, the first one of several, is the negative of something."""
    return bool(_NEGATIVE(split_values(text)[0]))


def to_minimise(text: str, known: Mapping[str, Metric]) -> str:
    """An objective, or the negative of one that grows with all of which more is better, and falls
    with all else: a minimum of it would be the worst. An expression over one metric alone, such as
    ``1*pes``, is as it is written.

    Parameters
    ----------
    text : str
        The objective.
    known : mapping of str to Metric
        Metrics by name.
    """
    expression = maximised(text, known)
    if expression is None or (len(expression.symbols) == 1 and text.strip() not in known):
        return text
    return f"-{text.strip()}" if isinstance(expression, Symbol) else f"-({text.strip()})"


def maximised(text: str, known: Mapping[str, Metric]) -> Expression | None:
    """The expression of a text that grows with all of which more is better, and falls with all
    else; None of others."""
    most = {name for name, metric in known.items() if metric.most}
    if not most & set(re.findall(r"[\w.]+", text)) or text.strip().startswith("sum("):
        return None
    expression = parse_expression(text, where="--objective", allowed=None)
    symbols = expression.symbols
    moves = trends(expression, dict.fromkeys(symbols, POSITIVE))
    if any(moves.get(Symbol(name), 0) != (1 if name in most else -1) for name in symbols):
        return None
    return expression
