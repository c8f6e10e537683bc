"""Check fronts and what-if studies in files: the question is posed again, configurations are
evaluated, proofs repeated.

What is then to be in the file is compared with it, place by place, but for what is no claim
(`RECORDS`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.numbers import json_number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.families import profile_of
from ithaca.formulations.platform import Share
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Problem
from ithaca.formulations.schema import number
from ithaca.results.files import NOTHING, check_same, read_problems, read_result
from ithaca.results.network_verification import Check
from ithaca.results.studies import (
    FrontDocument,
    PointDocument,
    StudyDocument,
    configuration_document,
    front_document,
    point_fields,
    question_fields,
    study_title,
)
from ithaca.solver.certificate import Status
from ithaca.solver.documents import CertificateDocument, check_certificate
from ithaca.solver.engines import Method
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.solution import Solution
from ithaca.solver.verification import Claim, agree
from ithaca.studies.best import solve_best
from ithaca.studies.front import pareto_front
from ithaca.studies.marginal import marginal_values
from ithaca.studies.whatif import StudyPoint

#: How a search went, and why it ended: no claims, as no other search repeats them; nor are errors
#: of sums in any order.
RECORDS = {
    "nodes",
    "seconds",
    "method",
    "termination",
    "designs_solved",
    "designs_known",
    "unfinished",
    "ties_broken",
    "error",
}


def claims(document: Any) -> Any:
    """A document without what is no claim."""
    if isinstance(document, Mapping):
        return {name: claims(part) for name, part in document.items() if name not in RECORDS}
    return [claims(part) for part in document] if isinstance(document, list) else document


def posed(document: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """The problems that a file poses, one per design."""
    asked = document.get("question")
    if not isinstance(asked, Mapping) or not isinstance(asked.get("designs"), list):
        raise InputError(
            "question is missing, which earlier versions did not "
            "state; allowed: a file written anew"
        )
    problems = read_problems(asked, path)
    model = question_fields(problems, asked["platform"]["name"])  # without an answer
    check_same(asked, model, "question")
    return problems


def evaluated(
    document: Mapping[str, Any], stated: Mapping[str, Any], value: Any, path: Path
) -> Solution:
    """A configuration that a file states, evaluated again. Raises `InputError` if it is not what
    the model computes."""
    asked = document["question"]
    choice = {name: stated.get(name) for name in asked["designs"][0]}
    if choice not in asked["designs"]:
        raise InputError(f"a configuration is of no design of the question: {EDITED}")
    own = {
        **choice,
        "tiling": stated["tiling"],
        "metrics": stated["metrics"],
        "certificate": {"status": "feasible", **NOTHING},
    }
    head = {**asked, "objective": {**asked["objective"], "value": value}}
    head.pop("restriction", None)  # this is one of its designs
    found = read_result({"schema": SCHEMA, **head, "best": own, "designs": [own]}, path).best
    assert found is not None
    return found


def verify_front(document: Mapping[str, Any], path: Path, options: SolveOptions) -> Iterator[Check]:
    """Find a front again, and compare all that is claimed of it: points, their proofs, and that
    there are no others."""
    validated(FrontDocument, document, path)
    problems, names, budget = posed(document, path), document["objectives"], Budget(options)
    again = pareto_front(problems, names, options, method=_other(problems))
    model = front_document(again)
    proven = {tuple(point["values"].items()): point for point in model["points"]}
    points, missing = [], 0
    for place, point in enumerate(document["points"]):
        own = configuration_document(
            evaluated(document, point, point["values"].get(names[0]), path)
        )
        known = proven.get(tuple(point["values"].items()))
        if known is None and again.complete:
            raise InputError(f"points[{place}].values are not on the front: {EDITED}")
        missing += known is None
        points.append({**(known or point), **own})
    model |= _fixed(document["question"], problems[0], ())
    del model["title"]  # only studies have one
    model |= {"question": document["question"], "points": points}
    if not document["complete"]:
        steps = len(document["completeness"])
        model |= {
            "complete": document.get("unfinished") is None,
            "completeness": model["completeness"][:steps],
        }
    if again.complete or not document["complete"]:
        check_same(claims(document), claims(model), "")
    done = not missing and (again.complete or not document["complete"])
    said = f"{len(points)} points, " + (
        "nothing else" if document["complete"] else "perhaps others"
    )
    proof = "proven again" if done else "not all proven again in time"
    yield Check("front", f"{said}; {proof} in {budget.spent:.1f} s", done)


def _other(problems: tuple[Problem, ...]) -> Method:
    """An engine that fronts are not found by, where there is one."""
    return Method.EXACT if problems[0].design.stage(problems[0]) is not None else Method.CPSAT


def verify_study(document: Mapping[str, Any], path: Path, options: SolveOptions) -> Iterator[Check]:
    """Solve every point of a study again, and compare all that is claimed of it."""
    validated(StudyDocument, document, path)
    names, values = ([axis[part] for axis in document["axes"]] for part in ("name", "values"))
    labels = [dict(zip(names, each, strict=True)) for each in product(*values)]
    if labels != [point["at"] for point in document["points"]]:
        raise InputError(f"points are not those of axes: {EDITED}")
    own = {"schema", "family", *StudyDocument.model_fields}
    repeated = {name: part for name, part in document.items() if name not in own}
    for place, point in enumerate(document["points"]):
        budget, name = (
            Budget(options),
            ", ".join(f"{axis} {label}" for axis, label in point["at"].items()) or "point",
        )
        try:
            problems = posed(point, path)
            fixed = _fixed(point["question"], problems[0], names)
            units = [_unit(axis, problems[0]) for axis in names]
            check_same([axis["unit"] for axis in document["axes"]], units, "units of axes")
            check_same(repeated, fixed, "")
            done = _check_labels(point, problems[0]) & _same_point(point, problems, path, budget)
        except InputError as error:
            raise InputError(f"points[{place}]: {str(error).removeprefix(f'{path}: ')}") from None
        said = "proven again" if done else "not proven again in time"
        value = point["objective"]["value"]
        yield Check(
            name,
            f"{point['certificate']['status']}: value {value}; {said} in {budget.spent:.1f} s",
            done,
        )


def _stated(question: Mapping[str, Any]) -> dict[str, Any]:
    """What a question says of the nest's data type, device and so on, by the names of axes."""
    name, target = question["platform"]["name"], question.get("space", {}).get("for")
    dtype = question.get("workload", {}).get("dtype")
    return {
        "dtype": dtype,
        "platform": name,
        "arch": name,
        "edition": question["edition"],
        "for": target,
    }


