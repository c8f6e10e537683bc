"""Results as documents: the models that they are written and read by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, create_model, field_validator

from ithaca.files.json_numbers import json_number
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import UNNAMED
from ithaca.formulations.family import Family
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.schema import Document, Number, Text
from ithaca.solver.certificate import Certificate, Status, Termination, TracePoint
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution


class ProofDocument(Document):
    """What is proven."""

    status: Annotated[Status, Field(strict=False)]
    lower_bound: Number | None
    gap: Annotated[float, Field(ge=0)] | None
    method: Text
    among: str = ""

    def certificate(self) -> Certificate:
        """What the fields state; boxes and seconds are 0 where they state none."""
        return Certificate(self.status, self.lower_bound, self.gap, self.method, 0, 0.0, among=self.among)


class TraceDocument(Document):
    """When incumbent or bound changed: equally long columns."""

    seconds: Annotated[list[Annotated[float, Field(ge=0)]], Field(max_length=1000)]
    nodes: list[Annotated[int, Field(ge=0)]]
    incumbent: list[Number | None]
    lower_bound: list[Number | None]

    @field_validator("nodes", "incumbent", "lower_bound")
    @classmethod
    def _as_long(cls, column: list[Any], known: ValidationInfo) -> list[Any]:
        if len(column) != len(known.data.get("seconds", column)):
            raise ValueError(f"{len(known.data['seconds'])} entries, as in seconds, not {len(column)}")
        return column


class CertificateDocument(ProofDocument):
    """What is proven, and what it took."""

    nodes: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    termination: Annotated[Termination, Field(strict=False)] | None = None
    ties_broken: bool | None = None
    trace: TraceDocument | None = None

    @field_validator("trace", mode="before")
    @classmethod
    def _columns(cls, trace: Any) -> Any:
        """The trace of a certificate in columns."""
        if not isinstance(trace, tuple):
            return trace
        names = ("seconds", "nodes", "value", "lower_bound")
        columns = [[getattr(point, name) for point in trace] for name in names]
        return dict(zip(TraceDocument.model_fields, columns, strict=True)) if trace else None

    def certificate(self) -> Certificate:
        """What the fields state."""
        trace: tuple[TracePoint, ...] = ()
        if self.trace is not None:
            rows = zip(self.trace.seconds, self.trace.nodes, self.trace.incumbent, self.trace.lower_bound, strict=True)
            trace = tuple(TracePoint(*row) for row in rows)
        found = (self.status, self.lower_bound, self.gap, self.method, self.nodes, self.seconds)
        return Certificate(*found, trace, self.termination, self.ties_broken, self.among)


class ShortfallDocument(Document):
    """A limit that cannot be met."""

    metric: Text
    bound: Number
    smallest: Number | None
    others_kept: bool
    proven: bool

    def shortfall(self, design: str) -> Shortfall:
        """What the fields state of a design."""
        return Shortfall(self.metric, self.bound, self.smallest, self.others_kept, self.proven, design)


class SolutionPart(Document):
    """What came of one design; its field ``tiling`` is of the family's own type."""

    tiling: Any
    metrics: dict[str, Any] | None
    certificate: CertificateDocument
    shortfalls: list[ShortfallDocument] = Field(default_factory=list)


class FirstPart(Document):
    """What every document begins with."""

    schema_: Annotated[Literal["ithaca/1"], Field(alias="schema")]
    family: str = UNNAMED


class UnrestrictedDocument(Document):
    """What there is where configurations need not be such as a compiler builds."""

    value: Number
    certificate: ProofDocument


class FreeDocument(UnrestrictedDocument):
    """The same of one workload, with the designs that were solved for it."""

    designs: list[dict[str, Any]] = Field(default_factory=list)


def _claimed(free: FreeDocument | None) -> FreeDocument | None:
    """What may be proven again: earlier versions did not state of which designs it is."""
    return None if free is None or not free.designs else free


class ResultPart(Document):
    """What came of all designs."""

    best: Any
    designs: list[Any]
    unrestricted: Annotated[FreeDocument | None, AfterValidator(_claimed)] = None


@cache
def result_model(family: Family) -> type[ResultPart]:
    """The model of results of a family."""
    # pydantic takes the fields of the last base first
    bases: Any = (SolutionPart, family.choice)
    solution: Any = create_model("SolutionDocument", __base__=bases, tiling=(family.tiling | None, ...))
    bases = (ResultPart, family.head, FirstPart)
    fields: Any = {"best": (solution | None, ...), "designs": (Annotated[list[solution], Field(min_length=1)], ...)}
    found: type[ResultPart] = create_model("ResultDocument", __base__=bases, **fields)
    return found


def head_fields(family: Family, problem: Problem, platform: str, value: Fraction | None) -> dict[str, Any]:
    """The fields that say what was asked: of a problem of any of the designs, on a platform, with the least objective found."""
    return {
        **family.head_fields(problem.design),
        "platform": {"name": platform, "limits": tightest(problem.limits)},
        "objective": {"expression": problem.objective.text, "value": value},
    }


def tightest(limits: Sequence[Limit]) -> dict[str, Fraction]:
    """The least bound by metric."""
    found: dict[str, Fraction] = {}
    for limit in limits:
        found[limit.metric] = min(limit.bound, found.get(limit.metric, limit.bound))
    return found


def configuration_fields(family: Family, problem: Problem, found: Configuration | None) -> dict[str, Any]:
    """A configuration: its design, its factors, its metrics."""
    design = problem.design
    fields: dict[str, Any] = {**family.choice_fields(design), "tiling": None, "metrics": None}
    if found is not None:
        fields["tiling"] = family.tiling_fields(design, found)
        details = {name: _written(part) for name, part in family.detail_fields(design, found).items()}
        fields["metrics"] = _written(problem.metrics(found)) | details
    return fields


def solution_fields(family: Family, solution: Solution) -> dict[str, Any]:
    """What came of one design."""
    proof = {"certificate": solution.certificate, "shortfalls": list(solution.shortfalls)}
    return configuration_fields(family, solution.problem, solution.configuration) | proof


def _written(metrics: Mapping[str, Fraction]) -> dict[str, Any]:
    return {name: json_number(value) for name, value in metrics.items()}
