"""``ithaca list architectures``."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from typer import Argument

from ithaca.commands.api.outputs import AsJson, TableFile
from ithaca.commands.listing import say_file, show_list
from ithaca.files.numbers import number
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Level
from ithaca.plugins.hierarchies.formulations.library import (
    architecture_names,
    architecture_text,
    find_architecture,
)


def list_architectures() -> tuple[Architecture, ...]:
    """The memory hierarchies that come with Ithaca.

    Examples
    --------
    >>> ithaca.list_architectures()[0]
    <Architecture dmazerunner-256: DRAM, SPM, RF, mac>
    """
    return tuple(map(find_architecture, architecture_names()))


def print_architectures(
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="One, whose file is printed: a start for your own."),
    ] = None,
    *,
    table: TableFile = None,
    as_json: AsJson = False,
) -> None:
    """Memory hierarchies that come with Ithaca."""
    if name is not None:
        say_file(name, architecture_text(name), table, as_json=as_json)
        return
    rows, sources = [], []
    for architecture in list_architectures():
        levels, compute = architecture.levels, architecture.compute
        mesh = (
            f"{compute.instances:,} = {compute.mesh_x} × "
            f"{compute.mesh_y}{_picojoules(compute.energy)}"
        )
        rows.append(
            (architecture.name, "\n".join(map(_level, levels)), mesh, architecture.description)
        )
        sources.append(f"{architecture.name}: {architecture.source}")
    show_list(
        ("name", "level: instances × words, what it keeps, pJ a word read", "MACs", "description"),
        rows,
        table,
        sources,
        as_json=as_json,
    )


def _level(level: Level) -> str:
    many = f"{level.instances:,} × " if level.instances > 1 else ""
    held = "" if level.words is None else f"{many}{level.words:,} words, "
    kept = "all" if level.keeps is None else ", ".join(sorted(level.keeps))
    return f"{level.name}: {held}{kept}{_picojoules(level.read_energy / level.block)}"


def _picojoules(energy: Fraction) -> str:
    return f", {number(energy)} pJ" if energy else ""
