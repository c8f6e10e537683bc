"""Explanations as JSON documents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ithaca.formulations.families import FAMILIES, Families
from ithaca.formulations.json_numbers import SCHEMA, json_number
from ithaca.results.result import Result
from ithaca.results.schema import head_fields
from ithaca.studies.documents import certificate_document
from ithaca.studies.explanation.changes import Change
from ithaca.studies.explanation.explanation import Explanation


def explanation_document(result: Result, explanation: Explanation, families: Families = FAMILIES) -> dict[str, Any]:
    """The document of ``ithaca explain --json``; exact where JSON numbers can be, else the nearest double."""
    solution, family = explanation.solution, families[result.problem.design.family]
    asked = head_fields(family, result.problem, result.platform_name, None if solution is None else solution.value)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "study": "explain",
        **family.head.model_validate(asked).written(),
        "failure": explanation.failure,
        "design": None,
    }
    if solution is None or explanation.certificate is None:
        return document
    document["design"] = dict(family.choice_fields(solution.problem.design))
    document["certificate"] = certificate_document(explanation.certificate)
    document |= explanation.remarks.document
    document["limits"] = [
        {
            "limit": use.metric,
            "used": json_number(use.used),
            "bound": json_number(use.bound),
            "slack": json_number(use.slack),
            "slack_share": _number(use.slack_share),
        }
        for use in explanation.limits
    ]
    document["next_best"] = None
    if explanation.next_best is not None:
        name, value = explanation.next_best
        document["next_best"] = {"design": name, "value": json_number(value)}
    document["changes"] = None if explanation.changes is None else [_change(change) for change in explanation.changes]
    document["first_change"] = None if explanation.first is None else _change(explanation.first)
    return document


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
