"""Fronts and what-if studies, read back from documents.

The question is posed again, configurations are evaluated by Fractions, and the document of all this
must be the document that was read. What it says to be proven is stated, not proven again
(`ithaca.results.verification`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.files.numbers import json_number
from ithaca.formulations.data_types import data_type
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import number
from ithaca.formulations.families import family_of, profile_of
from ithaca.formulations.platform import Share
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.results.files import (
    check_proof,
    check_same,
    read_problems,
    read_shortfalls,
    read_solution,
)
from ithaca.results.schema import tiling_model
from ithaca.results.studies import (
    AxisDocument,
    FrontDocument,
    PointDocument,
    StepDocument,
    StudyDocument,
    front_document,
    question_fields,
    study_document,
)
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.documents import read_runs
from ithaca.solver.solution import Solution
from ithaca.studies.front import Front, FrontPoint, check_objectives
from ithaca.studies.grid import StudyAxis, indices
from ithaca.studies.marginal import Marginal, raisable_limits
from ithaca.studies.points import places_text, study_title
from ithaca.studies.prover import ProofStep
from ithaca.studies.region import Bound, undominated
from ithaca.studies.whatif import Study, StudyPoint


def posed_problems(document: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """The problems that a file poses, one per design."""
    question = document.get("question")
    if not isinstance(question, Mapping) or not isinstance(question.get("designs"), list):
        raise InputError("question.designs is missing; allowed: the designs that were asked for")
    problems = read_problems(question, path)
    model = question_fields(problems, question["platform"]["name"])  # without an answer
    check_same(question, model, "question")
    return problems


#: The certificate of a configuration of which nothing is proven.
FEASIBLE = Certificate(Status.FEASIBLE, None, None, "none")


def evaluated(
    question: Mapping[str, Any],
    problems: Sequence[Problem],
    stated: Mapping[str, Any],
    path: Path,
    certificate: Certificate = FEASIBLE,
    at: str = "best",
) -> Solution:
    """The configuration that a file states, evaluated by Fractions.

    Parameters
    ----------
    question : Mapping
        The part of the document that says what was asked.
    problems : sequence of Problem
        What it poses, one per design.
    stated : Mapping
        The part that states the configuration.
    path : Path
        The file.
    certificate : Certificate, optional
        What is stated to be proven of it.
    at : str, optional
        Its place in the file, such as ``points[3]``, for messages.

    Raises
    ------
    InputError
        If it is of no design of the question, or not within its space and limits.
    """
    choice = {name: stated.get(name) for name in question["designs"][0]}
    if choice not in question["designs"]:
        raise InputError(f"{at} is of no design of the question: {EDITED}")
    problem = problems[question["designs"].index(choice)]
    model = tiling_model(family_of(problem.design))
    with errors_at(path, f"{at}."):
        tiling = validated(model, {"tiling": stated["tiling"]}, path).tiling
    return read_solution(problem, tiling, certificate, at)


def read_front(document: Any, path: Path) -> Front:
    """The front that a document states, checked against the model."""
    read = validated(FrontDocument, document, path)
    with errors_at(path):
        problems = posed_problems(document, path)
        question, names = document["question"], read.objectives
        objectives = check_objectives(names, problems[0].design.vocabulary)
        check_distinct_points(question, document["points"])
        points = []
        for place, (stated, point) in enumerate(zip(read.points, document["points"], strict=True)):
            solution = evaluated(question, problems, point, path, at=f"points[{place}]")
            assert solution.configuration is not None
            proof = [_step(step, names) for step in stated.proof]
            points.append(
                FrontPoint.of(solution.problem, solution.configuration, objectives, proof)
            )
        best = undominated((point.values, (place,)) for place, point in enumerate(points))
        if worse := {*range(len(points))} - {place for _, (place,) in best}:
            raise InputError(f"points[{min(worse)}] is dominated by another: {EDITED}")
        if points != sorted(points, key=lambda point: point.values):
            raise InputError(f"points are not in order of {names[0]}: {EDITED}")
        limits = problems[0].limits
        front = Front(
            objectives,
            problems,
            tuple(points),
            read.unfinished,
            tuple(_step(step, names) for step in read.completeness),
            read.nodes,
            read.seconds,
            read_shortfalls(read.shortfalls, limits, "shortfalls"),
            fixed_by(question, problems[0], ()),
        )
        check_same(document, front_document(front), "")
    return front


def check_distinct_points(question: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a configuration that is stated twice, before any is evaluated."""
    places = dict[str, int]()
    for place, point in enumerate(points):
        choice = [point.get(name) for name in question["designs"][0]]
        first = places.setdefault(json.dumps([choice, point["tiling"]], sort_keys=True), place)
        if first != place:
            raise InputError(
                f"points[{place}] is the configuration of points[{first}]; allowed: each once"
            )


