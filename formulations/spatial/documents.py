"""Architectures and constraints in documents."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError

from ithaca.files.messages import quoted
from ithaca.formulations.data_models import LISTED, PAIRS, SORTED, model_of
from ithaca.formulations.schema import Positive
from ithaca.formulations.spatial.architecture import (
    Architecture,
    Bursts,
    Compute,
    Level,
    OperandNetworks,
    Tensorized,
    TensorUnit,
)
from ithaca.formulations.spatial.constraints import Constraints, FactorRange
from ithaca.formulations.spatial.sparse.parts import Sparsity


def _words(text: str) -> str:
    if not re.fullmatch("[0-9]{1,12}", text):
        raise ValueError("a number of words")
    return text


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


_list: Any = list  # of models that are made here
_dict: Any = dict
_Words = Annotated[str, BeforeValidator(str), AfterValidator(_words)]
Sides = Annotated[list[str], LISTED, Field(min_length=1, max_length=2)]
LevelDocument = model_of(Level)
ComputeDocument = model_of(Compute)
BurstsDocument = model_of(
    Bursts,
    energies=(
        Annotated[dict[str, Annotated[dict[_Words, Positive], PAIRS]], PAIRS],
        {},
    ),
)
UnitDocument = model_of(TensorUnit)
TensorizedDocument = model_of(
    Tensorized,
    dataflows=(Annotated[dict[str, Sides], PAIRS], ...),
    units=(Annotated[_dict[str, UnitDocument], PAIRS], {}),
)
NetworkDocument = model_of(OperandNetworks)
_Unstated = Annotated[str, Field(exclude=True)]  # earlier versions did


class ArchitectureDocument(
    model_of(  # type: ignore[misc]
        Architecture,
        description=(_Unstated, ""),
        source=(_Unstated, ""),
        sparsity=(Annotated[Sparsity | None, BeforeValidator(_sparsity)], None),
        sparse=(Annotated[list[str], LISTED], []),
        unread=(Annotated[list[str], LISTED, Field(exclude=True)], []),
        levels=(Annotated[_list[LevelDocument], LISTED], ...),
        compute=(ComputeDocument, ...),
        bursts=(BurstsDocument | None, None),
        tensorized=(TensorizedDocument | None, None),
        network=(NetworkDocument | None, None),
    )
):
    """An architecture."""


FactorDocument = model_of(FactorRange, kind=(Literal["temporal", "spatial"], ...), low=(int, ...))
_Direction = Annotated[list[str], Field(min_length=3, max_length=3)]
_Named = Annotated[dict[str, Annotated[list[str], LISTED, SORTED]], PAIRS]


class ConstraintsDocument(
    model_of(  # type: ignore[misc]
        Constraints,
        factors=(Annotated[_list[FactorDocument], LISTED], []),
        orders=(_Named, {}),
        keep=(_Named, {}),
        bypass=(_Named, {}),
        directions=(Annotated[list[_Direction], LISTED], []),
        where=None,
        unread=None,
    )
):
    """What mappings are restricted to."""
