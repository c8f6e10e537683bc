"""Kernel, network and platform files: found by name or path, and checked by pydantic."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from ithaca.files.errors import InputError
from ithaca.files.messages import MAX_HINTED, among, meant, quoted, refuse
from ithaca.files.numbers import json_number
from ithaca.files.reading import location, packaged_names, packaged_text, parse_json, read_text
from ithaca.files.yaml_documents import MAX_DEPTH, parse_yaml

#: Most faults of a document that are listed: pydantic takes a kilobyte and microseconds for each.
MAX_ERRORS = 1_000

_Model = TypeVar("_Model", bound=BaseModel)


class InputDocument(BaseModel):
    """Unknown fields are refused, and no value is converted to another type; names that Python
    keeps for itself end in an underscore here."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        defer_build=True,  # until one is read or written
        allow_inf_nan=False,
        alias_generator=lambda name: name.rstrip("_"),
    )


class _WithNumbers(GenerateJsonSchema):
    """Writes defaults as documents have them: numbers as numbers."""

    def encode_default(self, dft: Any) -> Any:
        own = getattr(dft, "value", dft)  # of a formula that is a number
        if isinstance(own, Fraction):
            return json_number(own)
        if isinstance(dft, InputDocument):
            return dft.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return super().encode_default(dft)


@dataclass(frozen=True)
class Alone:
    """Marks a field whose value may stand alone for a mapping with one field."""

    kind: Any
    """Types of the values."""
    field: str
    """The field."""
    json: Mapping[str, Any]
    """The JSON schema of the values."""

    def __get_pydantic_core_schema__(self, kind: Any, handler: Any) -> Any:
        def mapping(value: Any) -> Any:
            return {self.field: value} if isinstance(value, self.kind) else value

        return core_schema.no_info_before_validator_function(mapping, handler(kind))

    def __get_pydantic_json_schema__(self, known: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [handler(known), self.json]}


def schemas(models: Sequence[type[BaseModel]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The JSON schemas of models as references, and what they refer to."""
    modes = [(model, "validation") for model in models]
    references, defined = models_json_schema(modes, schema_generator=_WithNumbers)  # type: ignore[arg-type]
    return [references[model, "validation"] for model in models], defined["$defs"]


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of documents of a model."""
    schema = model.model_json_schema(schema_generator=_WithNumbers)
    return schema | {"title": model.__name__}


def validated(
    model: type[_Model],
    document: Any,
    where: object,
    context: Any = None,
    unread: list[str] | None = None,
) -> _Model:
    """A document, checked by a model of its fields.

    Parameters
    ----------
    model : type
        The model.
    document : object
        The document, as YAML or JSON decodes it.
    where : object
        A path or name, with which error lines start.
    context : object, optional
        Passed to the model's validators.
    unread : list of str, optional
        Takes the paths of unknown fields, which are then left out; else they are refused.

    Returns
    -------
    object
        An instance of the model.

    Raises
    ------
    InputError
        With ``where``, the field, its value and what is allowed, if it is no such document.
    """
    try:
        return model.model_validate(document, context=context)
    except ValidationError as error:
        if error.error_count() > MAX_ERRORS:
            raise _first_of_many(where, error.error_count(), model, document, context) from None
        places = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
        if unread is None or len(places) < error.error_count():
            raise _refusal(where, error, model, document) from None
        unread += [location(place) for place in places]
        return validated(model, _without(document, places), where, context)


def _first_of_many(
    where: object, count: int, model: type[BaseModel], document: Any, context: Any
) -> InputError:
    """The complaint about a document with more faults than pydantic lists in bounded time and
    memory: of the beginnings of its lists and mappings, beside fields that have a name."""
    names = _names(model)
    for most in (20, MAX_HINTED):
        try:
            model.model_validate(_beginning(document, names, most), context=context)
        except ValidationError as error:
            if error.error_count() <= MAX_ERRORS:
                return _refusal(where, error, model, document)
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


def _without(document: Any, places: Collection[Sequence[str | int]]) -> Any:
    """A document without the values at some places."""
    rest = deepcopy(document)
    for *path, name in places:
        part = rest
        for step in path:
            part = part[step]
        del part[name]
    return rest


def _refusal(
    where: object, error: ValidationError, model: type[BaseModel], document: Any
) -> InputError:
    """The first complaint of pydantic, but of a field that may be meant before what is missing;
    the model is asked for its fields."""
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


def find_document(
    what: str,
    name_or_path: str,
    package: str,
    max_bytes: int,
    files: str = "a path to a .yaml file",
    tags: Collection[str] = (),
    depth: int = MAX_DEPTH,
    load: Callable[[Path], Any] | None = None,
    more: Collection[str] = (),
    also: Mapping[str, str] | None = None,
) -> tuple[Any, object]:
    """The YAML document of a name that comes with Ithaca, or of a user's own file.

    Parameters
    ----------
    what : str
        The kind of document, for error lines.
    name_or_path : str
        A name, or a path, which contains a separator or ends in .yaml, .yml or .json.
    package : str
        The package of the documents that come with Ithaca.
    max_bytes : int
        The largest file to read.
    files : str, optional
        What else it could be, for error lines.
    tags : collection of str, optional
        Tags that mappings may have.
    depth : int, optional
        How deep mappings and lists may be nested.
    load : callable, optional
        Reads a user's own file; `load_document` by default.
    more : collection of str, optional
        Further names that an error line says are known.
    also : mapping of str to str, optional
        Names that others use, in lower case, and those that are meant.

    Returns
    -------
    tuple
        The document, and the name or path with which error lines about it start.

    Raises
    ------
    InputError
        If there is no such document.
    """
    known = packaged_names(package)
    if name_or_path in known:
        return parse_yaml(
            packaged_text(package, name_or_path), name_or_path, tags, depth
        ), name_or_path
    from ithaca.files.refusals import refuse_answer, unknown_name

    if not (
        "/" in name_or_path
        or "\\" in name_or_path
        or name_or_path.lower().endswith((".yaml", ".yml", ".json"))
    ):
        raise unknown_name(what, name_or_path, {*known, *more}, files, also)
    path = Path(name_or_path)
    read = load_document(path, max_bytes, tags, depth) if load is None else load(path)
    refuse_answer(read, path, f"a {what}")
    return read, path


def load_document(
    path: Path, max_bytes: int, tags: Collection[str] = (), depth: int = MAX_DEPTH
) -> Any:
    """The document of a YAML or JSON file.

    Parameters
    ----------
    path : Path
        The file; ``.json`` is read as JSON, all else as YAML.
    max_bytes : int
        Larger files are refused.
    tags : collection of str, optional
        The YAML tags that mappings may have.
    depth : int, optional
        Deeper nesting is refused.

    Raises
    ------
    InputError
        If the file cannot be read, is too large or malformed.
    """
    text = read_text(path, max_bytes)
    json = path.suffix.lower() == ".json"
    return parse_json(text, path) if json else parse_yaml(text, path, tags, depth)
