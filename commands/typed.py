"""Commands as typer takes them: the options of the function that a command calls, and its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from typer import Context, Option
from typer.models import ArgumentInfo

from ithaca.commands.api.keywords import Declared, declared, gathered
from ithaca.commands.api.outputs import Written
from ithaca.commands.grouped import HELP_ALL, MANY, group_of, show_all
from ithaca.files.errors import InputError
from ithaca.files.inclusions import including
from ithaca.files.words import REPEATED

_HELP_ALL = Annotated[
    bool, Option("--help-all", is_eager=True, callback=show_all, help="Show all options and exit.")
]

#: Words for values that an option's name does not describe.
METAVARS = {
    **dict.fromkeys(("vary", "param", "memory"), "NAME=VALUE,..."),
    **dict.fromkeys(("tile", "intrinsic_sizes"), "LOOP=N,..."),
    "intrinsic": "NAME|STATEMENT",
    "objective": "EXPR",
    "objectives": "EXPR,EXPR,...",
    "limit": "NAME=VALUE,...",
    "dtype": "TYPE",
    "platform": "NAME|PATH",
    "to": "TOOL",
    **dict.fromkeys(("method", "edition", "mode"), "NAME"),
}

#: Such words of files and folders, and what is allowed for them.
_FILE = "the name of a file or folder"
PLACES = {**dict.fromkeys(("FILE", "FOLDER", "PATH"), _FILE), "NAME|PATH": "a name or a path"}

C = TypeVar("C", bound=Callable[..., object])


def calls(function: Callable[..., object]) -> Callable[[C], C]:
    """Say which function a command calls.

    The command has all its options; its first argument calls the function with those that were
    typed.
    """

    def mark(command: C) -> C:
        command.calls = function  # type: ignore[attr-defined]
        return command

    return mark


def as_typed(command: Callable[..., object]) -> Callable[..., object]:
    """A command as typer takes it. A path may not be empty, and no two files to write may be
    one."""
    called: Callable[..., object] | None = getattr(command, "calls", None)
    shared = () if called is None else declared(called)
    own = tuple(
        option for option in declared(command) if option.name not in {o.name for o in shared}
    )
    options = sorted((*shared, *own), key=lambda option: not isinstance(option.info, ArgumentInfo))
    paths = [option for option in options if _is_path(option.hint)]
    marks = ((option, mark) for option in options for mark in get_args(option.hint))
    outputs_by_name = {option.name: mark for option, mark in marks if isinstance(mark, Written)}

    @wraps(command)
    def run(typer_context: Context, **words: Any) -> object:
        words.pop(HELP_ALL, None)
        for option in options:
            _refuse_empty(option, words[option.name])
        for option in paths:
            if words[option.name] is not None:
                words[option.name] = Path(words[option.name])
        outputs = {
            option.spelled: words[option.name]
            for option in options
            if option.name in outputs_by_name and words[option.name]
        }
        _refuse_one_file(outputs)
        if command.__name__ != "refine":  # what improves a result may take its place
            inputs = (
                option
                for option in options
                if option.name not in outputs_by_name and option.spelled != "--start"
            )
            _refuse_inputs({option.spelled: words[option.name] for option in inputs}, outputs)
        for name, mark in outputs_by_name.items():
            if mark.check is not None and words[name] is not None:
                mark.check(words[name])
        typed = {
            n: w
            for n, w in words.items()
            if getattr(typer_context.get_parameter_source(n), "name", "") == "COMMANDLINE"
        }
        if called is None:
            with including(words.pop("include_from", None)):
                return command(**gathered(command, words, typed))
        ask = partial(
            called, **{option.name: typed[option.name] for option in shared if option.name in typed}
        )
        return command(
            ask, **gathered(command, {option.name: words[option.name] for option in own}, typed)
        )

    parameters = [
        Parameter("typer_context", Parameter.KEYWORD_ONLY, annotation=Context),
        *map(_parameter, options),
    ]
    if len(options) > MANY:
        parameters.append(
            Parameter(HELP_ALL, Parameter.KEYWORD_ONLY, default=False, annotation=_HELP_ALL)
        )
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _is_path(hint: Any) -> bool:
    kind = get_args(hint)[0]
    return kind is Path or Path in get_args(kind)


def _parameter(option: Declared) -> Parameter:
    """An option for typer, as words: whoever is called reads them. (Of an empty path it would make
    the current folder.)"""
    kind, default, info = get_args(option.hint)[0], option.default, option.info
    if REPEATED in get_args(option.hint) or list[str] in get_args(kind):
        kind = list[str] | None
    elif kind is not bool:
        kind = str | None if default is None else str
        default = default if default in (None, Parameter.empty) else str(default)
    info = copy(info)
    if not isinstance(info, ArgumentInfo):
        info.rich_help_panel = group_of(option)
    info.autocompletion = _completed(option.name)
    if kind is not bool:
        info.metavar = info.metavar or _metavar(option)
    return Parameter(
        option.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _metavar(option: Declared) -> str:
    """The word for an option's value where none is declared: its kind, or its name."""
    if isinstance(option.info, ArgumentInfo):
        return option.name.upper()
    kind = get_args(option.hint)[0]
    if _is_path(option.hint):
        return "FILE"
    numbers = {int, float} & {kind, *get_args(kind)}
    return "N" if numbers else METAVARS.get(option.name, option.name.upper())


def _refuse_empty(option: Declared, words: object) -> None:
    """Refuse no name of a file or folder, or an empty one among several."""
    allowed = PLACES.get(getattr(option.info, "metavar", ""), _FILE * _is_path(option.hint))
    if allowed and (words == "" or (isinstance(words, list | tuple) and "" in words)):
        raise InputError(f"{option.spelled} is empty; allowed: {allowed}")


def _refuse_inputs(read: dict[str, Any], outputs: dict[str, Path]) -> None:
    """Refuse that a file written replaces one that is read."""
    places = {
        Path(os.path.realpath(w)): w
        for w in read.values()
        if isinstance(w, str | Path) and _is_file(w)
    }
    for option, path in outputs.items():
        if Path(os.path.realpath(path)) in places:
            raise InputError(f"{option} is '{path}', which is read; allowed: another file")


def _is_file(word: str | Path) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):  # a long statement is no name of a file
        return False


def _refuse_one_file(outputs: dict[str, Path]) -> None:
    """Refuse that one file written replaces another; devices and pipes take several."""
    places: dict[Path, str] = {}
    for option, path in outputs.items():
        place = Path(os.path.realpath(path))
        if place in places and (path.is_file() or not path.exists()):
            raise InputError(f"{option} is '{path}', like {places[place]}; allowed: another file")
        places[place] = option


def _completed(option: str) -> Callable[[Any, str], list[str]]:
    """The function that completes an option; shells ask for it, commands do not."""

    def complete(ctx: Any, incomplete: str) -> list[str]:
        from ithaca.commands.completion import completed

        return completed(option)(ctx, incomplete)

    return complete
