"""The functions that make documents, labelled arrays, tables and charts of answers, by their
kind."""

from __future__ import annotations

from ithaca.exports.charts.codesign import codesign_chart
from ithaca.exports.charts.network import network_chart
from ithaca.exports.charts.of_studies import front_chart, study_chart
from ithaca.results import datasets, study_explanation
from ithaca.results.codesign import codesign_document
from ithaca.results.codesign_layers import architecture_of, networks
from ithaca.results.codesign_view import codesign_view
from ithaca.results.files import result_document
from ithaca.results.network import network_document
from ithaca.results.network_explanation import network_failure
from ithaca.results.network_view import network_view
from ithaca.results.result_view import result_view
from ithaca.results.studies import front_document, study_document
from ithaca.results.table import network_table
from ithaca.solver.result import Result
from ithaca.studies.codesign.result import CodesignResult
from ithaca.studies.front import Front
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.whatif import Study

#: What `Answer.made` asks, by name.
MADE = {
    Result: {"view": result_view, "document": result_document, "dataset": datasets.result_dataset},
    NetworkResult: {
        "view": network_view,
        "document": network_document,
        "dataset": datasets.network_dataset,
        "failure": network_failure,
        "table": network_table,
        "chart": network_chart,
    },
    CodesignResult: {
        "view": codesign_view,
        "document": codesign_document,
        "dataset": datasets.codesign_dataset,
        "networks": networks,
        "architecture": architecture_of,
        "chart": codesign_chart,
    },
    Front: {
        "view": study_explanation.front_view,
        "document": front_document,
        "dataset": datasets.front_dataset,
        "chart": front_chart,
        "statements": study_explanation.front_statements,
    },
    Study: {
        "view": study_explanation.study_view,
        "document": study_document,
        "dataset": datasets.study_dataset,
        "chart": study_chart,
        "statements": study_explanation.study_statements,
    },
}
