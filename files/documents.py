"""Kernel, network and platform files: found by name or path, and checked by pydantic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from ithaca.files.numbers import json_number
from ithaca.files.reading import location, packaged_names, packaged_text, parse_json, read_text
from ithaca.files.yaml_documents import MAX_DEPTH, parse_yaml

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
        from ithaca.files.faults import MAX_ERRORS, first_of_many, refusal

        if error.error_count() > MAX_ERRORS:
            raise first_of_many(where, error.error_count(), model, document, context) from None
        places = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
        if unread is None or len(places) < error.error_count():
            raise refusal(where, error, model, document) from None
        unread += [location(place) for place in places]
        return validated(model, _without(document, places), where, context)


def _without(document: Any, places: Collection[Sequence[str | int]]) -> Any:
    """A document without the values at some places."""
    rest = deepcopy(document)
    for *path, name in places:
        part = rest
        for step in path:
            part = part[step]
        del part[name]
    return rest


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
