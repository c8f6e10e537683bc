"""Beside an architecture: Accelergy's energies and areas (ERT, ART), and what only some editions
read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.messages import among, quoted, refuse
from ithaca.files.numbers import fraction, unquoted
from ithaca.formulations.data_models import PAIRS, built, model_of
from ithaca.formulations.documents import Count, Positive
from ithaca.plugins.hierarchies.formulations.architecture import (
    Architecture,
    Bursts,
    OperandNetworks,
    Tensorized,
    TensorUnit,
)
from ithaca.plugins.hierarchies.formulations.documents import Sides
from ithaca.plugins.hierarchies.formulations.sparse.parts import ACTIONS, COMPUTES

#: Actions of levels, and of what computes, the first of them that a table has.
ACCESSING = {
    "read": ("read", "random_read", "access"),
    "write": ("write", "fill", "random_write", "random_fill", "access"),
    "update": ("update", "write", "random_update", "random_write", "access"),
}
COMPUTING = ("compute", "mac_random", "mac", "multiply", "mult_random", "access")

#: What components do while nothing is asked of them, which is read of levels or counts nothing.
RESTING = ("leak", "idle")


class _Action(InputDocument):
    name: str
    arguments: dict[str, Any] | list[Any] | None = None
    energy: Annotated[float | int, BeforeValidator(unquoted)]


class _EnergyTable(InputDocument):
    name: str
    actions: list[_Action]


class _Area(InputDocument):
    name: str
    area: Annotated[float | int, BeforeValidator(unquoted)]


class _AreaTables(InputDocument):
    version: str | float | None = None
    tables: list[_Area]


def _listed(tables: Any) -> Any:
    """Tables of version 0.2, of actions by component, as later ones have them in lists."""
    if not isinstance(tables, dict) or not all(isinstance(own, dict) for own in tables.values()):
        return tables
    return [
        {
            "name": component,
            "actions": [
                {"name": action, **each} if isinstance(each, dict) else _priced(action, each)
                for action, own in actions.items()
                for each in (own if isinstance(own, list) else [own])
            ],
        }
        for component, actions in tables.items()
    ]


def _priced(action: Any, energy: Any) -> dict[str, Any]:
    return {"name": action, "energy": energy}


class EnergyTables(InputDocument):
    """Energies of accesses by component: an ERT."""

    version: str | float | None = None
    tables: Annotated[list[_EnergyTable], BeforeValidator(_listed)]
    sources: dict[str, str] = Field(default={})
    """By component, what its energies are from."""


def energy_tables(document: Any, where: object) -> dict[str, dict[str, Fraction]]:
    """Energies by component and action (pJ); of an action with several arguments the first, as the
    tool takes the largest."""
    return {} if document is None else read_tables(document, where)[0]


def read_tables(
    document: Any, where: object
) -> tuple[dict[str, dict[str, Fraction]], dict[str, str]]:
    """Energies as `energy_tables`, and by component what they are from, as far as it is stated."""
    read = validated(EnergyTables, document, f"{where}: ERT")
    tables: dict[str, dict[str, Fraction]] = {}
    for table in read.tables:
        name = _component(table.name)
        if name in tables:
            raise refuse(where, f"ERT has two tables of {name}; allowed: one for every component")
        actions = tables[name] = {}
        for action in table.actions:
            energy = fraction(action.energy)
            if energy < 0:
                raise refuse(
                    where,
                    f"ERT: energy of {name}.{action.name} is {action.energy}; "
                    "allowed: a number that is not negative",
                )
            actions[action.name] = max(actions.get(action.name, energy), energy)
    return tables, read.sources


def areas(document: Any, where: object) -> dict[str, Fraction]:
    """Areas of an instance by component (µm²)."""
    by_component = {
        _component(t.name): fraction(t.area)
        for t in validated(_AreaTables, document, f"{where}: ART").tables
    }
    if low := min((name for name, area in by_component.items() if area < 0), default=None):
        raise refuse(
            where,
            f"ART: area of {low} is {float(by_component[low]):g}; "
            "allowed: a number that is not negative",
        )
    return by_component


def _component(name: str) -> str:
    """The name of a component without its path and ranges: ``system.PE[0..167].RF[1..1]`` is RF."""
    return re.sub(r"\[[^]]*\]", "", name).rpartition(".")[2]


def access_energies(
    stated: Mapping[str, Fraction], otherwise: Fraction | None = None
) -> dict[str, Fraction | None]:
    """Energies of a level's accesses, and of what leaks, from a table's actions: writes may be
    called fills, and one of ``access`` is that of reads and writes."""
    energies = {
        access: next((stated[name] for name in names if name in stated), otherwise)
        for access, names in ACCESSING.items()
    }
    return {**energies, "leak": stated.get("leak")}


def compute_energy(stated: Mapping[str, Fraction]) -> Fraction | None:
    """Energy of a multiply-accumulate, from a table's actions."""
    return next((stated[name] for name in COMPUTING if name in stated), None)


