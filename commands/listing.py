"""``ithaca list``: workloads, networks, platforms, architectures, hardware spaces, designs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ithaca.commands.api.lists import (
    list_architectures,
    list_networks,
    list_platforms,
    list_spaces,
    list_workloads,
)
from ithaca.commands.api.options import AsJson, DType, TableFile, Workload
from ithaca.commands.api.options import Edition as EditionName
from ithaca.commands.api.parsing import parse_edition
from ithaca.commands.api.request import read_data_type, read_nest
from ithaca.commands.display import console
from ithaca.commands.outcome import print_document, write_rows
from ithaca.commands.schemas import schema
from ithaca.commands.tables import Table
from ithaca.commands.typed import as_typed
from ithaca.files.numbers import counted, number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols
from ithaca.formulations.data_types import DataType
from ithaca.formulations.hardware.quantities import HardwareQuantity
from ithaca.formulations.platform import Resource
from ithaca.formulations.spatial.architecture import Level
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    pass

HELP = (
    "List workloads, networks, platforms, architectures, hardware "
    "spaces, or the designs of a workload."
)

#: Values of a quantity that are listed one by one.
SHOWN_VALUES = 4

listing = typer.Typer(help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@listing.command("workloads")
@as_typed
def print_workloads(*, table: TableFile = None) -> None:
    """Loop nests that come with Ithaca."""
    rows = []
    for nest in list_workloads():
        defaults = ", ".join(f"{name}={n}" for name, n in (*nest.extents, *nest.parameters))
        statement, untiled = nest.template or str(nest), " ".join(sorted(nest.untiled)) or "–"
        rows.append((nest.name, statement, defaults, untiled, nest.simd, nest.description))
    _show(
        ("name", "statement", "loops and parameters (defaults)", "untiled", "SIMD", "what it is"),
        rows,
        table,
    )


@listing.command("networks")
@as_typed
def print_networks(*, table: TableFile = None) -> None:
    """Networks that come with Ithaca."""
    rows = []
    for network in list_networks():
        defaults, runs = (
            (f"{name}={n}" for name, n in network.parameters),
            sum(layer.count for layer in network.layers),
        )
        figures = (str(runs), str(len(network.layers)), f"{network.operations / 10**9:.4g}")
        rows.append((network.name, "\n".join(defaults), *figures, network.description))
    _show(
        ("name", "parameters (defaults)", "layers", "distinct", "GMAC", "what it is"), rows, table
    )


@listing.command("platforms")
@as_typed
def print_platforms(*, table: TableFile = None) -> None:
    """Devices that come with Ithaca."""
    rows, sources = [], []
    for platform in list_platforms():
        resources = [
            f"{kind}: {_resource(kind, resource)}" for kind, resource in platform.resources.items()
        ]
        if platform.memory is not None:
            resources[-1] += (
                f" GB/s, {counted(platform.memory.channels, 'channel')} of {platform.memory.kind}"
            )
        rows.append(
            (platform.name, platform.description, number(platform.clock_mhz), "\n".join(resources))
        )
        sources += [f"{platform.name}: {of}: {source}" for of, source in platform.sources.items()]
    _show(
        ("name", "description", "clock (MHz)", "resource: total × usable = limit"),
        rows,
        table,
        sources,
    )


@listing.command("architectures")
@as_typed
def print_architectures(*, table: TableFile = None) -> None:
    """Memory hierarchies that come with Ithaca."""
    rows, sources = [], []
    for architecture in list_architectures():
        levels, compute = architecture.levels, architecture.compute
        mesh = (
            f"{compute.instances:,} = {compute.mesh_x} × "
            f"{compute.mesh_y}, {number(compute.energy)} pJ"
        )
        rows.append(
            (architecture.name, "\n".join(map(_level, levels)), mesh, architecture.description)
        )
        sources.append(f"{architecture.name}: {architecture.source}")
    _show(
        ("name", "level: instances × words, what it keeps, pJ a word read", "MACs", "description"),
        rows,
        table,
        sources,
    )


@listing.command("spaces")
@as_typed
def print_spaces(*, table: TableFile = None) -> None:
    """Hardware spaces that come with Ithaca."""
    rows, sources = [], []
    for space in list_spaces():
        asked = [
            space.objective or "",
            *(f"{name} ≤ {number(bound)}" for name, bound in space.limits.items()),
        ]
        named = (
            space.description,
            ", ".join(space.workloads) or "–",
            ", ".join(filter(None, asked)) or "–",
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
    _show(
        ("name", "accelerators", "quantities", "description", "workloads", "asked"),
        rows,
        table,
        sources,
    )


def _quantity(quantity: HardwareQuantity) -> str:
    shown, unit = (
        [quantity.shown(value) for value in quantity.values],
        f" {quantity.unit}" if quantity.unit else "",
    )
    few = len(shown) <= SHOWN_VALUES or bool(quantity.labels)
    return f"{quantity.name}: {', '.join(shown if few else [*shown[:2], '…', shown[-1]])}{unit}"


def _level(level: Level) -> str:
    many = f"{level.instances:,} × " if level.instances > 1 else ""
    held = "" if level.words is None else f"{many}{level.words:,} words, "
    kept = "all" if level.keeps is None else ", ".join(sorted(level.keeps))
    return f"{level.name}: {held}{kept}, {number(level.read_energy / level.block)} pJ"


def _resource(kind: str, resource: Resource) -> str:
    total = number(resource.total)
    return (
        f"{total} × {number(resource.usable)} = {number(resource.limit)}"
        if kind in METRICS
        else total
    )


def _show(
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    file: Path | None,
    sources: Sequence[str] = (),
) -> None:
    """Print a table and where its figures are from, and write it if asked for."""
    write_rows(file, headings, rows)
    cells = [list(zip(headings, row, strict=True)) for row in rows]
    console().print(Table(cells, left=headings))
    for source in sources:
        console().print(escape(source))


@listing.command("designs")
@as_typed
def list_designs(
    *,
    workload: Workload,
    edition: EditionName = "exact",
    dtype: DType = "fp32",
    as_json: AsJson = False,
    table: TableFile = None,
) -> None:
    """Every design of a workload, with its modules and formulas."""
    arguments = read_nest(workload), parse_edition(edition), read_data_type(dtype)
    document = designs_document(*arguments)
    rows = [(d, m) for d in document["designs"] for m in d["modules"]]
    columns = ["dataflow", "permutation", "buildable", *rows[0][1]]
    cells = [
        [",".join(d["dataflow"]), d["permutation"], d["buildable"], *m.values()] for d, m in rows
    ]
    write_rows(table, columns, cells)
    if as_json:
        print_document(document)
    else:
        print_designs(*arguments)


def print_designs(nest: LoopNest, edition: Edition, data: DataType) -> None:
    """Print every design of a nest: modules, resource formulas, buildable or not and why."""
    out, found = console(), designs_document(nest, edition, data)["designs"]
    buildable = sum(design["buildable"] for design in found)
    out.print(
        f"{escape(str(nest))}: {len(found)} designs, {buildable} "
        f"buildable ({edition.value} model edition)"
    )
    for design in found:
        _print_design(out, design)


def _print_design(out: Console, design: dict[str, Any]) -> None:
    loops = ", ".join(design["dataflow"])
    name = escape(f"[{loops.replace(' ', '')}] {design['permutation']}")
    out.print(f"\n[bold]{name}[/bold]  space loops {loops}; order {', '.join(design['order'])}")
    rows = []
    for module in design["modules"]:
        double = {True: "yes", False: "no", None: None}[module["double_buffered"]]
        cells = (module["buffer"], module["buffers"], double, module["instances"])
        dram = " (DRAM)" if module["dram"] else ""
        rows.append(
            (module["name"] + dram, f"L{module['level']}", *(cell or "–" for cell in cells))
        )
    for name, instances in design["helpers"].items():
        rows.append((name, "–", "–", "–", "–", instances))
    if design["accumulators"] is not None:
        rows.append(("PE", "–", design["accumulators"], design["pes"], "no", design["pes"]))
    headings = ("module", "level", "buffer (words)", "buffers", "double", "modules")
    out.print(Table([list(zip(headings, row, strict=True)) for row in rows], left=headings))
    out.print(f"  DSP      = {escape(design['dsp'])}")
    out.print(f"  BRAM18K  = {escape(design['bram18k'])}")
    out.print(
        f"  buildable: {'yes' if design['buildable'] else 'no: ' + escape(design['obstacle'])}"
    )


@listing.command("schema")
def print_schema(
    document: Annotated[
        str, typer.Argument(metavar="KIND", help="Such as result or network; ? lists all.")
    ] = "result",
) -> None:
    """JSON schema of what commands write or read."""
    print_document(schema(document))


def designs_document(nest: LoopNest, edition: Edition, data: DataType) -> dict[str, Any]:
    """The same as a JSON document."""
    return {
        "schema": SCHEMA,
        "workload": {"name": nest.name, "sizes": nest.sizes, "dtype": data.name},
        "edition": edition.value,
        "designs": [_design_document(array, data) for array in designs(nest, edition)],
    }


def _design_document(array: SystolicArray, data: DataType) -> dict[str, Any]:
    costs = evaluate(array, Symbols(), data, SYMBOLIC)
    return {
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "order": list(array.order),
        "buildable": array.buildable,
        "obstacle": array.obstacle,
        "modules": [
            {
                "name": module.name,
                "level": module.level,
                "instances": str(module.instances),
                "dram": module.dram,
                "buffer": str(group.size) if module.buffer else None,
                "buffers": str(group.count) if module.buffer else None,
                "double_buffered": group.double_buffered if module.buffer else None,
            }
            for group, module in array.modules
        ],
        "helpers": {name: str(instances) for name, instances in array.helpers.items()},
        "pes": str(array.pe.count),
        "accumulators": None if array.pe.accumulators is None else str(array.pe.accumulators),
        "dsp": str(costs.dsp),
        "bram18k": str(costs.bram18k),
    }
