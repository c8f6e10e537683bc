"""Faults of documents: one line that names the field, its value and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ithaca.files.errors import InputError
from ithaca.files.messages import MAX_HINTED, among, meant, quoted, refuse
from ithaca.files.reading import location

#: Most faults of a document that are listed: pydantic takes a kilobyte and microseconds for each.
MAX_ERRORS = 1_000


def first_of_many(
    where: object, count: int, model: type[BaseModel], document: Any, context: Any
) -> InputError:
    """The complaint about a document with more faults than pydantic lists in bounded time and
    memory: of the beginnings of its lists and mappings, beside fields that have a name.

    Parameters
    ----------
    where : object
        A path or name, with which the line starts.
    count : int
        The number of faults.
    model : type
        The model that refuses it.
    document : object
        The document, as YAML or JSON decodes it.
    context : object
        Passed to the model's validators.
    """
    names = _names(model)
    for most in (20, MAX_HINTED):
        try:
            model.model_validate(_beginning(document, names, most), context=context)
        except ValidationError as error:
            if error.error_count() <= MAX_ERRORS:
                return refusal(where, error, model, document)
    return refuse(where, f"has {count:,} fields or values that are not allowed; allowed: none")


def _names(model: type[BaseModel]) -> set[str]:
    """The names of fields of a model, and of all in it."""
    names, seen, stack = set[str](), list[Any](), list[Any]([model])
    while stack:
        if (kind := stack.pop()) in seen:
            continue
        seen.append(kind)
        for name, field in getattr(kind, "model_fields", {}).items():
            names.add(field.alias or name)
            stack.append(field.annotation)
        stack += get_args(kind)
    return names


def _beginning(document: Any, names: Collection[str], most: int) -> Any:
    """A document with the first few entries of every list and mapping, and all that have names."""
    if isinstance(document, list):
        return [_beginning(each, names, most) for each in document[:most]]
    if not isinstance(document, dict):
        return document
    kept = {*islice(document, most), *(names & document.keys())}
    return {key: _beginning(own, names, most) for key, own in document.items() if key in kept}


def refusal(
    where: object, error: ValidationError, model: type[BaseModel], document: Any
) -> InputError:
    """The first complaint of pydantic, but of a field that may be meant before what is missing.

    Parameters
    ----------
    where : object
        A path or name, with which the line starts.
    error : ValidationError
        All complaints.
    model : type
        The model that refuses the document; it is asked for its fields.
    document : object
        The document, as YAML or JSON decodes it.
    """
    errors = error.errors(include_url=False)
    unknown = [e for e in errors if e["type"] == "extra_forbidden"]
    hinted = unknown[:MAX_HINTED]
    near = [e for e in hinted if meant(e["loc"][-1], _fields(model, e["loc"]))]
    first = near[0] if near and errors[0]["type"] == "missing" else errors[0]
    at = location(first["loc"])
    if first["type"] == "missing" and isinstance(first["loc"][-1], int):
        return refuse(where, f"{at} is missing; allowed: a value in its place")
    if first["type"] == "missing":
        return refuse(where, f"{at} is missing; allowed: {', '.join(_fields(model, first['loc']))}")
    if first["type"] == "extra_forbidden":
        known = among(first["loc"][-1], _fields(model, first["loc"]))
        return refuse(where, f"{at} is unknown{known}")
    if isinstance(
        reason := first.get("ctx", {}).get("error"), InputError
    ):  # of a validator that says it all
        return refuse(f"{where}: {at}", reason)
    if first["type"] in ("model_type", "model_attributes_type", "dict_type"):
        return refuse(
            where, f"{at} is {quoted(first['input'])}; allowed: a mapping of names to values"
        )
    allowed = [first["msg"]]
    if not _stands(document, first["loc"]):  # the name of one of several types
        at = location(first["loc"][:-1])
        allowed = [e["msg"] for e in errors if e["loc"][:-1] == first["loc"][:-1]]
    wording = (
        r"(Input should be|(List|Dictionary) should have|Value error,) | after validation, not.*"
    )
    kinds = " or ".join(dict.fromkeys(re.sub(wording, "", text).strip() for text in allowed))
    hint = meant(first["input"], re.findall(r"'([^']*)'", first.get("ctx", {}).get("expected", "")))
    return refuse(where, f"{at} is {quoted(first['input'])}; allowed: {kinds}{hint}")


def _stands(document: Any, parts: Sequence[str | int]) -> bool:
    """Whether a document has a place."""
    for part in parts:
        try:
            document = document[part]
        except (LookupError, TypeError):
            return False
    return True


def _fields(model: type[BaseModel], parts: Sequence[str | int]) -> list[str]:
    """Names of the fields that are allowed where ``parts`` points."""
    named = False
    for part in parts[:-1]:
        if isinstance(part, int) or named:
            named = False
            continue
        kind: Any = model.model_fields[part].annotation
        while not hasattr(kind, "model_fields"):  # unwrap `X | None`, `list[X]` and `dict[str, X]`
            named = named or get_origin(kind) is dict
            kind = get_args(kind)[1 if get_origin(kind) is dict else 0]
        model = kind
    return [field.alias or name for name, field in model.model_fields.items()]
