"""Options that change the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ithaca.files.messages import errors_at
from ithaca.files.words import parse_choice, parse_counts, parse_integer
from ithaca.formulations.machine import LETTERS, REGIMES, Machine, Sums


def changed_machine(machine: Machine, changes: Mapping[str, Any]) -> Machine:
    """A machine with `machine_changes`."""
    with errors_at("--param"):
        return replace(machine, **changes)


def machine_changes(
    regime: str | None = None,
    param: Mapping[str, int] | Sequence[str] | None = None,
    fifo_depth: int | None = None,
    sums: str | None = None,
) -> dict[str, Any]:
    """The fields of a machine that options change.

    Parameters
    ----------
    regime : str, optional
        ``rtl`` or ``hls``, whose waits are taken.
    param : mapping of str to int or sequence of str, optional
        Waits by letter (cycles), such as ``d=1``.
    fifo_depth : int, optional
        Words that a FIFO holds.
    sums : str, optional
        Whether a PE adds its neighbour's sum ``first`` or ``last``.

    Raises
    ------
    InputError
        If an option has a value that is not allowed.
    """
    changes: dict[str, Any] = {}
    if regime is not None:
        waits = REGIMES[parse_choice("--regime", regime, list(REGIMES))]
        changes |= {name: getattr(waits, name) for name in LETTERS.values()}
    for letter, count in parse_counts("--param", param, "d=1,m=8").items():
        changes[LETTERS[parse_choice("--param", letter, list(LETTERS))]] = count
    if fifo_depth is not None:
        changes["fifo_depth"] = parse_integer("--fifo-depth", fifo_depth, least=1)
    if sums is not None:
        changes["sums"] = Sums(parse_choice("--sums", sums, [each.value for each in Sums]))
    return changes
