"""Flow graphs of accelerators, evaluated: what `ithaca.evaluate` answers of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from ithaca.commands.api.outputs import AsJson, TableFile
from ithaca.commands.api.points import PARTLY, EvaluatedPoints, numbers_of
from ithaca.commands.listing import show_list
from ithaca.files.clock import keeping, made_in_time, poll
from ithaca.files.csv_text import read_rows, records, table_text
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.files.numbers import counted, json_ready, number, percent, rounded, scaled_number
from ithaca.files.reading import read_text
from ithaca.formulations.family import Breakdown
from ithaca.plugins.flow.formulations.component import check_name
from ithaca.plugins.flow.formulations.graph import (
    MAX_BYTES,
    FlowGraph,
    find_graph,
    graph_names,
    is_graph,
)
from ithaca.plugins.flow.formulations.run import ComponentRun, FlowRun, run_graph


@dataclass(frozen=True, repr=False)
class FlowPoints(EvaluatedPoints):
    """A flow graph with the cycles and energy of its components, at one or more parameters."""

    graph: FlowGraph = field(repr=False)
    """The graph."""
    runs: tuple[FlowRun, ...] = field(repr=False)
    """The run of the graph at each."""

    @property
    def headline(self) -> str:
        part = "" if self.complete else PARTLY
        return f"{self.graph.name}: {counted(len(self.runs), 'run')} of the flow graph{part}"

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """The cells of a table with a row for each point, as pairs of column and text."""
        return [
            [
                ("point", name),
                ("latency (cycles)", rounded(run.cycles, 7)),
                ("±", rounded(run.error, 2) if run.draws else "exact"),
                ("energy (pJ)", rounded(run.energy, 7)),
                ("bottleneck", _bottleneck(run)),
            ]
            for name, run in zip(self.names, self.runs, strict=True)
        ]

    @property
    def breakdown(self) -> Breakdown | None:
        if len(self.runs) > 1:
            return None
        run = self.runs[0]
        lines = [
            f"zeros drawn {run.draws:,} times with seed {self.graph.seed}; ±: the standard error"
            if run.draws
            else "no zeros are drawn: all is exact"
        ]
        if unknown := [part.name for part in run.parts if part.energy is None]:
            lines.append(f"energy without that of {', '.join(unknown)}, which is not stated")
        if self.graph.megahertz:
            seconds = run.cycles / self.graph.megahertz / 10**6
            lines.append(f"at {number(self.graph.megahertz)} MHz {rounded(seconds * 1000)} ms")
        rows = tuple(_row(part, run) for part in run.parts)
        return Breakdown(rows, frozenset({"component", "kind"}), tuple(lines))


def _bottleneck(run: FlowRun) -> str:
    return " and ".join(part.name for part in run.binding)


def _row(part: ComponentRun, run: FlowRun) -> tuple[tuple[str, str], ...]:
    """A component's row in a table, as pairs of column and text."""
    unknown = part.energy is None
    return (
        ("component", part.name),
        ("kind", part.component),
        ("copies", number(part.copies)),
        ("cycles", rounded(part.cycles, 7)),
        ("of latency", percent(part.cycles / (run.cycles or 1))),
        ("energy (pJ)", rounded(part.energy, 7)),
        ("of energy", "–" if unknown else percent((part.energy or 0) / (run.energy or 1))),
    )


def evaluate_graph(source: Any, points: Any, options: Mapping[str, object]) -> FlowPoints:
    """Run a flow graph, as it states its parameters or as each of several points does.

    Parameters
    ----------
    source : object
        The graph, its name, a file, or its fields.
    points : object
        A CSV file, or rows in Python, with parameters as columns; None: as the graph states them.
    options : mapping of str to object
        Options that say nothing to graphs, by how they are written, with their values.
    """
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option} does not go with a flow graph; allowed: without it")
    graph = find_graph(source)
    every = [(graph.name, {})] if points is None else _rows(points, graph)
    made, complete = made_in_time(partial(_runs, graph, every))
    rows, runs = zip(*made, strict=True) if made else ((), ())
    return FlowPoints(numbers_of(rows), rows, graph, runs, complete=complete)


def _runs(
    graph: FlowGraph, points: Iterable[tuple[str, Mapping[str, Fraction]]]
) -> list[tuple[dict[str, Any], FlowRun]]:
    """A row and a run of each point."""
    made: list[tuple[dict[str, Any], FlowRun]] = []
    with keeping(lambda: made):
        for where, values in points:
            poll()
            with errors_at(where):
                run = run_graph(graph, values)
            made.append((_run_row(graph, values, run), run))
    return made


def _run_row(graph: FlowGraph, values: Mapping[str, Fraction], run: FlowRun) -> dict[str, Any]:
    """A run, ready for JSON."""
    metrics = {"latency": run.cycles, "latency_error": run.error, "energy": run.energy}
    return {
        "valid": True,
        "reason": None,
        "parameters": json_ready({**graph.parameters, **values}),
        "metrics": json_ready(metrics),
        "bottleneck": [part.name for part in run.binding],
        "draws": run.draws,
        "components": [json_ready(asdict(part)) for part in run.parts],
    }


def _rows(points: Any, graph: FlowGraph) -> Iterator[tuple[str, dict[str, Fraction]]]:
    """Parameters by row, with what errors about a row begin with."""
    path, text = Path("points"), ""
    if isinstance(points, str | Path):
        text = read_text(path := Path(points), MAX_BYTES)

    def check(header: list[str]) -> list[str]:
        return [check_name(name, graph.parameters, f"{path}") for name in header]

    for where, row in read_rows(text or table_text(records(points)), path, check):
        values = {name: scaled_number(cell) for name, cell in row.items() if cell}
        for name, value in values.items():
            if value is None:
                raise InputError(f"{where}: {name} is {quoted(row[name])}; allowed: a number")
        yield where, {name: value for name, value in values.items() if value is not None}


def evaluate_source(source: Any, points: Any, options: Mapping[str, object]) -> FlowPoints | None:
    """The evaluation of a flow graph; None of anything else.

    Parameters
    ----------
    source : object
        What is to be evaluated.
    points : path, or rows
        Parameters of the graph.
    options : mapping of str to object
        Values of further options, by name, which graphs do not have.
    """
    if not isinstance(source, FlowGraph) and not is_graph(source):
        return None
    return evaluate_graph(source, points, options)


def list_graphs() -> tuple[FlowGraph, ...]:
    """The flow graphs of accelerators that come with Ithaca.

    Examples
    --------
    >>> ithaca.list_graphs()[0]
    <FlowGraph cambricon-s: 8 components>
    """
    return tuple(map(find_graph, graph_names()))


def print_graphs(*, table: TableFile = None, as_json: AsJson = False) -> None:
    """Flow graphs of accelerators that come with Ithaca."""
    rows, sources = [], []
    for graph in list_graphs():
        defaults = (f"{name}={number(value)}" for name, value in graph.parameters.items())
        rows.append((graph.name, " ".join(graph.order), ", ".join(defaults)))
        sources.append(f"{graph.name}: {graph.source}")
    show_list(
        ("name", "components", "parameters (defaults)"), rows, table, sources, as_json=as_json
    )
