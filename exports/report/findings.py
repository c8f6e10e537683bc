"""What limits the configuration and what to change first, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.exports.report.blocks import Section, Statements
from ithaca.formulations.systolic.metrics import METRICS


def findings(statements: Sequence[str]) -> Section:
    """Statements such as ``Limit dsp: …`` under their terms; the words of ``ithaca explain``.

    Parameters
    ----------
    statements : sequence of str
        Each a term, a colon and what is stated of it.
    """
    entries: dict[str, list[str]] = {}
    for statement in statements:
        term, _, said = statement.partition(": ")
        entries.setdefault(term, []).append(_sentence(said))
    listed = tuple((term, tuple(said)) for term, said in entries.items() if term != "Result")
    return Section("findings", "What limits it, and what to change first", (Statements(listed),))


def _sentence(text: str) -> str:
    """A statement with a capital letter, unless it begins with a name."""
    first = text.partition(" ")[0]
    return f"{text[:1].upper()}{text[1:]}" if first.isalpha() and first not in METRICS else text
