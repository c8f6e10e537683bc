"""Results as documents: the models that they are written and read by."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from ithaca.files.messages import among, quoted, refuse
from ithaca.files.numbers import json_ready
from ithaca.files.writing import Schema
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.documents import Document, Number
from ithaca.formulations.families import FAMILIES, UNNAMED, family_of
from ithaca.formulations.family import Family
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.schema import STATED_UNITS
from ithaca.solver.documents import (
    CertificateDocument,
    ProofDocument,
    RunDocument,
    ShortfallDocument,
)
from ithaca.solver.result import NEAR
from ithaca.solver.solution import Solution


class TilingPart(Document):
    """A configuration; its field ``tiling`` is of the family's own type."""

    tiling: Any


class SolutionPart(Document):
    """The solution of one design; its field ``tiling`` is of the family's own type."""

    tiling: Any
    metrics: dict[str, Any] | None
    certificate: CertificateDocument
    shortfalls: list[ShortfallDocument] = Field(default_factory=list)


class FirstPart(Document):
    """The fields that every document begins with."""

    schema_: Schema
    family: str = UNNAMED


class UnrestrictedDocument(Document):
    """The optimum where configurations need not be such as a compiler builds."""

    value: Number
    certificate: ProofDocument


class NeighbourhoodDocument(Document):
    """The objective around the best configuration."""

    around: Annotated[int, Field(ge=1, le=NEAR)]
    factors: dict[str, list[int]]
    legal: int
    feasible: int
    objective: list[int | float | None]


class ResultPart(Document):
    """The solutions of all designs."""

    best: Any
    designs: list[Any]
    unrestricted: UnrestrictedDocument | None = None
    runs: list[RunDocument] = Field(default_factory=list)
    neighbourhood: NeighbourhoodDocument | None = None


@cache
def result_model(family: Family[Any]) -> type[ResultPart]:
    """The model of results of a family."""
    # pydantic takes the fields of the last base first
    bases: Any = (SolutionPart, family.choice)
    solution: Any = create_model(
        "SolutionDocument", __base__=bases, tiling=(family.tiling | None, ...)
    )
    bases = (ResultPart, family.head, FirstPart)
    fields: Any = {
        "best": (solution | None, ...),
        "designs": (Annotated[list[solution], Field(min_length=1)], ...),
    }
    model: type[ResultPart] = create_model("ResultDocument", __base__=bases, **fields)
    return model


@cache
def tiling_model(family: Family[Any]) -> type[TilingPart]:
    """The model of the configuration alone, as a family writes it."""
    model: type[TilingPart] = create_model(
        "TilingDocument", __base__=TilingPart, tiling=(family.tiling, ...)
    )
    return model


def head_fields(
    problems: Sequence[Problem], platform: str, value: Fraction | None
) -> dict[str, Any]:
    """The fields of a document that say what was asked.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design, alike in everything else.
    platform : str
        The name of the device or architecture.
    value : Fraction or None
        The least objective that was found.

    Returns
    -------
    dict
        The fields, by name.
    """
    problem, family = problems[0], family_of(problems[0].design)
    return {
        **family.head_fields(problem.design),
        **family.restriction_fields([each.design for each in problems]),
        "platform": platform_fields(platform, problem.limits),
        "objective": {"expression": problem.objective.text, "value": value},
    }


def platform_fields(name: str, limits: Sequence[Limit]) -> dict[str, Any]:
    """The fields of a device with its limits, and the units of those that have several."""
    bounds = tightest(limits)
    units = {metric: unit for metric, unit in STATED_UNITS.items() if metric in bounds}
    return {"name": name, "limits": bounds, "units": units}


def tightest(limits: Sequence[Limit]) -> dict[str, Fraction]:
    """The least bound by metric."""
    least: dict[str, Fraction] = {}
    for limit in limits:
        least[limit.metric] = min(limit.bound, least.get(limit.metric, limit.bound))
    return least


def configuration_fields(problem: Problem, configuration: Configuration | None) -> dict[str, Any]:
    """A configuration: its design, its factors, its metrics."""
    design, family = problem.design, family_of(problem.design)
    fields: dict[str, Any] = {**family.choice_fields(design), "tiling": None, "metrics": None}
    if configuration is not None:
        fields["tiling"] = family.tiling_fields(design, configuration)
        details = family.detail_fields(design, configuration)
        fields["metrics"] = json_ready({**problem.metrics(configuration), **details})
    return fields


def solution_fields(solution: Solution) -> dict[str, Any]:
    """The fields of the solution of one design."""
    proof = {"certificate": solution.certificate, "shortfalls": list(solution.shortfalls)}
    return configuration_fields(solution.problem, solution.configuration) | proof


def stated_family(name: Any, path: Path) -> Family[Any]:
    """The family of a name that a file states."""
    if not isinstance(name, str) or name not in FAMILIES:
        raise refuse(path, f"family is {quoted(name)}{among(name, FAMILIES)}")
    return FAMILIES[name]


def agree(recorded: Any, model: Any) -> bool:
    """Whether a leaf of a document is what the model computes, or the double nearest to it."""
    if recorded == model and isinstance(recorded, bool) == isinstance(model, bool):
        return True
    if any(isinstance(n, bool) or not isinstance(n, int | float) for n in (recorded, model)):
        return False
    return isinstance(recorded, float) and recorded == float(min(model, 1e300))
