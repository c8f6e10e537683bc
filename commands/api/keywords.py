"""Declarations of options: once, for Python and for the command line.

A function lists its options in its signature, with types, help and defaults; a parameter that is a
group (`SearchOptions`, `ProblemOptions`) stands for all options of the group. `public` makes of it
what Python calls, `ithaca.commands.typed` what typer takes.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from enum import Enum
from functools import wraps
from inspect import Parameter, Signature, signature, unwrap
from os import PathLike
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from typer import Option
from typer.models import ArgumentInfo

from ithaca.commands.api.documented import PROGRESS, documented, in_keywords, type_text
from ithaca.commands.api.live_line import Hear, heard
from ithaca.commands.api.parsing import parse_search
from ithaca.files.clock import running
from ithaca.files.errors import InputError
from ithaca.files.extras import lacking
from ithaca.files.inclusions import including
from ithaca.files.messages import meant, quoted
from ithaca.files.registry import Registry
from ithaca.files.words import REPEATED, parse_loops
from ithaca.formulations.families import QUESTION_KINDS, QUESTIONS, UNNAMED

if TYPE_CHECKING:
    from ithaca.formulations.question import Question
    from ithaca.workloads.nest import LoopNest

T = TypeVar("T")

#: Options of all functions that take files which may be templates: those with one of some others.
INCLUDE_FROM = Annotated[
    str | PathLike[str] | Sequence[str | PathLike[str]] | None,
    Option(
        "--include-from",
        metavar="FOLDER|NAME=VALUE",
        help="Folder whose files Timeloop's templates and C files may include, or a variable of "
        "templates (repeatable).",
    ),
    REPEATED,
]
_TEMPLATES = {"arch", "files", "source", "space", "workload"}

#: Options of tools to export to: dataclasses, by tool.
TOOL_OPTIONS: Registry[type[Any]] = Registry("tool options")

#: The option that says for how long the clock of a call runs.
TIME_LIMIT = "time_limit"


class StatedOptions(frozenset[str]):
    """The options that were given, such as ``--platform``."""


@dataclass(frozen=True)
class OpenOptions:
    """Options that plug-ins add to a function, but those that it has itself."""

    words: Mapping[str, Any]
    """The values of options that were passed, by name."""
    stated: Mapping[str, str]
    """All options that were given, by name, as they are written."""

    @staticmethod
    def groups() -> Iterable[type[Any]]:
        """Dataclasses of them."""
        raise NotImplementedError


class ToolOptions(OpenOptions):
    """The options of all tools to export to."""

    @staticmethod
    def groups() -> Iterable[type[Any]]:
        return TOOL_OPTIONS.values()


class FamilyOptions(OpenOptions):
    """The options of all families."""

    @staticmethod
    def groups() -> Iterable[type[Any]]:
        return (kind.options for kind in QUESTION_KINDS.values())

    def family(self, workload: object = None) -> str:
        """The family that has the workload, or whose own option was given.

        Raises `InputError` if options of another family were given, too.
        """
        known = [*QUESTION_KINDS.values()]
        taking = (name for name, each in QUESTION_KINDS.items() if each.takes(workload))
        family = next(taking, family_of_options(self.stated))
        kind = QUESTION_KINDS[family]
        for name, option in sorted(self.stated.items(), key=lambda pair: pair[1]):
            owners = [each for each in known if name in each.alone or name in each.option_names]
            if owners and kind not in owners:
                if (other := owners[0].selector) and other != option:
                    raise InputError(f"{option} goes with {other} only; allowed: with it")
                raise InputError(
                    f"{option} does not go with {kind.selector or workload}; allowed: without it, "
                    f"as it speaks of {owners[0].speaks_of}"
                )
        return family

    def kind(self, workload: object = None) -> type[Question]:
        """The questions of that family."""
        return QUESTIONS[self.family(workload)]

    def spelled_out(self, words: Any) -> Any:
        """Objectives with what metrics of one's own stand for."""
        own = self.words.get("metric")
        if not own:
            return words
        from ithaca.formulations.own_metrics import parse_metrics, spelled_out

        return spelled_out(words, parse_metrics(own))

    def nest(self, workload: Any, sizes: Mapping[str, int]) -> LoopNest:
        """The loop nest of a workload, with the loops inside PEs and of lanes, the block sparsity
        and the formats that were given."""
        nest = self.kind(workload).nest(workload, sizes)
        untiled, simd, sparse = map(self.words.get, ("untiled", "simd", "block_sparse"))
        formats = self.words.get("format") or None
        if untiled is simd is sparse is formats is None:
            return nest
        from ithaca.workloads.formats import with_formats
        from ithaca.workloads.kernel_files import with_loops, with_sparsity

        inside = () if untiled in ("none", (), []) else parse_loops(untiled, "--untiled")
        nest = with_loops(nest, inside, simd)
        return with_formats(with_sparsity(nest, sparse, "--block-sparse"), formats, "--format")

    def question(self, workload: object = None, objective: Any = None, **own: Any) -> Question:
        """The question about a workload, or about networks. Raises `InputError` if options do not
        go together, or one of them states no value.

        Parameters
        ----------
        workload : object, optional
            A workload's name, file or nest; None: networks.
        objective : str or Objective, optional
            What is minimised, if that was given.
        **own : object
            Values of fields of the question; None where one was not given.
        """
        family = self.family(workload)
        kind, option_kind = QUESTIONS[family], QUESTION_KINDS[family]
        for name in ("untiled", "simd", "block_sparse"):
            if workload is None and name in self.stated:
                raise InputError(
                    f"{self.stated[name]} is of one loop nest; allowed: without networks, whose "
                    "kernels or layers say it"
                )
        words = {name: self.words[name] for name in option_kind.option_names & self.words.keys()}
        question = kind.read(
            option_kind.options(**words), objective if "objective" in self.stated else None
        )
        return replace(
            question, **{name: value for name, value in own.items() if value is not None}
        )


