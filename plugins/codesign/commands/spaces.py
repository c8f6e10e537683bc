"""The hardware spaces that come with Ithaca, listed."""

from __future__ import annotations

from ithaca.commands.api.outputs import AsJson, TableFile
from ithaca.commands.completion import files_from
from ithaca.commands.listing import show_list
from ithaca.files.numbers import number
from ithaca.formulations.space import Quantity
from ithaca.plugins.codesign.formulations.files import find_space, space_names
from ithaca.plugins.codesign.formulations.space import HardwareSpace

#: Values of a quantity that are listed one by one.
SHOWN_VALUES = 4


def list_spaces() -> tuple[HardwareSpace, ...]:
    """The hardware spaces that come with Ithaca.

    Examples
    --------
    >>> ithaca.list_spaces()[0]
    <HardwareSpace dmazerunner-memory: 49 accelerators>
    """
    return tuple(map(find_space, space_names()))


def print_spaces(*, table: TableFile = None, as_json: AsJson = False) -> None:
    """Hardware spaces that come with Ithaca."""
    rows, sources = [], []
    for space in list_spaces():
        goals = [
            space.objective or "",
            *(f"{name} ≤ {number(bound)}" for name, bound in space.limits.items()),
        ]
        named = (
            space.description,
            ", ".join(space.workloads) or "–",
            ", ".join(filter(None, goals)) or "–",
        )
        rows.append(
            (
                space.name,
                f"{space.box.count:,}",
                "\n".join(map(_quantity, space.quantities)),
                *named,
            )
        )
        sources.append(f"{space.name}: {space.source}")
    show_list(
        ("name", "accelerators", "quantities", "description", "workloads", "asked"),
        rows,
        table,
        sources,
        as_json=as_json,
    )


def _quantity(quantity: Quantity) -> str:
    values, unit = (
        [quantity.label(value) for value in quantity.values],
        f" {quantity.unit}" if quantity.unit else "",
    )
    few = len(values) <= SHOWN_VALUES or bool(quantity.labels)
    return f"{quantity.name}: {', '.join(values if few else [*values[:2], '…', values[-1]])}{unit}"


def complete(start: str) -> list[str]:
    """Names of spaces, and files."""
    return [*space_names(), *files_from(start, ".yaml")]
