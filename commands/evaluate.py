"""``ithaca evaluate``: all metrics of given configurations, computed afresh."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ithaca.commands.api.evaluating import Points
from ithaca.commands.api.evaluating import evaluate as evaluate_points
from ithaca.commands.api.mapped_points import MappedPoints
from ithaca.commands.api.options import TableFile
from ithaca.commands.conclusion import Printed, write_and_show
from ithaca.commands.display import console, loop_nest, unit_cells
from ithaca.commands.outcome import print_document, say
from ithaca.commands.tables import Table
from ithaca.commands.typed import calls
from ithaca.files.messages import printable
from ithaca.files.numbers import number
from ithaca.formulations.spatial.drawing import loop_lines

#: Metrics the table shows; ``--json`` has all.
SHOWN = ("latency", "prologue", "main", "epilogue", "dsp", "bram18k", "off_chip_words")


@calls(evaluate_points)
def evaluate(
    ask: Callable[..., Points | MappedPoints],
    *,
    printed: Printed,
    table: TableFile = None,
) -> None:
    """``ithaca evaluate``."""
    found = ask()
    show = (
        partial(print_document, found.document)
        if printed.as_json
        else partial(_show, found, loops=printed.loops)
    )
    write_and_show(show, (table, found.save_table))


def _show(found: Points | MappedPoints, *, loops: bool) -> None:
    if isinstance(found, MappedPoints):
        print_mappings(found)
        if loops:
            for name, point, row in zip(found.names, found.points, found.rows, strict=False):
                design = point.design
                lines = loop_lines(design.nest, design.architecture, point.mapping, row["metrics"])
                say(printable("\n".join((f"\npoint {name}:", *lines))))
        return
    print_points(found)
    if loops:
        pairs = zip(found.names, found.points, strict=True)
        say("\n".join(loop_nest(*point, f"point {name}: ") for name, point in pairs))


def print_points(found: Points) -> None:
    """Print one row per point."""
    rows = [
        [
            ("point", name),
            *((name, number(point["metrics"][name])) for name in SHOWN),
            *unit_cells(point["metrics"], point["metrics"]),
            ("meets bounds", "yes" if point["meets_bounds"] else "no"),
        ]
        for name, point in zip(found.names, found.document["points"], strict=True)
    ]
    console().print(Table(rows, left={"meets bounds"}))


def print_mappings(found: MappedPoints) -> None:
    """Print one row per mapping; one that does not fit with the reason."""
    rows = [
        [
            ("point", name),
            *(
                (name, number(point["metrics"][name]))
                for name in ("latency", "energy", "pes")
                if name in point["metrics"]
            ),
            ("fits", "yes" if point["valid"] else str(point["reason"])),
        ]
        for name, point in zip(found.names, found.rows, strict=True)
    ]
    console().print(Table(rows, left={"fits"}))
