"""Studies and fronts as JSON documents: their fields, and how they are filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model

from ithaca.files.writing import SCHEMA
from ithaca.formulations.documents import Document, Number
from ithaca.formulations.families import UNNAMED, choice_of, family_of
from ithaca.formulations.problem import Problem
from ithaca.formulations.schema import ObjectiveDocument
from ithaca.results.network_parts import DesignShortfallDocument
from ithaca.results.schema import FirstPart, configuration_fields, head_fields, tightest
from ithaca.solver.documents import CertificateDocument, RunDocument
from ithaca.solver.solution import Solution
from ithaca.studies.front import Front, FrontPoint
from ithaca.studies.grid import Index
from ithaca.studies.marginal import Marginal
from ithaca.studies.prover import ProofStep
from ithaca.studies.whatif import Study, StudyPoint

Whole = Annotated[int, Field(ge=0)]


class ConfigurationDocument(Document):
    """A configuration of a design; further fields say which design of its family it is."""

    model_config = ConfigDict(extra="allow")

    tiling: Any
    metrics: dict[str, Any]


class MarginalDocument(Document):
    """The marginal value of a limit: a change of the optimum as it is raised."""

    limit: str
    from_: Number
    to: Number
    value: Number | None
    change: Number | None
    proven: bool
    certificate: CertificateDocument


class PointDocument(Document):
    """The best at one point of a study."""

    at: dict[str, str | int | float]
    question: dict[str, Any] = Field(default_factory=dict)
    objective: ObjectiveDocument
    limits: dict[str, Number]
    certificate: CertificateDocument
    best: ConfigurationDocument | None
    shortfall: str = ""
    shortfalls: list[DesignShortfallDocument] = Field(default_factory=list)
    marginal: list[MarginalDocument] = Field(default_factory=list)
    runs: list[RunDocument] = Field(default_factory=list)


class AxisDocument(Document):
    """A quantity that was varied, and its values."""

    name: str
    unit: str
    values: list[str | int | float]


class StudyDocument(FirstPart):
    """A what-if study; further fields say what was fixed."""

    model_config = ConfigDict(extra="allow")

    study: Literal["whatif"]
    axes: list[AxisDocument]
    complete: bool
    points: list[PointDocument]


class StepDocument(Document):
    """One proven minimum."""

    minimised: str
    under: dict[str, dict[Literal["<", "<="], Number]]
    minimum: Number | None
    designs_solved: Whole
    designs_known: Whole
    nodes: Whole
    seconds: Annotated[float, Field(ge=0)]


class FrontPointDocument(ConfigurationDocument):
    """A point of a front, and why it is on it."""

    values: dict[str, Number]
    proof: list[StepDocument]


class FrontDocument(FirstPart):
    """A Pareto front; further fields say what was fixed."""

    model_config = ConfigDict(extra="allow")

    study: Literal["pareto"]
    question: dict[str, Any] = Field(default_factory=dict)
    objectives: list[str]
    complete: bool
    unfinished: str | None
    nodes: Whole
    seconds: Annotated[float, Field(ge=0)]
    points: list[FrontPointDocument]
    completeness: list[StepDocument]
    among: str = ""
    shortfalls: list[DesignShortfallDocument] = Field(default_factory=list)


def study_document(study: Study) -> dict[str, Any]:
    """The document of ``ithaca whatif --json``."""
    fields = {
        "schema": SCHEMA,
        "study": "whatif",
        "axes": [axis.document for axis in study.axes],
        "complete": study.complete,
        "points": [_point(study, index, point) for index, point in study.points.items()],
    }
    return StudyDocument.model_validate(
        {**fields, **study.provenance}, from_attributes=True
    ).as_json()


def front_document(front: Front) -> dict[str, Any]:
    """The document of ``ithaca pareto --json``."""
    names, facts = [o.text for o in front.objectives], front.provenance
    problems = [replace(problem, objective=front.objectives[0]) for problem in front.problems]
    fields = {
        "schema": SCHEMA,
        "study": "pareto",
        "question": question_fields(problems, facts.get("platform", facts.get("arch", UNNAMED))),
        "objectives": names,
        "complete": front.complete,
        "unfinished": front.unfinished,
        "nodes": front.nodes,
        "seconds": front.seconds,
        "points": [_front_point(point, names) for point in front.points],
        "completeness": [_step(step, names) for step in front.completeness],
        "among": front.among,
        "shortfalls": list(front.shortfalls),
    }
    return FrontDocument.model_validate({**fields, **facts}, from_attributes=True).as_json()


def point_document(study: Study, index: Index, point: StudyPoint) -> dict[str, Any]:
    """One point of a study as its document states it.

    Parameters
    ----------
    study : Study
        The study; its axes label the point.
    index : Index
        The place of the point on every axis.
    point : StudyPoint
        The answer there.
    """
    return PointDocument.model_validate(_point(study, index, point), from_attributes=True).as_json()


def _point(study: Study, index: Index, point: StudyPoint) -> dict[str, Any]:
    labels, answer, problem = study.labels(index), point.answer, point.problems[0]
    known = {**study.provenance, **labels}
    return {
        "at": labels,
        "question": question_fields(
            point.problems, str(known.get("platform", known.get("arch", UNNAMED)))
        ),
        "objective": {"expression": problem.objective.text, "value": answer.value},
        "limits": tightest(problem.limits),
        "certificate": answer.certificate,
        "best": None if answer.configured is None else _configuration(answer.configured),
        "shortfall": answer.explain(),
        "shortfalls": list(answer.shortfalls),
        "marginal": [_marginal(m) for m in point.marginals],
        "runs": list(point.runs),
    }


def question_fields(problems: Sequence[Problem], platform: str) -> dict[str, Any]:
    """The fields of a question, with its designs."""
    family = family_of(problems[0].design)
    head = head_fields(problems, platform, None)
    bases: Any = (family.head, FirstPart)
    choices: Any = list[family.choice]  # type: ignore[name-defined]
    model: Any = create_model("QuestionDocument", __base__=bases, designs=(choices, ...))
    designs = [choice_of(problem.design) for problem in problems]
    fields = {"schema": SCHEMA, "family": problems[0].design.family, **head, "designs": designs}
    document: dict[str, Any] = model.model_validate(fields, from_attributes=True).as_json()
    return document


def configuration_document(solution: Solution | FrontPoint) -> dict[str, Any]:
    """A configuration as studies and fronts state it."""
    fields = _configuration(solution)
    return ConfigurationDocument.model_validate(fields, from_attributes=True).as_json()


def _configuration(solution: Solution | FrontPoint) -> dict[str, Any]:
    assert solution.configuration is not None
    return configuration_fields(solution.problem, solution.configuration)


def _marginal(marginal: Marginal[Solution]) -> dict[str, Any]:
    return {
        "limit": marginal.limit.metric,
        "from": marginal.limit.bound,
        "to": marginal.raised.bound,
        "value": marginal.after.value,
        "change": marginal.change,
        "proven": marginal.proven,
        "certificate": marginal.after.certificate,
    }


def _front_point(point: FrontPoint, names: list[str]) -> dict[str, Any]:
    return {
        "values": dict(zip(names, point.values, strict=True)),
        **_configuration(point),
        "proof": [_step(step, names) for step in point.proof],
    }


def _step(step: ProofStep, names: list[str]) -> dict[str, Any]:
    bounds = zip(names, step.region, strict=True)
    return {
        "minimised": names[step.objective],
        "under": {
            name: {"<" if b.strict else "<=": b.value} for name, b in bounds if b is not None
        },
        "minimum": step.value,
        "designs_solved": step.solved,
        "designs_known": step.known,
        "nodes": step.nodes,
        "seconds": step.seconds,
    }