def family_of_options(options: Mapping[str, str]) -> str:
    """The family whose own option was given, or that of documents that name none."""
    return next(
        (name for name, kind in QUESTION_KINDS.items() if kind.selector in options.values()),
        UNNAMED,
    )


@dataclass(frozen=True)
class Declared:
    """An option of a function."""

    name: str
    """As Python calls it."""
    hint: Any
    """Its type with what typer takes: how it is written, and help."""
    default: Any
    """`Parameter.empty` where there is none."""
    group: str
    """The parameter that has it: of its own name, or of a group."""

    @property
    def info(self) -> Any:
        """The option's spelling and help."""
        return get_args(self.hint)[1]

    @property
    def spelled(self) -> str:
        """The spelling of an option on the command line, as error messages say it."""
        if isinstance(self.info, ArgumentInfo):
            return str(self.info.metavar or self.name).upper()
        return next(
            word
            for word in map(str, (self.info.default, *(self.info.param_decls or ())))
            if word.startswith("--")
        )


def declared(function: Callable[..., object]) -> tuple[Declared, ...]:
    """The options of a function, those of its groups among them."""
    function = unwrap(function)
    hints, declarations = get_type_hints(function, include_extras=True), dict[str, list[Declared]]()
    for name, parameter in signature(function).parameters.items():
        hint = hints.get(name)
        if get_origin(hint) is Annotated and parameter.kind is not Parameter.VAR_KEYWORD:
            declarations[name] = [Declared(name, hint, parameter.default, name)]
        elif is_dataclass(hint):
            declarations[name] = [] if _is_open(hint) else _grouped(hint, name)
    for name in filter(lambda name: _is_open(hints[name]), hints):
        every = [o for own in declarations.values() for o in own]
        taken = {o.name for o in every}.union(*(map(str, o.info.param_decls or ()) for o in every))
        shared: dict[str, Declared] = {}
        for option in (o for group in hints[name].groups() for o in _grouped(group, name)):
            if not {option.name, option.spelled} & taken:
                shared.setdefault(option.name, option)
        declarations[name] = list(shared.values())
    options = [option for own in declarations.values() for option in own]
    if _TEMPLATES & {option.name for option in options}:
        options.append(Declared("include_from", INCLUDE_FROM, None, "include_from"))
    return tuple(options)


def _is_open(hint: object) -> TypeGuard[type[OpenOptions]]:
    return isinstance(hint, type) and issubclass(hint, OpenOptions)


class _Named(type):
    """A class that is known by its name alone."""

    def __instancecheck__(cls, value: object) -> bool:
        return type(value).__name__ == cls.__name__


