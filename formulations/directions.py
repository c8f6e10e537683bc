"""Directions of objectives: metrics of which less is better are minimised, others maximised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.monotonicity import POSITIVE, trends
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.design import Metric

#: The negative of one thing, whose parentheses are closed only in the end.
_NEGATIVE = re.compile(r"\s*-(\((?:[^()]|\([^()]*\))*\)|[A-Za-z_][\w.]*)\s*").fullmatch


def goal(texts: Sequence[str], between: str = ", ") -> str:
    """Objectives in words, the negative of one as what is maximised."""
    negative = [_NEGATIVE(text) for text in texts]
    if not any(negative):
        return f"minimising {between.join(texts)}"
    wanted = zip(texts, negative, strict=True)
    words = (f"maximising {no[1]}" if no else f"minimising {text.strip()}" for text, no in wanted)
    return f"{', then '.join(words)}, as {between.join(texts)} minimised"


def as_asked(text: str, value: Fraction) -> tuple[str, Fraction]:
    """An objective with a value of it; of the negative of something that, with its own value."""
    return (no[1], -value) if (no := _NEGATIVE(text)) else (text, value)


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
