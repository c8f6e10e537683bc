"""Commands as tools: a schema of each from its options, and a call as a command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from types import NoneType
from typing import Any, get_args

from typer.models import ArgumentInfo

from ithaca.commands.api.keywords import Declared, declared
from ithaca.files.errors import InputError
from ithaca.files.messages import meant, quoted
from ithaca.files.registry import Registry
from ithaca.files.words import REPEATED

COMMANDS: Registry[Any] = Registry("commands")

#: Commands that are tools, as far as plug-ins are installed that have them.
NAMES = ("solve", "map", "network", "explain", "evaluate", "verify")

#: What each may write, to be read by another.
OUTPUT = "output"
_WRITES = {"solve", "map", "network", "evaluate"}

#: Options that no assistant may state: whom to trust, and where else to compute.
_KEPT_BACK = {"trust_results", "include_from", "scheduler"}

_OUTPUT_SCHEMA = {
    "type": "string",
    "description": "A .json file to write the whole answer to, which explain and verify read.",
}


@dataclass(frozen=True)
class Tool:
    """A command as a tool."""

    name: str
    """The command."""
    description: str
    """Its purpose."""
    options: Mapping[str, Declared]
    """Its options, by name."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        properties = {name: _schema(option) for name, option in self.options.items()}
        if self.name in _WRITES:
            properties[OUTPUT] = _OUTPUT_SCHEMA
        required = [n for n, o in self.options.items() if o.default is Parameter.empty]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def words(self, arguments: Mapping[str, Any]) -> list[str]:
        """The command line of a call.

        Raises `InputError` if an argument is none of the tool's, is of another type, or one that is
        needed is missing.
        """
        allowed = (*self.options, *((OUTPUT,) if self.name in _WRITES else ()))
        for name, value in arguments.items():
            if name not in allowed:
                raise InputError(
                    f"{name} is {quoted(value)}, which {self.name} does not take; allowed: "
                    f"{', '.join(allowed)}{meant(name, allowed)}"
                )
        words: list[str] = []
        last: list[str] = []
        for name, option in self.options.items():
            value = arguments.get(name)
            if value is None:
                if option.default is Parameter.empty:
                    raise InputError(f"{name} is missing; allowed: {option.info.help}")
                continue
            if isinstance(option.info, ArgumentInfo):
                last += _texts(name, option, value)
            elif value is True and _is_flag(option):
                words.append(option.spelled)
            elif not (value is False and _is_flag(option)):
                words += [f"{option.spelled}={text}" for text in _texts(name, option, value)]
        if (path := arguments.get(OUTPUT)) is not None:
            if not isinstance(path, str) or not path.endswith(".json"):
                raise InputError(f"{OUTPUT} is {quoted(path)}; allowed: the name of a .json file")
            words.append(f"--output={path}")
        return [self.name, *words, "--", *last]


def tools() -> dict[str, Tool]:
    """The tools, by name."""
    return {name: _tool(name) for name in NAMES if name in COMMANDS}


def _tool(name: str) -> Tool:
    function = COMMANDS[name].calls
    options = {o.name: o for o in declared(function) if o.name not in _KEPT_BACK}
    text = str(function.__doc__).partition("\n\n")[0]
    return Tool(name, " ".join(text.split()), options)


def _kinds(option: Declared) -> set[Any]:
    kind = get_args(option.hint)[0]
    return {*get_args(kind)} - {NoneType} if NoneType in get_args(kind) else {kind}


def _is_flag(option: Declared) -> bool:
    return _kinds(option) == {bool}


def _is_repeated(option: Declared) -> bool:
    return REPEATED in get_args(option.hint)


def _schema(option: Declared) -> dict[str, Any]:
    """The JSON schema of an option's values."""
    one: dict[str, Any] = {"type": _type(option)}
    if _is_repeated(option):
        one = {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "additionalProperties": {"type": ["integer", "string"]}},
            ]
        }
    help_text = option.info.help
    return one | ({"description": str(help_text)} if help_text else {})


def _type(option: Declared) -> str | list[str]:
    kinds = _kinds(option)
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer"
    return "number" if kinds <= {int, float} else ["string", "number"]


def _texts(name: str, option: Declared, value: Any) -> Iterator[str]:
    """The words of a value: several of a list, one of a mapping."""
    if isinstance(value, Mapping) and _is_repeated(option):
        yield ",".join(f"{key}={_text(name, each)}" for key, each in value.items())
    elif isinstance(value, list) and _is_repeated(option):
        for each in value:
            yield _text(name, each)
    else:
        yield _text(name, value)


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{name} is {quoted(value)}; allowed: text or a number")
    return str(value)
