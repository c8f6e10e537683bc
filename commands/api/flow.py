"""Flow graphs of accelerators, evaluated: what `ithaca.evaluate` answers of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ithaca.commands.api.points import EvaluatedPoints
from ithaca.files.csv_text import read_rows, records, table_text
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.files.numbers import counted, json_number, number, percent, rounded, written
from ithaca.files.reading import read_text
from ithaca.formulations.family import Breakdown
from ithaca.formulations.flow.graph import MAX_BYTES, FlowGraph, find_graph
from ithaca.formulations.flow.run import FlowRun, PartRun, run_graph


@dataclass(frozen=True, repr=False)
class FlowPoints(EvaluatedPoints):
    """A flow graph with the cycles and energy of its components, at one or more parameters."""

    graph: FlowGraph = field(repr=False)
    """The graph."""
    runs: tuple[FlowRun, ...] = field(repr=False)
    """What it does at each."""

    @property
    def headline(self) -> str:
        return f"{self.graph.name}: {counted(len(self.runs), 'run')} of the flow graph"

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """What a table says of each."""
        return [
            [
                ("point", name),
                *((key, number(row["parameters"][key])) for key in self._stated),
                ("latency (cycles)", rounded(run.cycles, 7)),
                ("±", rounded(run.error, 2) if run.draws else "exact"),
                ("energy (pJ)", rounded(run.energy, 7)),
                ("bottleneck", _binding(run)),
            ]
            for name, row, run in zip(self.names, self.rows, self.runs, strict=True)
        ]

    @property
    def _stated(self) -> tuple[str, ...]:
        """The parameters in which runs differ."""
        return tuple(
            name
            for name in self.graph.parameters
            if len({row["parameters"][name] for row in self.rows}) > 1
        )

    @property
    def breakdown(self) -> Breakdown | None:
        if len(self.runs) > 1:
            return None
        run = self.runs[0]
        lines = [
            f"bottleneck: {_binding(run)}, in {percent(run.binding[0].binds / (run.cycles or 1))} "
            "of the time",
            f"zeros drawn {run.draws:,} times from seed {self.graph.seed}: latency ± its standard "
            "error"
            if run.draws
            else "no zeros are drawn: all figures are exact",
        ]
        if unknown := [part.name for part in run.parts if part.energy is None]:
            lines.append(f"energy without that of {', '.join(unknown)}, which is not stated")
        if self.graph.megahertz:
            seconds = run.cycles / self.graph.megahertz / 10**6
            lines.append(f"at {number(self.graph.megahertz)} MHz {rounded(seconds * 1000)} ms")
        rows = tuple(self._row(part, run) for part in run.parts)
        return Breakdown(rows, frozenset({"component", "kind"}), tuple(lines))

    @staticmethod
    def _row(part: PartRun, run: FlowRun) -> tuple[tuple[str, str], ...]:
        known = part.energy is not None
        return (
            ("component", part.name),
            ("kind", part.kind),
            ("copies", number(Fraction(part.copies))),
            ("cycles", rounded(part.cycles, 7)),
            ("of latency", percent(part.cycles / (run.cycles or 1))),
            ("energy (pJ)", rounded(part.energy, 7) if known else "–"),
            ("of energy", percent((part.energy or 0) / (run.energy or 1)) if known else "–"),
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
    graph = source if isinstance(source, FlowGraph) else find_graph(source)
    stated = list(_rows(points, graph)) if points is not None else [("the graph", {})]
    runs, rows = [], []
    for where, values in stated:
        with errors_at(where if points is not None else graph.name):
            run = run_graph(graph, values)
        runs.append(run)
        rows.append(_document(graph, values, run))
    names = tuple(str(place) for place in range(1, len(rows) + 1))
    return FlowPoints(names, tuple(rows), graph, tuple(runs))


def _binding(run: FlowRun) -> str:
    return " and ".join(part.name for part in run.binding)


def _document(graph: FlowGraph, values: Mapping[str, Fraction], run: FlowRun) -> dict[str, Any]:
    parts = [
        {
            "name": part.name,
            "component": part.kind,
            "copies": part.copies,
            "cycles": json_number(part.cycles),
            "energy": None if part.energy is None else json_number(part.energy),
            "binds": json_number(part.binds),
        }
        for part in run.parts
    ]
    parameters = {name: json_number(each) for name, each in {**graph.parameters, **values}.items()}
    metrics = {"latency": json_number(run.cycles), "energy": json_number(run.energy)}
    return {
        "valid": True,
        "reason": None,
        "metrics": {**metrics, "latency_error": run.error},
        "parameters": parameters,
        "bottleneck": [part.name for part in run.binding],
        "draws": run.draws,
        "components": parts,
    }


def _rows(points: Any, graph: FlowGraph) -> Iterator[tuple[str, dict[str, Fraction]]]:
    """Parameters by row, with what errors about a row begin with."""
    path = Path(points) if isinstance(points, str | Path) else Path("points")
    named = isinstance(points, str | Path)
    text = read_text(path, MAX_BYTES) if named else table_text(records(points))

    def check(header: list[str]) -> list[str]:
        for name in header:
            if name not in graph.parameters:
                raise refuse(
                    path, f"column {quoted(name)} is unknown{among(name, graph.parameters)}"
                )
        return header

    for where, row in read_rows(text, path, check):
        yield where, {name: _number(cell, f"{where}: {name}") for name, cell in row.items() if cell}


def _number(cell: str, where: str) -> Fraction:
    value = written(cell)
    if value is None:
        raise InputError(f"{where} is {quoted(cell)}; allowed: a number")
    return value
