"""What is made of answers by their kind: documents, labelled arrays, tables, charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ithaca.exports.charts.codesign import codesign_chart
from ithaca.exports.charts.network import network_chart
from ithaca.exports.charts.of_studies import front_chart, study_chart
from ithaca.results import datasets, study_explanation
from ithaca.results.codesign import codesign_document
from ithaca.results.codesign_layers import architecture_of, networks
from ithaca.results.files import result_document
from ithaca.results.network import network_document
from ithaca.results.network_explanation import network_failure
from ithaca.results.studies import front_document, study_document
from ithaca.results.table import network_table
from ithaca.solver.result import Result
from ithaca.studies.codesign.result import CodesignResult
from ithaca.studies.front import Front
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.whatif import Study

#: What `Answer.made` asks, by name.
MADE: Mapping[type, Mapping[str, Callable[..., Any]]] = {
    Result: {"document": result_document, "dataset": datasets.result_dataset},
    NetworkResult: {
        "document": network_document,
        "dataset": datasets.network_dataset,
        "failure": network_failure,
        "table": network_table,
        "chart": network_chart,
    },
    CodesignResult: {
        "document": codesign_document,
        "dataset": datasets.codesign_dataset,
        "networks": lambda result: networks(result.question, result.best, proven=result.complete),
        "architecture": lambda result: architecture_of(result.question, result.best),
        "chart": codesign_chart,
    },
    Front: {
        "document": front_document,
        "dataset": datasets.front_dataset,
        "chart": front_chart,
        "statements": study_explanation.front_statements,
        "rows": study_explanation.front_rows,
    },
    Study: {
        "document": study_document,
        "dataset": datasets.study_dataset,
        "chart": study_chart,
        "statements": study_explanation.study_statements,
        "rows": study_explanation.study_rows,
    },
}
