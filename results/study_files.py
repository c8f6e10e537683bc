"""Fronts and what-if studies, read back from documents.

The question is posed again, configurations are evaluated by Fractions, and the document of all this
must be the document that was read. What it says to be proven is stated, not proven again
(`ithaca.results.verification`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.files.numbers import json_number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.data_types import data_type
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import number
from ithaca.formulations.families import profile_of
from ithaca.formulations.platform import Share
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.results.files import (
    NOTHING,
    check_proof,
    check_same,
    read_problems,
    read_result,
    read_shortfalls,
)
from ithaca.results.studies import (
    FrontDocument,
    PointDocument,
    StepDocument,
    StudyDocument,
    front_document,
    question_fields,
    study_document,
)
from ithaca.solver.certificate import Status
from ithaca.solver.documents import read_runs
from ithaca.solver.solution import Solution
from ithaca.studies.front import Front, FrontPoint, check_objectives
from ithaca.studies.grid import StudyAxis, indices
from ithaca.studies.marginal import Marginal, raisable_limits
from ithaca.studies.prover import ProofStep
from ithaca.studies.region import Bound, dominates
from ithaca.studies.titles import study_title
from ithaca.studies.whatif import Study, StudyPoint


def posed_problems(document: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """The problems that a file poses, one per design."""
    question = document.get("question")
    if not isinstance(question, Mapping) or not isinstance(question.get("designs"), list):
        raise InputError(
            "question is missing, which earlier versions did not "
            "state; allowed: a file written anew"
        )
    problems = read_problems(question, path)
    model = question_fields(problems, question["platform"]["name"])  # without an answer
    check_same(question, model, "question")
    return problems


def evaluated(
    question: Mapping[str, Any],
    problems: Sequence[Problem],
    stated: Mapping[str, Any],
    value: Any,
    path: Path,
) -> Solution:
    """Evaluate a configuration that a file states again.

    Parameters
    ----------
    question : Mapping
        The part of the document that says what was asked.
    problems : sequence of Problem
        What it poses, one per design.
    stated : Mapping
        The part that states the configuration and its metrics.
    value : object
        The objective that is stated.
    path : Path
        The file.

    Returns
    -------
    Solution
        The configuration, of one design of the question.

    Raises
    ------
    InputError
        If it is not what the model computes.
    """
    choice = {name: stated.get(name) for name in question["designs"][0]}
    if choice not in question["designs"]:
        raise InputError(f"a configuration is of no design of the question: {EDITED}")
    among = problems[question["designs"].index(choice)].among  # as is said of all of its space
    own = {
        **choice,
        "tiling": stated["tiling"],
        "metrics": stated["metrics"],
        "certificate": {"status": "feasible", **NOTHING, "among": among},
    }
    head = {**question, "objective": {**question["objective"], "value": value}}
    head.pop("restriction", None)  # this is one of its designs
    solution = read_result({"schema": SCHEMA, **head, "best": own, "designs": [own]}, path).best
    assert solution is not None
    return solution


def read_front(document: Any, path: Path) -> Front:
    """The front that a document states, checked against the model."""
    read = validated(FrontDocument, document, path)
    with errors_at(path):
        problems = posed_problems(document, path)
        question, names = document["question"], read.objectives
        objectives = check_objectives(names, problems[0].design.vocabulary)
        points = []
        for stated, point in zip(read.points, document["points"], strict=True):
            solution = evaluated(question, problems, point, point["values"].get(names[0]), path)
            assert solution.configuration is not None
            proof = [_step(step, names) for step in stated.proof]
            points.append(
                FrontPoint.of(solution.problem, solution.configuration, objectives, proof)
            )
        for place, point in enumerate(points):
            if any(dominates(other.values, point.values) for other in points if other != point):
                raise InputError(f"points[{place}] is dominated by another: {EDITED}")
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


def read_study(document: Any, path: Path) -> Study:
    """The what-if study that a document states, checked against the model."""
    read = validated(StudyDocument, document, path)
    with errors_at(path):
        names, stated = [axis.name for axis in read.axes], document["points"]
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
        if len(places) != len(points) or any(other != fixed[0] for other in fixed):
            raise InputError(f"points are not those of axes: {EDITED}")
        percents = [known for p in points if (known := raised_by(p)) is not None]
        several = "architectures" if "architecture" in stated[0]["question"] else "platforms"
        study = Study(
            axes,
            dict(zip(places, points, strict=True)),
            read.complete,
            percents[0] if percents else None,
            {"title": study_title(fixed[0], f"several {several}"), **fixed[0]},
        )
        check_same(document, study_document(study), "")
    return study


def _point(read: PointDocument, stated: Mapping[str, Any], path: Path, at: str) -> StudyPoint:
    """A point of a study; its marginal values are claims, as no configuration is stated of them."""
    try:
        problems, question = posed_problems(stated, path), stated["question"]
        labels_follow(read.at, question, problems[0])
        certificate = read.certificate.certificate()
        if read.shortfall and not read.shortfalls:
            raise InputError(
                "shortfalls is missing, which earlier versions did not "
                "state; allowed: a file written anew"
            )
        answer = Solution(problems[0], None, None, certificate)
        if stated["best"] is not None:
            answer = evaluated(
                question, problems, stated["best"], stated["objective"]["value"], path
            )
        if certificate.status is Status.OPTIMAL:  # a file states bounds as doubles
            certificate = replace(certificate, lower_bound=answer.value)
        check_proof(certificate, answer.value, "certificate")
        limits = problems[0].limits
        answer = replace(
            answer,
            certificate=certificate,
            shortfalls=read_shortfalls(read.shortfalls, limits, "shortfalls"),
        )
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
    except InputError as error:
        raise InputError(f"{at}: {str(error).removeprefix(f'{path}: ')}") from None


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
