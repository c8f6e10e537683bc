"""Architectures and constraints in documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import Field, create_model

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.schema import Document, Positive
from ithaca.formulations.spatial.architecture import (
    Architecture,
    Bursts,
    Compute,
    Level,
    OperandNetworks,
    Tensorized,
    Unit,
)
from ithaca.formulations.spatial.constraints import NONE, Constraints, FactorRange

#: JSON's types of what documents cannot hold as it is.
_JSON: Mapping[Any, Any] = {
    Fraction: Positive,
    Fraction | None: Positive | None,
    frozenset[str] | None: list[str] | None,
    tuple[tuple[str, int], ...]: dict[str, int],
    tuple[tuple[str, str], ...]: list[list[str]],
    tuple[str, ...]: list[str],
}


#: Words of a level by tensor.
_BY_TENSOR = ("tensor_words", "resident")

#: Pairs of texts of an architecture.
_PAIRS = ("entries", "energy_sources")


def _model(kind: Any, **own: Any) -> Any:
    """The model of a dataclass: its fields, with their defaults."""
    hints = get_type_hints(kind)
    inherited = {
        f.name: (
            _JSON.get(hints[f.name], hints[f.name]),
            ... if f.default is MISSING else f.default,
        )
        for f in fields(kind)
    }
    return create_model(f"{kind.__name__}Document", __base__=Document, **(inherited | own))


_list: Any = list  # of models that are made here
LevelDocument = _model(Level)
ComputeDocument = _model(Compute)
BurstsDocument = _model(Bursts, energies=(dict[str, dict[str, Positive]], {}))
_Sides = Annotated[list[str], Field(min_length=1, max_length=2)]
UnitDocument: Any = _model(Unit, sizes=(dict[str, int], {}))
TensorizedDocument = _model(
    Tensorized,
    sizes=(dict[str, int], {}),
    dataflows=(dict[str, _Sides], ...),
    units=(dict[str, UnitDocument], {}),
)
NetworkDocument = _model(OperandNetworks)
_Unstated = Annotated[str, Field(exclude=True)]  # earlier versions did
ArchitectureDocument = _model(
    Architecture,
    description=(_Unstated, ""),
    source=(_Unstated, ""),
    sparsity=(Annotated[Any, Field(exclude=True)], None),
    sparse=(Annotated[list[str], Field(exclude=True)], []),
    unread=(Annotated[list[str], Field(exclude=True)], []),
    levels=(_list[LevelDocument], ...),
    compute=(ComputeDocument, ...),
    bursts=(BurstsDocument | None, None),
    tensorized=(TensorizedDocument | None, None),
    network=(NetworkDocument | None, None),
)


def architecture_fields(architecture: Architecture) -> dict[str, Any]:
    """An architecture as `ArchitectureDocument` takes it."""
    bursts, tensorized = architecture.bursts, architecture.tensorized
    return stated(architecture) | {
        "levels": [
            stated(level)
            | {name: dict(own) for name in _BY_TENSOR if (own := getattr(level, name))}
            | ({} if level.keeps is None else {"keeps": sorted(level.keeps)})
            for level in architecture.levels
        ],
        **{
            name: [list(each) if isinstance(each, tuple) else each for each in own]
            for name in ("unpriced", "entries", "sparse", "unread", "energy_sources")
            if (own := getattr(architecture, name))
        },
        "compute": stated(architecture.compute),
        "network": None if architecture.network is None else stated(architecture.network),
        "bursts": None
        if bursts is None
        else stated(bursts)
        | {
            "energies": {
                level: {str(words): pj for words, pj in sizes} for level, sizes in bursts.energies
            }
        },
        "tensorized": None
        if tensorized is None
        else stated(tensorized)
        | {
            "sizes": dict(tensorized.sizes),
            "dataflows": {name: sides for name, *sides in tensorized.dataflows},
            "units": stated_units(tensorized),
        },
    }


def stated_units(tensorized: Tensorized) -> dict[str, Any]:
    """What other dataflows run, by their names."""
    return {n: {"intrinsic": u.intrinsic, "sizes": dict(u.sizes)} for n, u in tensorized.units}


def read_units(units: Mapping[str, Any]) -> tuple[tuple[str, Unit], ...]:
    """The same from models."""
    return tuple((name, Unit(u.intrinsic, tuple(u.sizes.items()))) for name, u in units.items())


def stated(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not as they are by default."""
    return {f.name: own for f in fields(value) if (own := getattr(value, f.name)) != f.default}