def _fixed(question: Mapping[str, Any], problem: Problem, axes: Sequence[str]) -> dict[str, str]:
    """What a study repeats of a question for people, which is all but what varies."""
    design: Any = problem.design
    nest, mapped = design.nest, "architecture" in question
    sizes = ",".join(f"{loop}={extent}" for loop, extent in nest.sizes.items() if loop not in axes)
    known = {"workload": nest.name, "statement": str(nest), **_stated(question), "sizes": sizes}
    fixed = {
        name: text
        for name, text in known.items()
        if text and name not in (*axes, "platform" if mapped else "arch")
    }
    return fixed | {
        "title": study_title(fixed, "several architectures" if mapped else "several platforms")
    }


def _check_labels(point: Mapping[str, Any], problem: Problem) -> bool:
    """Refuse labels of axes that are not what the question says; False where a share is of a device
    that is not known here."""
    profile, question, checked = profile_of(problem.design), point["question"], True
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
    for axis, label in point["at"].items():
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


def _unit(axis: str, problem: Problem) -> str:
    """The unit of an axis."""
    profile = profile_of(problem.design)
    if profile.nest is not None and axis in profile.nest.sizes:
        return "iterations"
    limits = {f"{name}_limit": own for name, own in problem.design.vocabulary.items()}
    known = {**profile.figures, **limits}
    return known[axis].unit if axis in known else ""


def _same_point(
    point: Mapping[str, Any], problems: tuple[Problem, ...], path: Path, budget: Budget
) -> bool:
    claim = CertificateDocument.model_validate(point["certificate"]).certificate()
    stated, value = point["best"], point["objective"]["value"]
    own = None if stated is None else evaluated(point, stated, value, path)
    check_certificate(claim, None if own is None else own.value, "certificate")
    again = solve_best(problems, budget.share(), method=_other(problems))
    told = Claim(
        None if own is None else own.value, claim.lower_bound, claim.status is Status.INFEASIBLE
    )
    done = agree(told, Claim.of(again), "objective")
    broken = claim.ties_broken and again.certificate.ties_broken
    if own is not None and broken and own.configuration != again.configuration:
        raise InputError(
            "certificate.ties_broken is true, yet another configuration of "
            f"that value is preferred: {EDITED}"
        )
    marginals = point.get("marginal", [])
    raised = [100 * (number(m["to"]) / number(m["from"]) - 1) for m in marginals]
    if (
        not done
        or not claim.status.proven
        or any(m["certificate"]["status"] != "optimal" for m in marginals)
    ):
        return done and not marginals
    found = marginal_values(problems, again, raised[0], budget.share()) if raised else ()
    fields = {
        "at": point["at"],
        "question": point["question"],
        **point_fields(StudyPoint(problems, again, found)),
    }
    model = PointDocument.model_validate(fields, from_attributes=True).written()
    check_same(claims(point), claims({**model, "best": own and configuration_document(own)}), "")
    return done