class _Names(dict[str, Any]):
    """Names of a module, and classes that it knows to type checkers alone by their names."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or _Named(name, (), {})


def _grouped(group: Any, name: str) -> list[Declared]:
    """The options of a group."""
    known = _Names(vars(sys.modules[group.__module__]))
    hints = get_type_hints(group, localns=known, include_extras=True)
    return [Declared(each.name, hints[each.name], each.default, name) for each in fields(group)]


def gathered(
    function: Callable[..., object], words: Mapping[str, Any], names: Collection[str] | None = None
) -> dict[str, Any]:
    """The arguments of a function that options by name are: groups put together again, and which
    were given (default: all).

    Parameters
    ----------
    function : callable
        The function.
    words : mapping of str to object
        Values by the names of options.
    names : collection of str, optional
        The options that were given; by default all.
    """
    hints, left = get_type_hints(function, include_extras=True), dict(words)
    hints.pop("return", None)
    options = declared(function)
    spelled = {o.name: o.spelled for o in options if o.name in (words if names is None else names)}
    for name, hint in hints.items():
        if hint is StatedOptions:
            left[name] = StatedOptions(spelled.values())
        elif is_dataclass(hint) and isinstance(hint, type):
            named = (o.name for o in options if o.group == name)
            own = {each: left.pop(each) for each in named if each in left}
            group: Any = hint
            left[name] = group(own, spelled) if _is_open(hint) else group(**own)
    return left


def public(function: Callable[..., T]) -> Callable[..., T]:
    """A function as Python calls it: every option is a keyword, and errors name keywords."""
    options, flat = declared(function), _flat(function)
    names = {option.spelled: option.name for option in options}
    open_ended = any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in flat.parameters.values()
    )

    @wraps(function)
    def call(*values: Any, **keywords: Any) -> T:
        for name in () if open_ended else keywords.keys() - flat.parameters.keys():
            allowed = ", ".join(flat.parameters)
            raise InputError(
                f"{name} is {_in_python(keywords[name])}, which {function.__name__} "
                f"does not take; allowed: {allowed}{meant(name, flat.parameters)}"
            )
        words = flat.bind(*values, **keywords).arguments
        extents: dict[str, Any] = {}
        for name in [n for n in words if flat.parameters[n].kind is Parameter.VAR_KEYWORD]:
            extents = words.pop(name)
        for name in {PROGRESS, "before"} & words.keys():
            if (value := words[name]) is not None and not callable(value):
                raise InputError(f"{name} is {_in_python(value)}; allowed: a function")
        hear = words.pop(PROGRESS, None)
        try:
            _check_extents(extents, flat.parameters)
            for option in options:
                if option.name in words:
                    _check_type(option.name, words[option.name], get_args(option.hint)[0])
            with (
                running(parse_search(words.get(TIME_LIMIT)).time_limit),
                including(words.pop("include_from", None)),
                heard(hear),
            ):
                return function(**gathered(function, words), **extents)
        except ModuleNotFoundError as error:
            raise lacking(error) from None
        except InputError as error:
            line = error.line
            for name, value in extents.items():
                unknown = line.startswith((f"unknown loop '{name}' ", f"unknown size '{name}' "))
                if unknown and (near := meant(name, flat.parameters)):
                    what = f"{name} is {_in_python(value)}, which {function.__name__} does not take"
                    raise InputError(what + near) from None
            raise InputError(in_keywords(line, names), line) from None

    call.__signature__ = flat  # type: ignore[attr-defined]
    helps = {option.name: str(option.info.help) for option in options}
    call.__doc__ = documented(inspect.getdoc(function) or "", flat, helps, names)
    return call


def _check_type(name: str, value: object, kind: Any) -> None:
    """Refuse what is of no type that a keyword takes, or holds what is of none."""
    if not _fits(value, kind):
        raise InputError(f"{name} is {_in_python(value)}; allowed: {type_text(kind)}")


def _fits(value: object, kind: Any) -> bool:
    """Whether a value is of a type; words are read, whatever they stand for."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    known = {get_origin(each) or each: get_args(each) for each in kinds}
    if not all(isinstance(each, type) for each in known):
        return True
    if isinstance(value, bool):
        return bool in known or object in known
    if isinstance(value, str | Enum):
        return known.keys() != {bool}
    if {int, float} & known.keys() and hasattr(value, "__float__"):
        return True
    if isinstance(value, Sequence) and Sequence in known:
        return all(_fits(item, *known[Sequence]) for item in value)
    return isinstance(value, tuple(known))


def _in_python(value: object) -> str:
    """A value as Python writes it."""
    return str(value) if isinstance(value, bool | None) else quoted(value)


def _check_extents(extents: Mapping[str, object], keywords: Collection[str]) -> None:
    """Refuse what is no extent: a keyword that is written wrongly, above all."""
    for name, value in extents.items():
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            near = get_close_matches(name, keywords, n=1) or ["platform"]
            raise InputError(
                f"{name} is {_in_python(value)}; allowed: an integer, the extent of a "
                f"loop, or keywords such as {near[0]}"
            )


def _flat(function: Callable[..., object]) -> Signature:
    """The signature of a function with every option of its groups as a keyword."""
    own, options = signature(function), declared(function)
    hints, parameters = get_type_hints(function, include_extras=True), []
    for name, parameter in own.parameters.items():
        hint = hints.get(name)
        kind = Parameter.KEYWORD_ONLY if is_dataclass(hint) else parameter.kind
        if here := [option for option in options if option.group == name]:
            parameters += [_parameter(kind, option) for option in here]
        elif hint is not StatedOptions:
            plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
            parameters.append(parameter.replace(annotation=plain or Parameter.empty))
    place = len(parameters) - (parameters[-1].kind is Parameter.VAR_KEYWORD)
    if options and options[-1].name == "include_from":
        parameters.insert(place, _parameter(Parameter.KEYWORD_ONLY, options[-1]))
        place += 1
    if any(option.name == TIME_LIMIT for option in options):
        hears = Parameter(PROGRESS, Parameter.KEYWORD_ONLY, default=None, annotation=Hear | None)
        parameters.insert(place, hears)
    # what has no default comes first, and then what is given by place
    return own.replace(
        parameters=parameters, return_annotation=hints.get("return", Signature.empty)
    )


def _parameter(kind: Any, option: Declared) -> Parameter:
    return Parameter(option.name, kind, default=option.default, annotation=get_args(option.hint)[0])
