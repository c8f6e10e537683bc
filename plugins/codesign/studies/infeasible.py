"""Causes for which no accelerator will do: limits that cannot be met, and the least that each would
have to be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.problem import Limit, Objective
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.search import BoxSearch
from ithaca.solver.certificate import Status
from ithaca.solver.executor import Executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.shortfall import Shortfall


def shortfalls(
    question: CodesignQuestion, bank: LayerCache, options: SolveOptions, executor: Executor
) -> tuple[Shortfall, ...]:
    """The limits of a question that no accelerator answers, and what each would have to be.

    Each is minimised under the other limits: raising it alone to that helps. If no single one
    helps, those are named that cannot be met even without the others: none, if limits contradict
    each other or layers run nowhere. A limit on runs is one of each workload, which is named
    instead of the space; of several, each has a least of its own, which need not suffice. What was
    not tried in time is named without a value: it is open whether that limit helps.

    Parameters
    ----------
    question : Question
        A question that no accelerator answers.
    bank : LayerCache
        Answers of layers known already.
    options : SolveOptions
        How far to search, for all limits together.
    executor : Executor
        Solves layers.
    """
    budget, limits = Budget(replace(options, gap=0.0)), question.limits
    cases = [
        (limit, name)
        for limit in limits
        for name in (question.workloads if question.of_runs(limit.expression) else (None,))
    ]
    left = 2 * len(cases)

    def least(limit: Limit, workload: str | None, others: tuple[Limit, ...]) -> Shortfall | None:
        nonlocal left
        works = tuple(
            replace(w, weight=Fraction(workload in (None, w.workload))) for w in question.works
        )
        relaxed = CodesignQuestion(
            question.space, works, (Objective(limit.metric, limit.expression),), others
        )
        result = BoxSearch(relaxed, bank, budget.share(left), executor=executor).run()
        left -= 1
        bound, status = result.certificate.lower_bound, result.certificate.status
        met = bound is not None and bound <= limit.bound
        if status is Status.INFEASIBLE or (status is Status.OPTIMAL and met):
            return None
        if met or (result.best is None and others):
            bound = None
        proven = status is Status.OPTIMAL and (workload is None or len(question.workloads) == 1)
        name = question.space.name if workload is None else workload
        return Shortfall(
            limit.metric, limit.bound, bound, bool(others) or len(limits) == 1, proven, name
        )

    faults: list[Shortfall] = []
    for kept in (True, False) if len(limits) > 1 else (False,):
        tried = (
            least(limit, name, tuple(o for o in limits if kept and o is not limit))
            for limit, name in cases
        )
        known = [each for each in tried if each is not None]
        faults += (
            known
            if kept or len(limits) == 1
            else [each for each in known if each.smallest is not None]
        )
        if any(each.smallest is not None for each in faults):
            break
    return tuple(faults)
