"""Models of dataclasses: documents that state the fields of data, validated from them (by their
attributes) and read back."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, create_model

from ithaca.formulations.schema import Document, Positive
from ithaca.workloads.nest import Sizes


def _plain(value: Any) -> Any:
    """A value with its tuples, at any depth, as lists."""
    return [*map(_plain, value)] if isinstance(value, tuple) else value


#: Pairs that documents state as a mapping, other tuples, and sets.
PAIRS = BeforeValidator(lambda own: dict(own) if isinstance(own, tuple) else own)
LISTED = BeforeValidator(_plain)
SORTED = BeforeValidator(lambda own: sorted(own) if isinstance(own, frozenset) else own)

#: Types of what documents cannot hold as it is.
_STATED: Any = {
    Fraction: Positive,
    Fraction | None: Positive | None,
    frozenset[str] | None: Annotated[list[str] | None, SORTED],
    Sizes: Annotated[dict[str, int], PAIRS],
    tuple[tuple[str, str], ...]: Annotated[list[list[str]], LISTED],
    tuple[tuple[str, str, str], ...]: Annotated[list[list[str]], LISTED],
    tuple[str, ...]: Annotated[list[str], LISTED],
}

T = TypeVar("T")

_hints = cache(get_type_hints)


def model_of(kind: Any, /, **own: Any) -> Any:
    """The model of a dataclass: its fields, with their defaults.

    Parameters
    ----------
    kind : type
        The dataclass.
    **own : tuple, optional
        Type and default of fields that are stated otherwise; None: not at all.
    """
    hints = _hints(kind)
    inherited: dict[str, Any] = {}
    for f in fields(kind):
        default: Any = ... if f.default is MISSING else f.default
        if default == ():
            default = {} if hints[f.name] == Sizes else []
        inherited[f.name] = _STATED.get(hints[f.name], hints[f.name]), default
    known: Any = {name: field for name, field in (inherited | own).items() if field is not None}
    return create_model(f"{kind.__name__}Document", __base__=Document, **known)


def built(kind: type[T], read: Any) -> T:
    """The data that a model of a dataclass states. An `InputError` says what contradicts itself."""
    return cast("T", _built(kind, read))


def _built(kind: Any, read: Any) -> Any:
    if isinstance(read, BaseModel):
        kind = next(each for each in (kind, *get_args(kind)) if is_dataclass(each))
        return kind(**{name: _built(_hints(kind)[name], own) for name, own in read})
    if isinstance(read, dict):
        key, value = get_args(get_args(kind)[0])[:2]
        return tuple((key(name), _built(value, own)) for name, own in read.items())
    if not isinstance(read, list):
        return read
    if get_origin(kind) is not tuple:  # a set, or none
        return frozenset(read)
    return tuple(_built(get_args(kind)[0], own) for own in read)
