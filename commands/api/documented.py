"""Docstrings and messages of functions, which Python says in its own words: keywords for options,
functions for commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Any, get_args

#: A list in a message, a whole command, whose options stay, or an option.
_OPTION = re.compile(r"ithaca list [a-z]+(?=[),;]|$)|ithaca [a-z]+ [^;]*|--[a-z][a-z-]*")
#: A list that a message names, which is a function in Python.
_LIST = re.compile(r"^ithaca list (\w+)$")


#: Commands named in help and docstrings, which are functions in Python.
_COMMAND = re.compile(r"`?\bithaca (list )?([a-z]+)\b(?: --[a-z]+(?: [a-z]+)?)?`?")

#: What keywords are that no option is named like.
EXTENTS = "Extents of loops, and parameters, by name: i=1024."

#: The keyword of all that search, and what it is.
PROGRESS = "progress"

HEARD = (
    "Called with a SearchProgress (doing, value, lower_bound, seconds, done, total) at each new "
    "incumbent and now and then; a true answer, or an error, ends the search as Ctrl-C does: the "
    "answer is what was found, with its bound."
)


def in_keywords(text: str, names: Mapping[str, str]) -> str:
    """A message with keywords in place of options; ``names`` has those of each spelling."""
    return _OPTION.sub(lambda match: _keyword(match[0], names), text)


def _keyword(word: str, names: Mapping[str, str]) -> str:
    if word.startswith("ithaca"):
        return _LIST.sub(r"ithaca.list_\1()", word)
    return names.get(word, word[2:].replace("-", "_"))


def in_python(text: str, names: Mapping[str, str]) -> str:
    """Words on options and commands as words on keywords and functions."""
    text = _COMMAND.sub(lambda match: f"`ithaca.{'list_' * bool(match[1])}{match[2]}`", text)
    return in_keywords(text, names)


def type_text(kind: Any) -> str:
    """A type as people write it, without the modules of its parts."""
    text = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
    return re.sub(r"(?:\b\w+\.)+(\w+)", r"\1", text).replace("NoneType", "None")


def documented(
    text: str, flat: Signature, helps: Mapping[str, str], names: Mapping[str, str]
) -> str:
    """A docstring with the parameters, and what the options' help says of them, before its
    examples.

    Parameters
    ----------
    text : str
        The docstring.
    flat : Signature
        The signature.
    helps : mapping of str to str
        The help of each option, by name.
    names : mapping of str to str
        The names of options, by their spelling.
    """
    lines = ["", "Parameters", "----------"]
    for parameter in flat.parameters.values():
        stars = "**" if parameter.kind is Parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is Parameter.empty else f", default {parameter.default!r}"
        if parameter.name in helps or stars or parameter.name == PROGRESS:
            lines.append(f"{stars}{parameter.name} : {type_text(parameter.annotation)}{default}")
            meaning = helps.get(parameter.name, HEARD if not stars else EXTENTS)
            lines.append(f"    {in_python(meaning, names)}")
    text, heading, examples = text.partition("\n\nExamples\n")
    text = in_python(text, names)
    return "\n".join([text, *(lines if len(lines) > 3 else [])]) + heading + examples
