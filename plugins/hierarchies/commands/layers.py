"""Layers of a file, each mapped onto a memory hierarchy: what `ithaca.map` answers with
``problems``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ithaca.files.answer import Answer
from ithaca.files.documents import validated
from ithaca.files.numbers import counted, json_ready, number
from ithaca.files.writing import SCHEMA
from ithaca.plugins.hierarchies.formulations.mapping_design import mapping_design
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign
from ithaca.results.files import check_same, read_result
from ithaca.results.schema import FirstPart
from ithaca.results.view import View, tabled
from ithaca.solver.certificate import Status, least
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution

if TYPE_CHECKING:
    import xarray as xr

STUDY = "layers"


@dataclass(frozen=True, repr=False)
class MappedLayers(Answer):
    """The best mapping of every layer, with what is proven of it."""

    results: tuple[Result, ...] = field(repr=False)
    """One a row of the file."""

    @property
    def parts(self) -> Mapping[str, Answer]:
        return {f"row {row}": result for row, result in enumerate(self.results, 1)}

    @property
    def headline(self) -> str:
        proven = sum(result.certificate.status is Status.OPTIMAL for result in self.results)
        return f"{counted(len(self.results), 'layer')} mapped, {proven} of them proven optimal"

    @property
    def status(self) -> str:
        """The least status of a proof among all layers."""
        return least(result.certificate.status for result in self.results).value

    @property
    def failure(self) -> str:
        """The reason why layers have no mapping, in one line; empty where all have one."""
        rows = [
            (row, result.failure)
            for row, result in enumerate(self.results, 1)
            if result.best is None
        ]
        return (
            ""
            if not rows
            else f"row {rows[0][0]}: {rows[0][1]}"
            + (f" (and {len(rows) - 1} more)" if rows[1:] else "")
        )

    @property
    def mapped(self) -> Mapping[str, Solution]:
        return {
            f"row {row}: ": result.best
            for row, result in enumerate(self.results, 1)
            if result.best is not None
        }

    @property
    def view(self) -> View:
        rows = (_cells(row, result) for row, result in enumerate(self.results, 1))
        return (tabled([*rows], {"status"}),)

    @property
    def document(self) -> dict[str, Any]:
        """One answer a row, with mappings as files of points state them: factors by loop, and
        orders, outermost loop first; and the whole result of each."""
        own = {"answers": list(map(_answer, self.results))}
        results = [result.document for result in self.results]
        return {"schema": SCHEMA, "study": STUDY, **own, "results": results}

    def to_xarray(self) -> xr.Dataset:
        """Values, bounds and metrics by row, as labelled arrays; numbers are doubles, not one where
        there is none."""
        import xarray as xr

        answers = self.document["answers"]
        columns: dict[str, Any] = {"status": ("row", [answer["status"] for answer in answers])}
        for name in ("value", "lower_bound"):
            columns[name] = (
                "row",
                [float("nan" if answer[name] is None else answer[name]) for answer in answers],
            )
        for name in dict.fromkeys(name for answer in answers for name in answer["metrics"]):
            columns[f"metrics.{name}"] = (
                "row",
                [float(answer["metrics"].get(name, "nan")) for answer in answers],
            )
        return xr.Dataset(columns, {"row": range(1, len(answers) + 1)})


def _cells(row: int, result: Result) -> list[tuple[str, str]]:
    """The cells of a layer's row in a table, as pairs of column and text."""
    named = [
        ("row", str(row)),
        ("workload", str(result.profile.attributes["sizes"])),
    ]
    value, bound = (("-" if x is None else number(x)) for x in (result.value, result.lower_bound))
    return [*named, (result.objective.text, value), ("at least", bound), ("status", result.status)]


class LayersDocument(FirstPart):
    """Layers, with what is said of each."""

    study: Literal["layers"]
    answers: list[dict[str, Any]]
    results: list[dict[str, Any]]


def _answer(result: Result) -> dict[str, Any]:
    """The answer for a layer, ready for JSON: status, value, lower bound, mapping and metrics."""
    certificate, best = result.certificate, result.best
    answer: dict[str, Any] = {
        "status": result.status,
        "value": json_ready(result.value),
        "lower_bound": json_ready(certificate.lower_bound),
        "gap": certificate.gap,
        **(
            {"best_of": known.best_of(result.problem)}
            if isinstance(known := result.problem.design, TilingDesign)
            else {}
        ),
        "mapping": None,
        "metrics": {},
    }
    if best is None or best.configuration is None:
        return answer
    design = mapping_design(best.problem.design)
    mapping, stated = design.mapping(best.configuration), {}
    for slot, factors in mapping.factors.items():
        spatial = (
            "spatial" if isinstance(design, TilingDesign) else f"{slot.level}.{slot.direction}"
        )
        stated[slot.level if slot.temporal else spatial] = dict(factors)
    orders = {
        f"{name}_order_outer_first": " ".join(order)
        for name, order in mapping.orders.items()
        if name in design.orders
    }
    return {**answer, "mapping": {**stated, **orders}, "metrics": json_ready(best.metrics)}


def read_layers(document: Any, path: Path) -> MappedLayers:
    """The layers of a file, each a result. Raises `InputError` if what is said of them differs."""
    read = validated(LayersDocument, document, path)
    layers = MappedLayers(tuple(read_result(each, path) for each in read.results))
    check_same(document, layers.document, "")
    return layers
