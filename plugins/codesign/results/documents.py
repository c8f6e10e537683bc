"""The result of a co-design as a JSON document, which stands alone: the space whole, the layers as
nests.

It says what was found and what is proven, not how long that took, and is read back like that of a
network: every mapping is evaluated again on the accelerator that its figures state, and the
document of what was read must be the document in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model

from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.files.numbers import number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_models import built
from ithaca.formulations.documents import Document, Number, Positive, Text
from ithaca.formulations.families import FAMILIES, choice_of, family_of
from ithaca.formulations.family import Family
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.hardware.accelerator import Work
from ithaca.formulations.problem import Problem
from ithaca.formulations.schema import NestDocument, ObjectiveDocument
from ithaca.plugins.codesign.formulations.files import read_space, space_fields
from ithaca.plugins.codesign.results.layers import of_runs
from ithaca.plugins.codesign.studies.question import CodesignQuestion, make_question
from ithaca.plugins.codesign.studies.result import CodesignResult, Counts, HardwarePoint, OpenBox
from ithaca.results.files import check_same, read_shortfalls, read_solution
from ithaca.results.network_parts import (
    Count,
    CountedDocument,
    DesignShortfallDocument,
    OmissionDocument,
    read_certificate,
)
from ithaca.results.schema import FirstPart, configuration_fields, stated_family, tightest
from ithaca.solver.certificate import Status
from ithaca.solver.documents import ProofDocument
from ithaca.solver.solution import Solution
from ithaca.studies.region import dominates
from ithaca.workloads.library import workload_document
from ithaca.workloads.networks.network import Omission


class CodesignLayerDocument(Document):
    """A layer that accelerators are chosen for."""

    name: Text
    count: Count
    problem: NestDocument
    memory: dict[str, list[int]] = Field(default_factory=dict)


class CodesignWorkloadDocument(Document):
    """A workload, and what it counts among others."""

    name: Text
    weight: Positive = Fraction(1)
    layers: Annotated[list[CodesignLayerDocument], Field(min_length=1)]
    omissions: list[OmissionDocument] = Field(default_factory=list)

    def works(self) -> list[Work]:
        """The layers of the workload. Raises `InputError` if a nest is none."""
        layers, omitted = [], tuple(built(Omission, each) for each in self.omissions)
        for layer in self.layers:
            stored = tuple((tensor, tuple(sizes)) for tensor, sizes in layer.memory.items())
            layers.append(
                Work(
                    layer.name,
                    layer.problem.nest(),
                    layer.count,
                    self.weight,
                    self.name,
                    stored,
                    omitted,
                )
            )
        return layers


class MappedDocument(Document):
    """A layer on an accelerator."""

    layer: Text
    workload: Text
    value: Number
    certificate: ProofDocument
    tiling: Any
    metrics: dict[str, Any]


class AcceleratorDocument(Document):
    """An accelerator with a mapping of every layer."""

    hardware: dict[str, int | str]
    costs: dict[str, Number]
    values: dict[str, Number]
    layers: list[Any]


class OpenDocument(Document):
    """Accelerators that are not excluded yet: of every quantity the least and the largest value."""

    spans: dict[str, Annotated[tuple[int, int], Field(strict=False)]]
    points: Annotated[int, Field(ge=1)]
    lower_bounds: Annotated[tuple[Number | None, ...], Field(strict=False)]


#: What a space says for people, and what it is asked where nothing else is: no part of an answer.
UNUSED = {"description", "source", "workloads", "objective", "limits"}


def _used(space: dict[str, Any]) -> dict[str, Any]:
    """The fields of a space that an answer depends on."""
    return {
        name: _used(part) if name == "architecture" and isinstance(part, dict) else part
        for name, part in space.items()
        if name not in UNUSED
    }


class CodesignPart(FirstPart):
    """The whole file; its field ``best``, or ``front`` of several objectives, has tilings as the
    family writes them."""

    study: Literal["codesign"]
    space: Annotated[dict[str, Any], AfterValidator(_used)]
    workloads: Annotated[list[CodesignWorkloadDocument], Field(min_length=1)]
    objective: ObjectiveDocument | None = None
    objectives: list[Text] = Field(default_factory=list)
    limits: dict[str, Number]
    certificate: ProofDocument
    best: Any = None
    front: list[Any] | None = None
    open: list[OpenDocument] = Field(default_factory=list)
    counts: dict[str, int]
    shortfalls: list[DesignShortfallDocument] = Field(default_factory=list)
    complete: bool
    counted: CountedDocument
    """How much of the arithmetic it is about."""


@cache
def codesign_model(family: Family[Any]) -> type[CodesignPart]:
    """The model of results over spaces of a family."""
    bases: Any = (MappedDocument, family.choice)
    layer: Any = create_model("MappedDocument", __base__=bases, tiling=(family.tiling, ...))
    accelerator: Any = create_model(
        "AcceleratorDocument", __base__=AcceleratorDocument, layers=(list[layer], ...)
    )
    model: type[CodesignPart] = create_model(
        "CodesignDocument",
        __base__=CodesignPart,
        best=(accelerator | None, None),
        front=(list[accelerator] | None, None),
    )
    return model


def codesign_document(result: CodesignResult) -> dict[str, Any]:
    """The document of ``ithaca codesign``."""
    question, space = result.question, space_fields(result.question.space)
    one = len(question.objectives) == 1
    parts: dict[str, Any] = {
        "schema": SCHEMA,
        "study": "codesign",
        "family": space["family"],
        "space": space,
        "workloads": [_workload(question, name) for name in question.workloads],
        "limits": tightest(question.limits),
        "certificate": result.certificate,
        "open": list(result.open),
        "counts": asdict(result.counts),
        "shortfalls": list(result.shortfalls),
        "complete": result.complete,
        "counted": result.share.document,
    }
    if one:
        parts["objective"] = {"expression": question.objectives[0].text, "value": result.value}
        parts["best"] = None if result.best is None else _accelerator(question, result.best)
    else:
        parts["objectives"] = [objective.text for objective in question.objectives]
        parts["front"] = [_accelerator(question, accelerator) for accelerator in result.front]
    return (
        codesign_model(FAMILIES[space["family"]])
        .model_validate(parts, from_attributes=True)
        .as_json()
    )


def _workload(question: CodesignQuestion, name: str) -> dict[str, Any]:
    own = [work for work in question.works if work.workload == name]
    layers = [
        {
            "name": work.name,
            "count": work.count,
            "problem": workload_document(work.nest),
            "memory": {tensor: list(sizes) for tensor, sizes in work.stored},
        }
        for work in own
    ]
    return {
        "name": name,
        "weight": own[0].weight,
        "layers": layers,
        "omissions": list(own[0].omitted),
    }


def _accelerator(question: CodesignQuestion, accelerator: HardwarePoint) -> dict[str, Any]:
    return {
        "hardware": question.space.fields(accelerator.point),
        "costs": dict(accelerator.costs),
        "values": {
            o.text: value for o, value in zip(question.objectives, accelerator.values, strict=True)
        },
        "layers": [_mapped(*each) for each in zip(question.works, accelerator.layers, strict=True)],
    }


def _mapped(work: Work, answer: Solution) -> dict[str, Any]:
    own = configuration_fields(answer.problem, answer.configuration)
    named = {
        "layer": work.name,
        "workload": work.workload,
        "value": answer.value,
        "certificate": answer.certificate,
    }
    return own | named


# -- reading ---------------------------------------------------------------------------


def read_codesign(document: Any, path: Path) -> CodesignResult:
    """The result that the document of a file states, checked against the model.

    Seconds are not in the file; they are read as 0. Raises `InputError` if it is no such file, or
    not what the model computes.
    """
    family = stated_family(document.get("family"), path)
    read = validated(codesign_model(family), document, path)
    with errors_at(path):
        result = _read(read)
        check_same(read.as_json(), codesign_document(result), "")
        _check(result)
    return result


def _read(read: Any) -> CodesignResult:
    space = read_space(read.space, "space")
    works = [work for workload in read.workloads for work in workload.works()]
    objectives = [read.objective.expression] if read.objective else read.objectives
    question = make_question(space, works, objectives, read.limits)
    front = tuple(
        _read_accelerator(question, each, f"front[{n}]") for n, each in enumerate(read.front or ())
    )
    best = (
        front[0]
        if front
        else None
        if read.best is None
        else _read_accelerator(question, read.best, "best")
    )
    certificate = read_certificate(
        read.certificate, None if best is None else best.values[0], "certificate"
    )
    if best is not None and certificate.status is Status.OPTIMAL:  # a file states bounds as doubles
        certificate = replace(certificate, lower_bound=best.values[0])
    open_ = tuple(_read_box(question, box, f"open[{n}]") for n, box in enumerate(read.open))
    counts = Counts(
        **{field.name: read.counts.get(field.name, 0) for field in fields(Counts)}
        | {"points": space.box.count}
    )
    falls = read_shortfalls(read.shortfalls, question.limits, "shortfalls")
    accelerators = front or (() if best is None else (best,))
    return CodesignResult(question, best, accelerators, certificate, open_, counts, falls)


def _read_box(question: CodesignQuestion, read: OpenDocument, at: str) -> OpenBox:
    quantities = question.space.quantities
    if read.spans.keys() != {q.name for q in quantities} or len(read.lower_bounds) != len(
        question.objectives
    ):
        raise InputError(f"{at} is not of the quantities and objectives of the space: {EDITED}")
    values = {}
    for quantity in quantities:
        low, high = ends = read.spans[quantity.name]
        if low > high or not {low, high} <= {*quantity.values}:
            allowed = f"two of {', '.join(map(str, quantity.values))}"
            raise InputError(f"{at}.spans.{quantity.name} is {quoted(ends)}; allowed: {allowed}")
        values[quantity.name] = [value for value in quantity.values if low <= value <= high]
    return OpenBox(question.space.box.only(values), read.lower_bounds)


def _read_accelerator(question: CodesignQuestion, read: Any, at: str) -> HardwarePoint:
    space, values = question.space, {}
    if read.hardware.keys() != {q.name for q in space.quantities}:
        names = ", ".join(q.name for q in space.quantities)
        raise InputError(f"{at}.hardware has {', '.join(read.hardware)}; allowed: {names}")
    for quantity in space.quantities:
        label = read.hardware[quantity.name]
        values[quantity.name] = quantity.labelled(label, f"{at}.hardware.{quantity.name}")
    point = Configuration(values)
    if broken := [rule.text for rule in space.rules if not rule.allows(point)]:
        raise InputError(
            f"{at}.hardware breaks the rule {quoted(broken[0])}; allowed: accelerators of the space"
        )
    if len(read.layers) != len(question.works):
        raise InputError(
            f"{at}.layers are {len(read.layers)}; allowed: "
            f"{len(question.works)}, those of the workloads"
        )
    costs, objective = space.cost(point), of_runs(question).of_layer(space.known(point))
    layers = []
    for place, (work, mapped) in enumerate(zip(question.works, read.layers, strict=True)):
        problems = space.accelerator.problems(work, space.at(point), objective)
        here = f"{at}.layers[{place}]"
        problem = _chosen(problems, mapped, here)
        certificate = read_certificate(mapped.certificate, mapped.value, f"{here}.certificate")
        layers.append(read_solution(problem, mapped.tiling, certificate, here))
    accelerator = HardwarePoint(point, costs, (), tuple(layers))
    return replace(
        accelerator, values=tuple(accelerator.total(amount) for amount in question.minimised)
    )


def _chosen(problems: Sequence[Problem], read: Any, at: str) -> Problem:
    """The problem of the design that a document states."""
    model = family_of(problems[0].design).choice
    stated = {name: getattr(read, name) for name in model.model_fields}
    for problem in problems:
        if dict(model.model_validate(choice_of(problem.design), from_attributes=True)) == stated:
            return problem
    raise InputError(
        f"{at}.{', '.join(stated)} are of no design of the layer; allowed: one of {len(problems)}"
    )


def _check(result: CodesignResult) -> None:
    """Refuse accelerators over a limit, and proofs that contradict what was found."""
    question = result.question
    for place, accelerator in enumerate(result.front):
        at = "best" if len(question.objectives) == 1 else f"front[{place}]"
        for amount in question.limited:
            if amount.bound is not None and (used := accelerator.total(amount)) > amount.bound:
                whose = "" if amount.workload is None else f" of {amount.workload}"
                if is_requirement(amount.text):
                    raise InputError(
                        f"{at}: requirement {amount.text}{whose} is missed by "
                        f"{number(used - amount.bound)}; allowed: accelerators that keep it"
                    )
                what = f"{amount.text}{whose} is {number(used)}"
                raise InputError(
                    f"{at}: {what}; allowed: at most {number(amount.bound)}, the limit"
                )
        better = [
            other
            for other in result.front
            if other is not accelerator and dominates(other.values, accelerator.values)
        ]
        if better:
            raise InputError(f"{at} is dominated by another accelerator of the front: {EDITED}")
