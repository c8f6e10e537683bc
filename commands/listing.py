"""``ithaca list``: workloads, networks, platforms, designs, and what plug-ins list, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ithaca.commands.api.lists import list_networks, list_platforms, list_workloads
from ithaca.commands.api.outputs import AsJson, TableFile
from ithaca.commands.display import show
from ithaca.commands.outcome import print_document, say, write_rows
from ithaca.commands.typed import as_typed
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.numbers import counted, number
from ithaca.files.reading import packaged_text
from ithaca.files.registry import Registry
from ithaca.files.writing import SCHEMA
from ithaca.results.view import Table


def show_list(
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    file: Path | None,
    sources: Sequence[str] = (),
    *,
    as_json: bool,
) -> None:
    """Print a table and where its figures are from, and write it if asked for.

    Parameters
    ----------
    headings : tuple of str
        Those of the columns.
    rows : sequence of tuple of str
        The cells.
    file : Path or None
        Where the table is written.
    sources : sequence of str, optional
        Lines on where figures are from.
    as_json : bool
        Whether a document is printed instead.
    """
    write_rows(file, headings, rows)
    if as_json:
        named = [dict(zip(headings, row, strict=True)) for row in rows]
        print_document({"schema": SCHEMA, "list": named, "sources": list(sources)})
        return
    texts = frozenset(range(len(headings)))
    show(Table("", headings, tuple(rows), texts), *sources)


#: The command of each list.
LISTS: Registry[Callable[..., None]] = Registry("lists")

HELP = f"List what there is: {', '.join(LISTS)}."


class Lists(TyperGroup):
    """The lists by name; the one that is asked for is loaded."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update((name, TyperCommand(name)) for name in LISTS)

    def list_commands(self, ctx: object) -> list[str]:
        return [*self.commands]  # in the order of registries

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            raise InputError(f"list {quoted(cmd_name)} is unknown{among(cmd_name, LISTS)}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name)(as_typed(LISTS[cmd_name]))
        return typer.main.get_command(single)


listing = typer.Typer(
    cls=Lists, help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
listing.callback()(lambda: None)  # typer wants something registered


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


def say_file(name: str, text: str, table: Path | None, *, as_json: bool) -> None:
    """Print the file of one of a list. Raises `InputError` where a table or JSON is asked for.

    Parameters
    ----------
    name : str
        Its name.
    text : str
        The file's text.
    table : Path, optional
        The file that the list was to be written to.
    as_json : bool
        Whether the list was to be printed as JSON.
    """
    if as_json or table is not None:
        option = "--json" if as_json else "--table"
        raise InputError(f"{option} does not go with {quoted(name)}; allowed: without it")
    say(text)


def print_platforms(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="One, whose file is printed: a start for your own."),
    ] = None,
    *,
    table: TableFile = None,
    as_json: AsJson = False,
) -> None:
    """Devices that come with Ithaca."""
    if name is not None:
        from ithaca.formulations.platform_files import PACKAGE, platform_names

        if name not in platform_names():
            raise InputError(f"unknown platform {quoted(name)}{among(name, platform_names())}")
        say_file(name, packaged_text(PACKAGE, name), table, as_json=as_json)
        return
    rows, sources = [], []
    for platform in list_platforms():
        resources = [
            f"{kind}: {number(each.total)} × {number(each.usable)} = {number(each.limit)}"
            for kind, each in platform.resources.items()
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


def print_schema(
    document: Annotated[
        str, typer.Argument(metavar="KIND", help="Such as result or network; ? lists all.")
    ] = "result",
) -> None:
    """JSON schema of what commands write or read."""
    from ithaca.commands.schemas import schema

    print_document(schema(document))
