"""Commands that call the function of their name and tell what it answers, no more."""

from __future__ import annotations

from collections.abc import Callable

import ithaca
from ithaca.commands.api.answers import Result
from ithaca.commands.conclusion import Told, conclude_result
from ithaca.commands.outcome import nothing_found, say
from ithaca.commands.typed import calls
from ithaca.files.errors import NothingFoundError


def _result() -> Callable[..., None]:
    def command(ask: Callable[..., Result], *, told: Told) -> None:
        """Tell a result."""
        conclude_result(ask(), told)

    return command


def _line() -> Callable[..., None]:
    def command(ask: Callable[..., str]) -> None:
        """Tell what was written."""
        try:
            line = ask()
        except NothingFoundError as why:
            nothing_found(str(why))
        say(line)

    return command


PLAIN = {"solve": _result, "refine": _result, "export": _line, "seed": _line}


def plain(name: str) -> Callable[..., None]:
    """The command of a name."""
    command = calls(getattr(ithaca, name))(PLAIN[name]())
    command.__name__ = name
    return command
