"""The result of a network as a table: one row per layer, ready for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ithaca.files.csv_text import csv_text
from ithaca.files.numbers import json_number
from ithaca.formulations.families import profile_of
from ithaca.results.datasets import TABLES
from ithaca.studies.network.result import LayerResult, NetworkResult


def network_table(result: NetworkResult) -> str:
    """A CSV table, a row per layer in the order of the network; figures are those of one run of the
    layer.

    ``sizes`` and ``dataflow`` read as on the command line; factors are iterations, packs words.
    ``share``, alike in all rows, is how much of the network's multiply-accumulates the layers are;
    at most, where ``uncounted`` names operators, and empty where nothing is known of it.
    """
    known = dict.fromkeys(
        name for layer in result.layers for name in layer.answer.problem.design.vocabulary
    )
    own = TABLES.get(result.family)
    share, rows = result.share, []
    counted = {
        "share": share.document["share"],
        "uncounted": ", ".join(share.uncounted),
    }
    for each in result.layers:
        layer = each.layer
        chosen, figures = _mapping(each, known) if own is None else own.layer_row(each)
        head = {
            "layer": layer.name,
            "count": layer.count,
            "kernel": layer.nest.name,
            "sizes": pairs(layer.nest.settings),
        }
        cells = {name: _number(value) for name, value in figures.items()}
        rows.append({**head, **chosen, **_proven(each), **cells, **counted})
    return csv_text(list(rows[0]), (list(row.values()) for row in rows))


def _mapping(result: LayerResult, known: Iterable[str]) -> tuple[dict[str, object], dict[str, Any]]:
    """A row on how a layer runs on a memory hierarchy, its loops in a line; and the metrics known
    of any layer."""
    answer, design = result.answer, result.answer.problem.design
    mapping = (
        ""
        if answer.configuration is None
        else "; ".join(filter(None, profile_of(design).loops(answer.configuration)))
    )
    return {"mapping": mapping}, {name: answer.metrics.get(name) for name in known}


def _proven(result: LayerResult) -> dict[str, object]:
    answer = result.answer
    return {
        "objective": _number(answer.value),
        "lower_bound": _number(answer.certificate.lower_bound),
        "gap": "" if answer.certificate.gap is None else answer.certificate.gap,
        "status": answer.certificate.status.value,
    }


def pairs(values: Mapping[str, int]) -> str:
    """Values by name, as the command line takes them."""
    return ",".join(f"{name}={value}" for name, value in values.items())


def _number(value: Fraction | None) -> int | float | str:
    return "" if value is None else json_number(value)
