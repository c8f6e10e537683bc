"""Kernel, network and platform files: found by name or path, and checked by pydantic."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted
from ithaca.workloads.reading import packaged_names, packaged_text, parse_json, read_text, refuse_invalid
from ithaca.workloads.yaml_documents import parse_yaml

_Model = TypeVar("_Model", bound="Document")


class Document(BaseModel):
    """Unknown fields are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def validated(model: type[_Model], document: Any, where: object, context: Any = None) -> _Model:
    """A document, checked; ``context`` is for its validators.

    Raises `InputError`: ``where``, the field, its value and what is allowed, if it is no such document.
    """
    try:
        return model.model_validate(document, context=context)
    except ValidationError as error:
        raise refuse_invalid(where, error, model) from None


def find_document(
    what: str, name_or_path: str, package: str, max_bytes: int, files: str = "a path to a .yaml file"
) -> tuple[Any, object]:
    """The YAML document that comes with Ithaca in a package, or a user's own file; and what error lines about it start with.

    A path contains a separator or ends in .yaml, .yml or .json. Raises `InputError` if there is no such
    document; ``files`` says what else it could be.
    """
    known = packaged_names(package)
    if name_or_path in known:
        return parse_yaml(packaged_text(package, name_or_path), name_or_path), name_or_path
    if not ("/" in name_or_path or "\\" in name_or_path or name_or_path.lower().endswith((".yaml", ".yml", ".json"))):
        raise InputError(f"unknown {what} {quoted(name_or_path)}; known: {', '.join(known)}; or {files}")
    path = Path(name_or_path)
    text = read_text(path, max_bytes)
    return (parse_json if path.suffix.lower() == ".json" else parse_yaml)(text, path), path