def _step(read: StepDocument, names: Sequence[str]) -> ProofStep:
    """A proven minimum that a document states."""
    if unknown := min({read.minimised, *read.under} - {*names}, default=None):
        raise InputError(f"a proof is of {quoted(unknown)}; allowed: {', '.join(names)}")
    region = (read.under.get(name, {}) for name in names)
    bounds = [[Bound(value, sign == "<") for sign, value in each.items()] for each in region]
    return ProofStep(
        names.index(read.minimised),
        tuple(each[0] if each else None for each in bounds),
        read.minimum,
        read.designs_solved,
        read.designs_known,
        read.nodes,
        read.seconds,
    )


def check_count(axes: Sequence[AxisDocument], points: Sequence[Any]) -> None:
    """Refuse more or fewer points than axes have, before any is evaluated."""
    if prod(len(axis.values) for axis in axes) != len(points):
        raise InputError(f"points are not those of axes: {EDITED}")


def read_study(document: Any, path: Path) -> Study:
    """The what-if study that a document states, checked against the model."""
    read = validated(StudyDocument, document, path)
    with errors_at(path):
        names, stated = [axis.name for axis in read.axes], document["points"]
        check_count(read.axes, stated)
        points = [
            _point(point, stated[place], path, f"points[{place}]")
            for place, point in enumerate(read.points)
        ]
        fixed = [
            fixed_by(own["question"], point.problems[0], names)
            for own, point in zip(stated, points, strict=True)
        ]
        axes = tuple(_axis(a.name, a.values, points[0].problems[0]) for a in read.axes)
        places = list(indices(axes))
        if any(other != fixed[0] for other in fixed):
            raise InputError(f"points are not those of axes: {EDITED}")
        percents = [known for p in points if (known := raised_by(p)) is not None]
        several = "architectures" if "architecture" in stated[0]["question"] else "platforms"
        study = Study(
            axes,
            dict(zip(places, points, strict=True)),
            read.complete,
            percents[0] if percents else None,
            {"title": study_title(fixed[0], places_text(axes, several)), **fixed[0]},
        )
        check_same(document, study_document(study), "")
    return study


def _point(read: PointDocument, stated: Mapping[str, Any], path: Path, at: str) -> StudyPoint:
    """A point of a study; its marginal values are claims, as no configuration is stated of them."""
    with errors_at(path, f"{at}: "):
        problems, question = posed_problems(stated, path), stated["question"]
        labels_follow(read.at, question, problems[0])
        certificate = read.certificate.certificate()
        answer = Solution(problems[0], None, None, certificate)
        if stated["best"] is not None:
            answer = evaluated(question, problems, stated["best"], path, certificate)
        check_proof(answer.certificate, answer.value, "certificate")
        falls = read_shortfalls(read.shortfalls, problems[0].limits, "shortfalls")
        answer = replace(answer, shortfalls=falls)
        raised = raisable_limits(problems) if read.marginal else []
        if len(raised) != len(read.marginal):
            raise InputError(f"marginal is not of all limits that may bind: {EDITED}")
        marginals = [
            Marginal(
                limit,
                Limit(limit.metric, value.to),
                answer,
                Solution(problems[0], None, value.value, value.certificate.certificate()),
            )
            for limit, value in zip(raised, read.marginal, strict=True)
        ]
        runs = read_runs(read.runs, [answer])
        return StudyPoint(problems, answer, tuple(marginals), runs)


