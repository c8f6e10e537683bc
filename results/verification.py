"""Prove again what results, fronts and what-if studies claim.

What is then to be in their documents is compared with these, place by place, but for what is no
claim (`RECORDS`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ithaca.files.answer import Check
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import counted, number
from ithaca.formulations.problem import Problem
from ithaca.results.files import check_same
from ithaca.results.studies import front_document, point_document, question_fields
from ithaca.results.study_explanation import coordinates
from ithaca.results.study_files import labels_follow, raised_by
from ithaca.solver.again import by_whichever, provers
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.result import Result
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution
from ithaca.solver.verification import Claim, agree, claimed, repeat, verify
from ithaca.studies.best import prove_best, solve_best, starts_of
from ithaca.studies.front import Front, pareto_front
from ithaca.studies.grid import Index
from ithaca.studies.marginal import marginal_values
from ithaca.studies.runs import simulated_again
from ithaca.studies.whatif import Study, StudyPoint

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


def verify_result(result: Result, options: SolveOptions) -> Iterator[Check]:
    """Prove the solution of every design again, and the answer without a restriction."""
    whole, free = Budget(options), result.unrestricted
    left = len(result.designs) + (free is not None)
    for index, recorded in enumerate(result.designs):
        # which limits would help is only said, and only looked for, where no design is feasible
        nothing, at = result.certificate.status is Status.INFEASIBLE, f"designs[{index}]"
        claim = verify(recorded, whole.share(left - index), at, says_limits=nothing)
        yield Check(recorded.design, *claim)
    for index, run in enumerate(result.runs):
        solution = next(s for s in result.designs if s.design == run.design)
        yield Check(run.design, *simulated_again(solution, run, f"runs[{index}]"))
    if free is not None:
        last = whole.share()

        def solve(search: SolveOptions) -> Solution:
            anew = replace(search, any_tie=True)
            claimed = free.value if free.certificate.status.proven else None
            return prove_best(free.problems, free.certificate.method, anew, claimed)

        yield Check(
            "unrestricted",
            *repeat(free, solve, last, "unrestricted", "proven again", evaluated=False),
        )


def verify_front(front: Front, options: SolveOptions) -> Iterator[Check]:
    """Find a front again, and compare all that is claimed of it: points, their proofs, and that
    there are no others."""
    budget = Budget(options)

    def solve(method: str, search: SolveOptions, most: int | None = None) -> Front:
        problems, objectives = front.problems, front.objectives
        if method != Method.ENUMERATION:
            return pareto_front(problems, objectives, search, method=method, max_points=most)
        # it leaves out what is no better than known points, and so needs some
        if not (front.complete or front.completeness):
            most = len(front.points)
        return pareto_front(
            problems, objectives, search, method=method, known=front.points, max_points=most
        )

    def proven(again: Front) -> bool:
        points = {point.values for point in again.points}
        return again.complete or (
            not front.complete and all(point.values in points for point in front.points)
        )

    methods = provers(front.problems[0], known=True)
    again = by_whichever(solve, proven, methods, options)
    if front.complete and again.complete and len(again.completeness) > len(front.completeness):
        # with as many points as were asked for, nothing may be left to be proven
        last = by_whichever(
            lambda method, search: solve(method, search, len(front.points)),
            lambda other: other.complete,
            methods,
            budget.share(),
        )
        if last.complete and len(last.points) == len(again.points):
            again = replace(again, completeness=last.completeness)
    proofs = {point.values: point.proof for point in again.points}
    missing = [place for place, point in enumerate(front.points) if point.values not in proofs]
    if again.complete and missing:
        raise InputError(f"points[{missing[0]}].values are not on the front: {EDITED}")
    if again.complete and front.complete and len(front.points) < len(again.points):
        stated = counted(len(front.points), "point")
        raise InputError(f"points: {stated} of {len(again.points)} that are proven: {EDITED}")
    done = not missing and (again.complete or not front.complete)
    if again.complete or not front.complete:
        points = [replace(p, proof=proofs.get(p.values, p.proof)) for p in front.points]
        done &= same_shortfalls(front.shortfalls, again.shortfalls)
        model = replace(again, points=tuple(points), provenance=front.provenance)
        model = replace(model, shortfalls=front.shortfalls)
        if not front.complete:
            known = again.completeness[: len(front.completeness)]
            if not again.complete:  # a search cut short has but the first of the steps
                done &= len(known) == len(front.completeness)
                known += front.completeness[len(known) :]
            model = replace(model, unfinished=front.unfinished, completeness=known)
        check_same(claims(front_document(front)), claims(front_document(model)), "")
    extent = f"{len(front.points)} points, " + (
        "nothing else" if front.complete else "perhaps others"
    )
    proof = "proven again" if done else "not all proven again in time"
    yield Check("front", f"{extent}; {proof} in {budget.spent:.1f} s", done)


def verify_study(study: Study, options: SolveOptions) -> Iterator[Check]:
    """Solve every point of a study again, and compare all that is claimed of it."""
    whole, left = Budget(options), len(study.points)
    for place, (index, point) in enumerate(study.points.items()):
        budget, labels = Budget(whole.share(left - place)), study.labels(index)
        name = ", ".join(f"{axis} {label}" for axis, label in coordinates(study, index)) or "point"
        known = {**study.provenance, **labels}
        question = question_fields(point.problems, str(known.get("platform", known.get("arch"))))
        with errors_at(f"points[{place}]"):
            done = labels_follow(labels, question, point.problems[0])
            done &= _same_point(study, index, point, budget)
        line = claimed(point.answer, point.problems[0].objective.text, "no value")
        proof = "proven again" if done else "not proven again in time"
        yield Check(name, f"{line}; {proof} in {budget.spent:.1f} s", done)
        for run_place, run in enumerate(point.runs):
            at = f"points[{place}].runs[{run_place}]"
            yield Check(name, *simulated_again(point.answer, run, at))


def _same_point(study: Study, index: Index, point: StudyPoint, budget: Budget) -> bool:
    claim, problems, marginals = point.answer, point.problems, point.marginals
    again = _found_again(claim, problems, budget)
    done = agree(Claim.of(claim), Claim.of(again), "objective")
    broken = claim.certificate.ties_broken and again.certificate.ties_broken
    if claim.configured and broken and claim.configuration != again.configuration:
        raise InputError(
            "certificate.ties_broken is true, yet another configuration of "
            f"that value is preferred: {EDITED}"
        )
    unproven = any(m.after.certificate.status is not Status.OPTIMAL for m in marginals)
    if not done or not claim.certificate.status.proven or unproven:
        return done and not marginals
    percent = raised_by(point)
    raised = () if percent is None else marginal_values(problems, again, percent, budget.share())
    if any(m.after.certificate.status is not Status.OPTIMAL for m in raised):  # not in time
        for stated, known in zip(marginals, raised, strict=True):
            agree(Claim.of(stated.after), Claim.of(known.after), f"marginal {stated.limit.metric}")
        return False
    done &= same_shortfalls(claim.shortfalls, again.shortfalls)
    again = replace(
        again,
        problem=claim.problem,
        configuration=claim.configuration,
        shortfalls=claim.shortfalls,
    )
    model = point_document(study, index, StudyPoint(problems, again, raised, point.runs))
    check_same(claims(point_document(study, index, point)), claims(model), "")
    return done


def _found_again(claim: Solution, problems: Sequence[Problem], budget: Budget) -> Solution:
    """The best of all designs, proven again: its value by an engine that did not prove it, and of
    all configurations of that value the preferred one by a further search."""
    proof, share = claim.certificate, budget.share()
    value = claim.value if proof.status is Status.OPTIMAL else None
    again = prove_best(problems, proof.method, replace(share, any_tie=value is not None), value)
    if value is None or not (proof.ties_broken and again.settled) or again.value != value:
        return again
    chosen = solve_best(problems, budget.share(), starts=starts_of(again, problems))
    return chosen if chosen.settled else again


def same_shortfalls(claimed: Sequence[Shortfall], again: Sequence[Shortfall]) -> bool:
    """Whether a search for limits that cannot be met says the same of them; False where time was
    too short."""
    known = {(s.metric, s.design): s for s in again if s.smallest is not None}
    stated = {(s.metric, s.design) for s in claimed}
    if missing := [
        metric for metric, design in known.keys() - stated if known[metric, design].others_kept
    ]:
        raise InputError(
            f"shortfalls: {missing[0]} is not among them, yet raising it alone helps: {EDITED}"
        )
    open_, reached = (
        {s.metric for s in (*again, *claimed) if s.smallest is None},
        True,
    )
    for place, fall in enumerate(claimed):
        other, at = known.get((fall.metric, fall.design)), f"shortfalls[{place}].smallest"
        if fall.smallest is None:
            continue
        if other is not None and other.others_kept == fall.others_kept:
            reached &= agree(Claim.smallest(fall), Claim.smallest(other), at)
        elif fall.metric in open_:
            reached = False
        else:
            raise InputError(
                f"{at} is {number(fall.smallest)}, yet a search finds nothing of the kind: {EDITED}"
            )
    return reached