def unread_actions(stated: Mapping[str, Fraction], *, computes: bool) -> list[str]:
    """The actions of a table that no model reads of its component, which computes or is a level."""
    tables = (COMPUTES, {"": COMPUTING}) if computes else (ACTIONS, ACCESSING)
    known = {*RESTING, *(name for each in tables for names in each.values() for name in names)}
    return [action for action in stated if action not in known]


_Words = Annotated[str, BeforeValidator(str), Field(pattern="^[1-9][0-9]{0,12}$")]
_Sizes = Annotated[dict[str, Count], PAIRS]
_dict: Any = dict  # of models that are made here

#: What edition dmazerunner reads beside levels.
BurstsFile = model_of(
    Bursts,
    bank_words=(Count, ...),
    setup=(Positive, Field(alias="setup_cycles")),
    word=(Annotated[Positive, Field(gt=0)], Field(alias="word_cycles")),
    energies=(Annotated[dict[str, Annotated[dict[_Words, Positive], PAIRS]], PAIRS], {}),
)

#: What the multipliers run, which edition intrinsic reads beside levels.
UnitFile = model_of(TensorUnit, sizes=(_Sizes, {}))
TensorizedFile = model_of(
    Tensorized,
    dataflows=(Annotated[dict[str, Sides], PAIRS, Field(min_length=1)], ...),
    sizes=(_Sizes, {}),
    units=(Annotated[_dict[str, UnitFile], PAIRS], {}),
    dataflow=(str | None, None),
    banks=(Count, ...),
    bus_bits=(Count, 64),
    burst_bytes=(Count, 64),
)

#: What edition explainable reads beside levels.
NetworksFile = model_of(
    OperandNetworks,
    **{
        f.name: (Count, ... if f.default is MISSING else f.default)
        for f in fields(OperandNetworks)
        if f.name != "energy"
    },
)


def read_tensorized(read: Any, where: str) -> Tensorized | None:
    """The figures of edition intrinsic in a file; the first dataflow is built unless another is
    named."""
    if read is None:
        return None
    names = list(read.dataflows)
    chosen = names[0] if read.dataflow is None else read.dataflow
    if chosen not in names:
        raise refuse(where, f"dataflow is {quoted(chosen)}{among(chosen, names)}")
    if other := next((name for name in read.units if name not in names), None):
        raise refuse(where, f"units has {quoted(other)}, no dataflow{among(other, names)}")
    return replace(built(Tensorized, read), dataflow=names.index(chosen) + 1)


def beside_levels(architecture: Architecture) -> dict[str, Any]:
    """The fields of an architecture that only some editions read, as files state them."""
    tensorized = architecture.tensorized
    if tensorized is not None:
        named: Any = tensorized.dataflows[tensorized.dataflow - 1][0]
        tensorized = replace(tensorized, dataflow=named)
    own = (
        ("dmazerunner", BurstsFile, architecture.bursts),
        ("tensorized", TensorizedFile, tensorized),
        ("network", NetworksFile, architecture.network),
    )
    files = {}
    for name, model, value in own:
        if value is not None:
            named = {f.alias or n: getattr(value, n) for n, f in model.model_fields.items()}
            read = model.model_validate(named, from_attributes=True)
            dumped = read.model_dump(mode="json", by_alias=True)
            files[name] = {n: each for n, each in dumped.items() if each != {}}
    return files