def raised_by(point: StudyPoint) -> Fraction | None:
    """The percentage by which the limits of a point were raised; None where none was."""
    raises = [(m.limit.bound, m.raised.bound) for m in point.marginals if m.limit.bound]
    return next((100 * (after - before) / abs(before) for before, after in raises), None)


def _stated(question: Mapping[str, Any]) -> dict[str, Any]:
    """Terms of a question, such as data type and device, by the names of axes."""
    name, target = question["platform"]["name"], question.get("space", {}).get("for")
    dtype = question.get("workload", {}).get("dtype")
    return {
        "dtype": None if dtype is None else data_type(dtype).name,
        "platform": name,
        "arch": name,
        "edition": question.get("edition", "exact"),
        "for": target,
    }


def fixed_by(question: Mapping[str, Any], problem: Problem, axes: Sequence[str]) -> dict[str, str]:
    """Terms of a question that a study repeats for people.

    Parameters
    ----------
    question : Mapping
        The part of the document that says what was asked.
    problem : Problem
        One of its problems.
    axes : Sequence of str
        Names of what varies, which is left out.

    Returns
    -------
    dict
        Words by term, such as ``workload`` and ``platform``.
    """
    nest, mapped = profile_of(problem.design).nest, "architecture" in question
    assert nest is not None
    sizes = ",".join(f"{loop}={extent}" for loop, extent in nest.sizes.items() if loop not in axes)
    known = {"workload": nest.name, "statement": str(nest), **nest.labels, **_stated(question)}
    known["sizes"] = sizes
    return {
        name: text
        for name, text in known.items()
        if text and name not in (*axes, "platform" if mapped else "arch")
    }


def labels_follow(labels: Mapping[str, Any], question: Mapping[str, Any], problem: Problem) -> bool:
    """Refuse labels of axes that are not what a question says.

    Parameters
    ----------
    labels : Mapping
        Labels by axis.
    question : Mapping
        The part of the document that says what was asked.
    problem : Problem
        One of its problems.

    Returns
    -------
    bool
        False where a share is of a device that is not known here.

    Raises
    ------
    InputError
        Naming the axis.
    """
    profile, checked = profile_of(problem.design), True
    limits = {f"{limit.metric}_limit": json_number(limit.bound) for limit in problem.limits}
    known: dict[str, Any] = {
        **_stated(question),
        "objective": problem.objective.text,
        **({} if profile.nest is None else profile.nest.sizes),
        **limits,
    }
    known["for"] = known["for"] or "none"
    dataflows = {",".join(choice.get("dataflow", ())) for choice in question["designs"]}
    permutations = {choice.get("permutation") for choice in question["designs"]}
    known |= {
        "dataflow": " or ".join(dataflows),
        "permutation": permutations.pop() if len(permutations) == 1 else "several",
    }
    for axis, label in labels.items():
        model, metric = known.get(axis, "none"), axis.removesuffix("_limit")
        if axis in limits and isinstance(label, str) and label.endswith("%"):
            try:
                bounds = load_platform(question["platform"]["name"]).bounds(
                    {metric: Share(Fraction(label[:-1]))}
                )
            except (InputError, ValueError):
                checked = False
                continue
            model = label if json_number(bounds[metric]) == model else model
        elif axis in profile.figures:
            value = None if label == "none" else number(label)
            model = label if profile.with_figure(axis, value) == problem.design else "another"
        check_same(label, model, f"at.{axis}")
    return checked


def _axis(name: str, labels: Sequence[str | int | float], problem: Problem) -> StudyAxis:
    """An axis of a study."""
    profile = profile_of(problem.design)
    sizes = {} if profile.nest is None else profile.nest.sizes
    loops = {loop: Metric(loop, "iterations", f"extent of loop {loop}") for loop in sizes}
    metrics = problem.design.vocabulary.items()
    limits = {f"{m}_limit": Metric(m, own.unit, f"upper limit of {m}") for m, own in metrics}
    known = {**loops, **profile.figures, **limits}.get(name, Metric(name, "", name))
    return StudyAxis(name, tuple(labels), unit=known.unit, meaning=known.meaning)
