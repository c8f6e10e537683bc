"""Lines on words that a command does not take, and what was meant by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.formulations.families import QUESTIONS

#: How near an option's name must be to be what was meant.
NEAR = 0.7

#: Longest name of a file that is looked for (characters).
MOST = 200

#: What devices have, by words that stand for it.
OF_PLATFORMS = frozenset({"clock", "frequency", "freq", "mhz", "clock-mhz"})


def of_missing(name: str, allowed: str, words: Iterable[str]) -> InputError:
    """The line on what is missing; a word that is a file may have been meant for it.

    Parameters
    ----------
    name : str
        The option, or the argument.
    allowed : str
        Words on what it may be.
    words : iterable of str
        All words of the command line.
    """
    meant = next((w for w in words if not w.startswith("-") and Path(w[:MOST]).exists()), "")
    hint = f"; did you mean {name} {meant}?" if meant and name.startswith("--") else ""
    return InputError(f"{name} is missing; allowed: {allowed}{hint}")


def of_command(name: str, commands: Mapping[str, Any]) -> InputError | None:
    """The line on a command that is none, but an option of others; None where it is neither."""
    option = f"--{name}"
    having = [own for own, each in commands.items() if any(option in p.opts for p in each.params)]
    if not having:
        return None
    several = ", ".join(having)
    return InputError(f"No such command '{name}'; {option} is an option of {several}")


def of_strays(error: Any, parameters: Iterable[Any], command: str, takes: str) -> InputError | None:
    """The line on words that a command does not take; None where the error is another.

    Parameters
    ----------
    error : Exception
        The error that a parser of words made.
    parameters : iterable
        What the command takes.
    command : str
        The command's name.
    takes : str
        Words on its first argument; empty if it has none.
    """
    if hasattr(error, "option_name") and type(error).__name__ != "NoSuchOption":
        return None  # the option is known, its value is missing or too much
    known = {parameter.name: parameter for parameter in parameters}
    option = str(getattr(error, "option_name", ""))
    name, value = option.lstrip("-"), ""
    message = str(getattr(error, "message", error))
    if words := re.search(r"extra argument.*\((\w+)=(\S+?)[ )]", message):
        name, value = words[1], words[2]
    if takes and name in ("s", "sizes") and "sizes" not in known:
        return InputError(
            f"No such option: {option or name}; sizes are for ithaca solve, whose answer -o FILE "
            f"keeps; {command} takes {takes}"
        )
    meant = "sizes" if value else "limit"
    measured = any(name in question.metrics for question in QUESTIONS.values())
    if name and meant in known and (measured or value):
        meant = "limit" if measured else meant
        line = " ".join(message.split()).rstrip(".")
        return InputError(
            f"{line}; did you mean --{meant} {name}={value or 'VALUE'}? Several are joined by "
            "commas"
        )
    if not option:
        return None
    if name in OF_PLATFORMS and "platform" in known:
        hint = "; a platform states its clock (clock_mhz): --platform FILE, a copy with yours"
    else:
        near = _near(name, [spelled for each in known.values() for spelled in each.opts])
        hint = f"; did you mean {near}?" if near else f"; ithaca {command} --help shows them"
    return InputError(f"No such option: {option}{hint}")


def _near(name: str, options: Iterable[str]) -> str:
    """The option that a word begins, or is nearest to; empty if none is near."""
    names = {option.lstrip("-"): option for option in options if option.startswith("--")}
    begun = [own for own in names if len(name) > 1 and own.startswith(name)]
    near = begun or get_close_matches(name, names, 1, NEAR)
    return names[near[0]] if near else ""
