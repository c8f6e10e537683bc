"""Explanations as JSON documents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ithaca.formulations.json_numbers import SCHEMA, json_number
from ithaca.solver.loaded_result import LoadedResult
from ithaca.studies.documents import certificate_document
from ithaca.studies.explanation.binding import Contender
from ithaca.studies.explanation.changes import Change
from ithaca.studies.explanation.explanation import Explanation
from ithaca.studies.explanation.facts import Facts
from ithaca.studies.explanation.roofs import ComputeRoof, Roofs
from ithaca.workloads.library import workload_document


def explanation_document(result: LoadedResult, explanation: Explanation) -> dict[str, Any]:
    """The document of ``ithaca explain --json``; exact where JSON numbers can be, else the nearest double."""
    known, array = explanation.facts, explanation.array
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "study": "explain",
        "workload": workload_document(result.nest) | {"dtype": result.data.name},
        "platform": {
            "name": result.platform_name,
            "limits": {limit.metric: json_number(limit.bound) for limit in result.limits},
        },
        "edition": result.edition.value,
        "objective": {"expression": result.objective.text, "value": _number(None if known is None else known.value)},
        "failure": explanation.failure,
        "design": None,
    }
    if known is None or array is None or explanation.certificate is None:
        return document
    document["design"] = {"dataflow": list(array.dataflow), "permutation": array.permutation, "buildable": array.buildable}
    document["certificate"] = certificate_document(explanation.certificate)
    document |= _facts(known)
    document["next_best"] = None
    if explanation.next_best is not None:
        name, value = explanation.next_best
        document["next_best"] = {"design": name, "value": json_number(value)}
    document["changes"] = None if explanation.changes is None else [_change(change) for change in explanation.changes]
    document["first_change"] = None if explanation.first is None else _change(explanation.first)
    return document


def _facts(known: Facts) -> dict[str, Any]:
    first, padding, cycles = known.binding, known.padding, known.cycles
    return {
        "binding": {
            "first": _contender(first.first),
            "second": _contender(first.second),
            "ratio": _number(first.ratio),
            "main": json_number(first.main),
            "share_of_latency": json_number(first.share),
        },
        "cycles": {
            "latency": json_number(cycles.latency),
            **{name: json_number(getattr(cycles, name)) for name in cycles.shares},
            "shares": {name: json_number(share) for name, share in cycles.shares.items()},
        },
        "padding": {
            "operations": padding.operations,
            "padded_operations": padding.padded_operations,
            "share": json_number(padding.share),
            "loops": [{name: getattr(loop, name) for name in loop.__slots__} for loop in padding.loops],
        },
        "limits": [
            {
                "limit": use.metric,
                "used": json_number(use.used),
                "bound": json_number(use.bound),
                "slack": json_number(use.slack),
                "slack_share": _number(use.slack_share),
            }
            for use in known.limits
        ],
        "roofs": _roofs(known.roofs),
    }


def _roofs(roofs: Roofs) -> dict[str, Any]:
    def compute(roof: ComputeRoof) -> dict[str, Any]:
        return {"mac_units": roof.units, "cycles": json_number(roof.cycles), "distance": json_number(roofs.distance(roof))}

    traffic = roofs.traffic
    return {
        "array": compute(roofs.array),
        "budget": None if roofs.budget is None else compute(roofs.budget),
        "traffic": {
            "array": traffic.array,
            "port_words": traffic.port_words,
            "cycles": json_number(traffic.cycles),
            "distance": json_number(roofs.distance(traffic)),
            "least_words": traffic.least_words,
            "least_words_by_array": dict(traffic.least),
            "moved_words": json_number(traffic.moved_words),
            "moved_words_by_array": {name: json_number(words) for name, words in traffic.moved.items()},
        },
        "operations_per_word": json_number(roofs.intensity),
        "most_operations_per_word": json_number(roofs.most_intensity),
    }


def _contender(contender: Contender | None) -> dict[str, Any] | None:
    return None if contender is None else {"name": contender.name, "cycles": json_number(contender.cycles)}


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "what": change.what,
        "percent": change.percent,
        "from": _number(change.limit),
        "to": _number(change.raised),
        "before": json_number(change.before),
        "after": json_number(change.after),
        "gain": _number(change.gain),
        "proven": change.proven,
    }


def _number(value: Fraction | None) -> int | float | None:
    return None if value is None else json_number(value)
