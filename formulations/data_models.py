"""Models of dataclasses: documents that state the fields of data, validated from them (by their
attributes) and read back."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, create_model

from ithaca.formulations.documents import Document, Positive


def _plain(value: Any) -> Any:
    """A value with its tuples, at any depth, as lists."""
    return [*map(_plain, value)] if isinstance(value, tuple) else value


#: Pairs that documents state as a mapping, other tuples, and sets.
PAIRS = BeforeValidator(lambda own: dict(own) if isinstance(own, tuple) else own)
LISTED = BeforeValidator(_plain)
SORTED = BeforeValidator(lambda own: sorted(own) if isinstance(own, frozenset) else own)

#: Numbers that name fields.
Whole = Annotated[str, BeforeValidator(str), Field(pattern="^[0-9]{1,13}$")]


T = TypeVar("T")

_hints = cache(get_type_hints)
_dict: Any = dict  # of types that are made here
_list: Any = list


def _stated(hint: Any) -> Any:
    """The type of what documents state of values of a type, which they may not hold as they are."""
    parts = get_args(hint)
    if hint is Fraction:
        return Positive
    if is_dataclass(hint):
        return model_of(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Annotated[hint, Field(strict=False)]
    if NoneType in parts:
        return _stated(parts[0]) | None
    if get_origin(hint) is frozenset:
        return Annotated[_list[parts], SORTED]
    if get_origin(hint) is not tuple:
        return hint
    if len(pair := get_args(parts[0])) == 2 and pair[1] is not str:
        name = Whole if pair[0] is int else str
        return Annotated[_dict[name, _stated(pair[1])], PAIRS]
    return Annotated[_list[_stated(parts[0])], LISTED]


def _field(hint: Any, default: Any) -> tuple[Any, Any]:
    """The type and the default of a field that documents state as it is."""
    stated = _stated(hint)
    if default == () or is_dataclass(default):
        default = TypeAdapter(stated).validate_python(default, from_attributes=True)
    return stated, ... if default is MISSING else default


def model_of(kind: Any, /, **own: Any) -> Any:
    """The model of a dataclass: its fields, with their defaults.

    Parameters
    ----------
    kind : type
        The dataclass.
    **own : tuple, optional
        Type and default of fields that are stated otherwise; None: not at all.
    """
    known: dict[str, Any] = {
        f"{f.name}_" if hasattr(Document, f.name) else f.name: own[f.name]
        if f.name in own
        else _field(_hints(kind)[f.name], f.default)
        for f in fields(kind)
    }
    known = {name: field for name, field in known.items() if field is not None}
    return create_model(f"{kind.__name__}Document", __base__=Document, **known)


def built(kind: type[T], read: Any, /, **own: Any) -> T:
    """The data that a model of a dataclass states. An `InputError` says what contradicts itself.

    Parameters
    ----------
    kind : type
        The dataclass.
    read : object
        The document.
    **own
        Values of fields that it states otherwise, or not at all.
    """
    return cast("T", _built(kind, read, **own))


def _built(kind: Any, read: Any, /, **own: Any) -> Any:
    if isinstance(read, BaseModel):
        kind = next(each for each in (kind, *get_args(kind)) if is_dataclass(each))
        known = {name.rstrip("_"): part for name, part in read} | own
        return kind(
            **{n: each if n in own else _built(_hints(kind)[n], each) for n, each in known.items()}
        )
    if isinstance(read, dict):
        key, value = get_args(get_args(kind)[0])[:2]
        return tuple((key(name), _built(value, own)) for name, own in read.items())
    if not isinstance(read, list):
        return read
    if get_origin(kind) is not tuple:  # a set, or none
        return frozenset(read)
    return tuple(_built(get_args(kind)[0], own) for own in read)
