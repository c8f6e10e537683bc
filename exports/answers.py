"""The functions that make documents, labelled arrays, tables and charts of answers, by their
kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ithaca.files.registry import Registry

#: What `Answer.made` asks, by the name of the answer's class, and its own.
MADE: Mapping[str, Registry[Callable[..., Any]]] = {
    "Result": Registry(
        {
            "view": "ithaca.results.result_view:result_view",
            "document": "ithaca.results.files:result_document",
            "dataset": "ithaca.results.datasets:result_dataset",
        }
    ),
    "NetworkResult": Registry(
        {
            "view": "ithaca.results.network_view:network_view",
            "document": "ithaca.results.network:network_document",
            "dataset": "ithaca.results.datasets:network_dataset",
            "failure": "ithaca.results.network_explanation:network_failure",
            "table": "ithaca.results.table:network_table",
            "chart": "ithaca.exports.charts.network:network_chart",
        }
    ),
    "CodesignResult": Registry(
        {
            "view": "ithaca.results.codesign_view:codesign_view",
            "document": "ithaca.results.codesign:codesign_document",
            "dataset": "ithaca.results.datasets:codesign_dataset",
            "networks": "ithaca.results.codesign_layers:networks",
            "architecture": "ithaca.results.codesign_layers:architecture_of",
            "chart": "ithaca.exports.charts.codesign:codesign_chart",
        }
    ),
    "Front": Registry(
        {
            "view": "ithaca.results.study_explanation:front_view",
            "document": "ithaca.results.studies:front_document",
            "dataset": "ithaca.results.datasets:front_dataset",
            "chart": "ithaca.exports.charts.of_studies:front_chart",
            "statements": "ithaca.results.study_explanation:front_statements",
        }
    ),
    "Study": Registry(
        {
            "view": "ithaca.results.study_explanation:study_view",
            "document": "ithaca.results.studies:study_document",
            "dataset": "ithaca.results.datasets:study_dataset",
            "chart": "ithaca.exports.charts.of_studies:study_chart",
            "statements": "ithaca.results.study_explanation:study_statements",
        }
    ),
}
