"""Metrics of one's own: names that stand for expressions in objectives, limits and requirements."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.words import several
from ithaca.formulations.algebra.parsing import FUNCTIONS, parse_expression

#: A name in an expression; one behind a point, or before a parenthesis, is none by itself.
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w.]|\s*\()")


def parse_metrics(words: Mapping[str, object] | Sequence[str] | None) -> dict[str, str]:
    """Expressions by name from words such as ``pes=lanes.i*lanes.j``, each of which may use those
    before it.

    Raises `InputError` if one is no name with an expression.
    """
    pairs: list[tuple[str, str, str]] = (
        [(str(name), "=", str(text)) for name, text in words.items()]
        if isinstance(words, Mapping)
        else [word.partition("=") for word in several(words)]
    )
    own: dict[str, str] = {}
    for name, equals, text in ((n.strip(), e, t.strip()) for n, e, t in pairs):
        if not equals or not _WORD.fullmatch(name) or name in FUNCTIONS:
            raise InputError(
                f"--metric is {quoted(name + equals + text)}; allowed: NAME=EXPRESSION such as "
                "pes=lanes.i*lanes.j"
            )
        if name in own:
            raise InputError(f"--metric: {quoted(name)} is given twice")
        expanded = spelled_out(text, own)
        parse_expression(expanded, where="--metric", allowed=None)
        own[name] = expanded
    return own


def check_names(own: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse metrics of one's own that are named like what is known already."""
    for name in own:
        if name in known:
            raise InputError(f"--metric: {quoted(name)} is a metric already; allowed: new names")


def check_expressions(own: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse metrics of one's own that use a name which is not known: also where nothing uses
    them."""
    for name, text in own.items():
        parse_expression(text, where=f"--metric {quoted(name)}", allowed=known)


def spelled_out(words: Any, own: Mapping[str, str]) -> Any:
    """Words of an option with what names of one's own stand for; what are no words stays."""
    if isinstance(words, str):
        return _WORD.sub(lambda at: f"({own[at[0]]})" if at[0] in own else at[0], words)
    if isinstance(words, Mapping):
        return {spelled_out(name, own): value for name, value in words.items()}
    return [spelled_out(word, own) for word in words] if isinstance(words, list | tuple) else words
