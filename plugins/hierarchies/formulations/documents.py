"""Architectures and constraints in documents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from ithaca.files.messages import quoted
from ithaca.formulations.data_models import LISTED, PAIRS, model_of
from ithaca.plugins.hierarchies.formulations.architecture import (
    Architecture,
    Tensorized,
)
from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.sparse.parts import Sparsity


def _sparsity(value: Any) -> Any:
    """A document's part about sparse tensors as a `Sparsity`, whose dataclasses JSON has as
    objects."""
    if not isinstance(value, dict):
        return value
    try:
        return TypeAdapter(Sparsity).validate_python(value)
    except ValidationError as error:
        (first, *_) = error.errors()
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place} is {quoted(first['input'])}: {first['msg']}") from None


Sides = Annotated[list[str], LISTED, Field(min_length=1, max_length=2)]
TensorizedDocument = model_of(Tensorized, dataflows=(Annotated[dict[str, Sides], PAIRS], ...))
_Unstated = Annotated[str, Field(exclude=True)]


class ArchitectureDocument(
    model_of(  # type: ignore[misc]
        Architecture,
        description=(_Unstated, ""),
        source=(_Unstated, ""),
        sparsity=(Annotated[Sparsity | None, BeforeValidator(_sparsity)], None),
        unread=(Annotated[list[str], LISTED, Field(exclude=True)], []),
        tensorized=(TensorizedDocument | None, None),
    )
):
    """An architecture."""


_list: Any = list  # of models that are made here
FactorDocument = model_of(FactorRange, kind=(Literal["temporal", "spatial"], ...), low=(int, ...))
_Direction = Annotated[list[str], Field(min_length=3, max_length=3)]


class ConstraintsDocument(
    model_of(  # type: ignore[misc]
        Constraints,
        factors=(Annotated[_list[FactorDocument], LISTED], []),
        directions=(Annotated[list[_Direction], LISTED], []),
        where=None,
        unread=None,
    )
):
    """Restrictions of the mappings."""
