"""Beside an architecture: Accelergy's energies and areas (ERT, ART), and what only some editions
read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, create_model

from ithaca.files.documents import Document, validated
from ithaca.files.messages import among, quoted, refuse
from ithaca.files.numbers import fraction
from ithaca.formulations.schema import Count
from ithaca.formulations.spatial.architecture import Bursts, OperandNetworks, Tensorized
from ithaca.formulations.spatial.documents import read_units


class _Action(Document):
    name: str
    arguments: dict[str, Any] | list[Any] | None = None
    energy: float | int


class _Table(Document):
    name: str
    actions: list[_Action]


class _Area(Document):
    name: str
    area: float | int


class _AreaTables(Document):
    version: str | float | None = None
    tables: list[_Area]


class EnergyTables(Document):
    """Energies of accesses by component: an ERT."""

    version: str | float | None = None
    tables: list[_Table]
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
    """``system.PE[0..167].RF[1..1]`` is RF."""
    return re.sub(r"\[[^]]*\]", "", name).rpartition(".")[2]


def access_energies(
    stated: Mapping[str, Fraction], otherwise: Fraction | None = None
) -> dict[str, Fraction | None]:
    """Energies of a level's accesses, and of what leaks, from a table's actions: writes may be
    called fills."""
    write = stated.get("write", stated.get("fill", otherwise))
    update = stated.get("update", stated.get("write", otherwise))
    return {
        "read": stated.get("read", otherwise),
        "write": write,
        "update": update,
        "leak": stated.get("leak"),
    }


def compute_energy(stated: Mapping[str, Fraction]) -> Fraction | None:
    """Energy of a multiply-accumulate, from a table's actions."""
    return next(
        (
            stated[name]
            for name in ("compute", "mac_random", "mac", "multiply", "mult_random")
            if name in stated
        ),
        None,
    )


_Amount = Annotated[float | int, Field(ge=0)]
_Words = Annotated[str, Field(pattern="^[1-9][0-9]{0,12}$")]


class BurstsFile(Document):
    """What edition dmazerunner reads beside levels."""

    bank_words: Annotated[int, Field(gt=0)]
    setup_cycles: _Amount
    word_cycles: Annotated[float | int, Field(gt=0)]
    network_energy: _Amount
    energies: dict[str, dict[_Words, _Amount]] = Field(default={})


def read_bursts(document: Any, where: str) -> Bursts:
    """Read the figures of edition dmazerunner beside levels."""
    read = validated(BurstsFile, document, where)
    energies = {
        level: tuple((int(n), fraction(energy)) for n, energy in sizes.items())
        for level, sizes in read.energies.items()
    }
    return Bursts(
        read.bank_words,
        fraction(read.setup_cycles),
        fraction(read.word_cycles),
        fraction(read.network_energy),
        tuple(energies.items()),
    )


class UnitFile(Document):
    """What the multipliers run."""

    intrinsic: str
    sizes: dict[str, Count] = Field(default={})


class TensorizedFile(UnitFile):
    """What edition intrinsic reads beside levels."""

    units: dict[str, UnitFile] = Field(default={})
    dataflows: Annotated[
        dict[str, Annotated[list[str], Field(min_length=1, max_length=2)]], Field(min_length=1)
    ]
    dataflow: str | None = None
    banks: Count
    bus_bits: Count = 64
    burst_bytes: Count = 64


def read_tensorized(document: Any, where: str) -> Tensorized:
    """Read the figures of edition intrinsic beside levels; the first dataflow is built unless
    another is named."""
    read = validated(TensorizedFile, document, where)
    names = list(read.dataflows)
    chosen = names[0] if read.dataflow is None else read.dataflow
    if chosen not in names:
        raise refuse(where, f"dataflow is {quoted(chosen)}{among(chosen, names)}")
    if other := next((name for name in read.units if name not in names), None):
        raise refuse(where, f"units has {quoted(other)}, no dataflow{among(other, names)}")
    flows = tuple((name, *sides) for name, sides in read.dataflows.items())
    sizes = tuple(read.sizes.items())
    return Tensorized(
        read.intrinsic,
        flows,
        sizes,
        read_units(read.units),
        names.index(chosen) + 1,
        read.banks,
        read.bus_bits,
        read.burst_bytes,
    )


NetworksFile: Any = create_model(
    "NetworksFile",
    __base__=Document,
    **{
        f.name: (Annotated[int, Field(gt=0)], ... if f.default is MISSING else f.default)
        for f in fields(OperandNetworks)
        if f.name != "energy"
    },  # type: ignore[call-overload]
    energy=(_Amount, 0),
)


def read_network(document: Any, where: str) -> OperandNetworks:
    """Read the figures of edition explainable beside levels."""
    read = dict(validated(NetworksFile, document, where))
    return OperandNetworks(**read | {"energy": fraction(read["energy"])})
