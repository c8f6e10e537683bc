"""Workloads that commands of their own take."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.registry import Registry

#: Tests for what commands of their own take, by the name of these.
ELSEWHERE: Registry[Callable[[object], bool]] = Registry("workloads elsewhere")


def check_elsewhere(source: str) -> None:
    """Refuse, where a loop nest is wanted, what another command takes."""
    for name, takes in ELSEWHERE.items():
        if takes(source):
            line = f"workload {quoted(source)} is a {name}; allowed here: a loop nest"
            raise InputError(f"{line} (`{name}` takes it)") from None
