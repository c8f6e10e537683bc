"""``ithaca list``: workloads, networks, platforms, designs, and what plug-ins list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from ithaca.commands.api.lists import list_networks, list_platforms, list_workloads
from ithaca.commands.api.options import AsJson, TableFile
from ithaca.commands.outcome import print_document
from ithaca.commands.schemas import schema
from ithaca.commands.tabled import show_list
from ithaca.commands.typed import as_typed
from ithaca.files.numbers import counted, number
from ithaca.files.registry import Registry
from ithaca.formulations.families import QUESTIONS
from ithaca.formulations.platform import Resource

#: The commands of further lists.
LISTS: Registry[Callable[..., None]] = Registry("lists")

HELP = f"List workloads, networks, platforms, {', '.join(LISTS)}, or the schema of a document."

listing = typer.Typer(help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@listing.command("workloads")
@as_typed
def print_workloads(*, table: TableFile = None, as_json: AsJson = False) -> None:
    """Loop nests that come with Ithaca."""
    rows = []
    for nest in list_workloads():
        defaults = ", ".join(f"{name}={n}" for name, n in (*nest.extents, *nest.parameters))
        statement, untiled = nest.template or str(nest), " ".join(sorted(nest.untiled)) or "–"
        rows.append((nest.name, statement, defaults, untiled, nest.simd, nest.description))
    show_list(
        ("name", "statement", "loops and parameters (defaults)", "untiled", "SIMD", "what it is"),
        rows,
        table,
        as_json=as_json,
    )


@listing.command("networks")
@as_typed
def print_networks(*, table: TableFile = None, as_json: AsJson = False) -> None:
    """Networks that come with Ithaca."""
    rows = []
    for network in list_networks():
        defaults, runs = (
            (f"{name}={n}" for name, n in network.parameters),
            sum(layer.count for layer in network.layers),
        )
        figures = (str(runs), str(len(network.layers)), f"{network.operations / 10**9:.4g}")
        rows.append((network.name, "\n".join(defaults), *figures, network.description))
    show_list(
        ("name", "parameters (defaults)", "layers", "distinct", "GMAC", "what it is"),
        rows,
        table,
        as_json=as_json,
    )


@listing.command("platforms")
@as_typed
def print_platforms(*, table: TableFile = None, as_json: AsJson = False) -> None:
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
    show_list(
        ("name", "description", "clock (MHz)", "resource: total × usable = limit"),
        rows,
        table,
        sources,
        as_json=as_json,
    )


def _resource(kind: str, resource: Resource) -> str:
    total = number(resource.total)
    return (
        f"{total} × {number(resource.usable)} = {number(resource.limit)}"
        if any(kind in each.metrics for each in QUESTIONS.values())
        else total
    )


@listing.command("schema")
def print_schema(
    document: Annotated[
        str, typer.Argument(metavar="KIND", help="Such as result or network; ? lists all.")
    ] = "result",
) -> None:
    """JSON schema of what commands write or read."""
    print_document(schema(document))


for _name, _list in LISTS.items():
    listing.command(_name)(as_typed(_list))