def read_architecture_document(read: Any) -> Architecture:
    """The architecture of an `ArchitectureDocument`; an `InputError` if it contradicts itself."""
    levels = tuple(
        Level(
            **dict(level)
            | {name: tuple(dict(getattr(level, name)).items()) for name in _BY_TENSOR}
            | {"keeps": None if level.keeps is None else frozenset(level.keeps)}
        )
        for level in read.levels
    )
    bursts = None
    if read.bursts is not None:
        energies = tuple(
            (k, tuple((_words(w), pj) for w, pj in sizes.items()))
            for k, sizes in read.bursts.energies.items()
        )
        bursts = Bursts(**dict(read.bursts) | {"energies": energies})
    tensorized = None
    if read.tensorized is not None:
        flows = tuple((name, *sides) for name, sides in read.tensorized.dataflows.items())
        own = {"sizes": tuple(read.tensorized.sizes.items()), "dataflows": flows}
        own["units"] = read_units(read.tensorized.units)
        tensorized = Tensorized(**dict(read.tensorized) | own)
    network = None if read.network is None else OperandNetworks(**dict(read.network))
    parts = {"levels": levels, "compute": Compute(**dict(read.compute)), "bursts": bursts}
    parts |= {"tensorized": tensorized, "network": network}
    parts |= {name: tuple(getattr(read, name)) for name in ("unpriced", "sparse", "unread")}
    parts |= {name: tuple(map(tuple, getattr(read, name))) for name in _PAIRS}
    return Architecture(**dict(read) | parts)


def _words(text: str) -> int:
    if not re.fullmatch("[0-9]{1,12}", text):
        raise InputError(
            f"bursts.energies has the capacity {quoted(text)}; allowed: a number of words"
        )
    return int(text)


class AskedDocument(Document):
    """What a factor may be."""

    level: str
    kind: Literal["temporal", "spatial"]
    loop: str
    low: int
    high: int | None = None


class ConstraintsDocument(Document):
    """What a constraints file asked for."""

    factors: list[AskedDocument] = Field(default_factory=list)
    directions: list[list[str]] = Field(default_factory=list)
    orders: dict[str, list[str]] = Field(default_factory=dict)
    keep: dict[str, list[str]] = Field(default_factory=dict)
    bypass: dict[str, list[str]] = Field(default_factory=dict)
    least_used: Positive = Fraction(0)

    def constraints(self) -> Constraints:
        """The constraints; the design checks that they fit."""
        factors = tuple((f.level, f.kind, f.loop, FactorRange(f.low, f.high)) for f in self.factors)
        if any(len(parts) != 3 for parts in self.directions):
            raise InputError(
                "constraints.directions has an entry that is no [level, loop, "
                "direction]; allowed: such entries"
            )
        constraints = Constraints(
            factors,
            tuple((level, loop, along) for level, loop, along in self.directions),
            tuple((level, tuple(loops)) for level, loops in self.orders.items()),
            keep=tuple((level, frozenset(names)) for level, names in self.keep.items()),
            bypass=tuple((level, frozenset(names)) for level, names in self.bypass.items()),
            least_used=self.least_used,
        )
        return NONE if constraints == NONE else constraints


def constraint_fields(constraints: Constraints) -> dict[str, Any]:
    """Constraints as `ConstraintsDocument` takes them."""
    factors = constraints.factors
    return {
        "factors": [
            {"level": a, "kind": b, "loop": c, "low": f.low, "high": f.high}
            for a, b, c, f in factors
        ],
        "directions": [list(entry) for entry in constraints.directions],
        "orders": {level: list(loops) for level, loops in constraints.orders if loops},
        "least_used": constraints.least_used,
        **{
            name: {
                level: sorted(tensors) for level, tensors in getattr(constraints, name) if tensors
            }
            for name in ("keep", "bypass")
        },
    }
