"""Documents that pydantic checks: kernel, network and platform files."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ithaca.workloads.reading import refuse_invalid

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
