"""Causes for which no accelerator will do: limits that cannot be met, and the least that each would
have to be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.problem import Limit, Objective
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.question import Amount, CodesignQuestion
from ithaca.plugins.codesign.studies.search import BoxSearch
from ithaca.solver.certificate import Status
from ithaca.solver.executor import Executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.shortfall import Shortfall


def _cases(question: CodesignQuestion) -> list[tuple[Limit, Amount]]:
    """The limits as amounts; those on runs once for each workload."""
    limits = question.limits
    return [(limit, amount) for limit in limits for amount in question.amounts_of(limit)]


def _minimising(
    question: CodesignQuestion, amount: Amount, others: tuple[Limit, ...]
) -> CodesignQuestion:
    """The question that minimises what is limited, of a workload run once, or of the hardware
    alone, under other limits."""
    name = amount.workload
    works = tuple(replace(w, weight=Fraction(name in (None, w.workload))) for w in question.works)
    objective = Objective(amount.text, amount.expression, summed=amount.workload is not None)
    return CodesignQuestion(question.space, works, (objective,), others)


def _smallest(least: Fraction, limit: Limit, amount: Amount) -> Fraction:
    """The bound of a limit that could be met, or by how much a requirement is missed, where its
    amount is so large at least."""
    assert amount.bound is not None
    return least - amount.bound + limit.bound


#: Layers of accelerators, in all, from which on bounds that take no search come first, and any
#: bound above a limit will do.
MANY = 4096

#: Layers that are searched for the least value of one limit, and boxes of accelerators that are
#: looked at; what they leave open is a bound.
SEARCHES, BOXES = 32, 1024


def beyond(
    question: CodesignQuestion, bank: LayerCache, options: SolveOptions, executor: Executor
) -> tuple[Shortfall, ...]:
    """The limits that no accelerator of the space keeps whatever the other limits are, as bounds
    tell that take no search: each with that bound.

    Parameters
    ----------
    question : CodesignQuestion
        A question that no accelerator answers.
    bank : LayerCache
        Answers of layers known already.
    options : SolveOptions
        How far to search.
    executor : Executor
        Solves layers.
    """
    faults = []
    for limit, amount in _cases(question):
        free = _minimising(question, amount, ())
        floor = BoxSearch(free, bank, options, executor=executor).floor()
        least = None if floor is None else _smallest(floor, limit, amount)
        if least is not None and least > limit.bound:
            name = amount.workload or question.space.name
            faults.append(Shortfall(limit.metric, limit.bound, least, False, False, name))
    return tuple(faults)


def shortfalls(
    question: CodesignQuestion, bank: LayerCache, options: SolveOptions, executor: Executor
) -> tuple[Shortfall, ...]:
    """The limits of a question that no accelerator answers, and what each would have to be.

    In large spaces those come first that bounds without a search tell (`beyond`). Else each is
    minimised under the other limits, as far as `SEARCHES` in `BOXES` tell, in large spaces until a
    bound is above it: raising it alone to the least helps. If no single one helps, those are named
    that cannot be met even without the others: none, if limits contradict each other or layers run
    nowhere. A limit on runs is one of each workload, which is named instead of the space; of
    several, each has a least of its own, which need not suffice. What was not tried in time is
    named without a value: it is open whether that limit helps.

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
    cases = _cases(question)
    left = 2 * len(cases)
    large = _large(question)

    def least(limit: Limit, amount: Amount, others: tuple[Limit, ...]) -> Shortfall | None:
        nonlocal left
        share, began = budget.share(left), len(bank.asks)

        def known() -> Fraction | None:
            floor = search.lower_bound
            return None if floor is None else _smallest(floor, limit, amount)

        def enough() -> bool:
            return (
                options.stopped
                or _spent(search, began)
                or (large and (known() or limit.bound) > limit.bound)
            )

        relaxed = _minimising(question, amount, others)
        search = BoxSearch(relaxed, bank, replace(share, stop=enough), executor=executor)
        result = search.run()
        left -= 1
        bound, status = known(), result.certificate.status
        met = bound is not None and bound <= limit.bound
        if status is Status.INFEASIBLE or (status is Status.OPTIMAL and met):
            return None
        if met or (result.best is None and others and not large):
            bound = None
        workload = amount.workload
        proven = status is Status.OPTIMAL and (workload is None or len(question.workloads) == 1)
        name = workload or question.space.name
        return Shortfall(
            limit.metric, limit.bound, bound, bool(others) or len(limits) == 1, proven, name
        )

    if large and (seen := beyond(question, bank, options, executor)):
        return seen
    faults: list[Shortfall] = []
    for kept in (True, False) if len(limits) > 1 else (False,):
        tried = (
            least(limit, amount, tuple(o for o in limits if kept and o is not limit))
            for limit, amount in cases
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


def at_fault(question: CodesignQuestion) -> tuple[str, ...] | None:
    """The metrics of limits that no accelerator keeps together, though some accelerator keeps all
    but any one of them; None where searches leave that open.

    Parameters
    ----------
    question : CodesignQuestion
        A question that no accelerator answers.
    """
    bank, least = LayerCache(question.space.accelerator), True
    names = list(dict.fromkeys(limit.metric for limit in question.limits))
    if _large(question):
        return None
    for name in list(names):
        rest = tuple(x for x in question.limits if x.metric in names and x.metric != name)
        status = _any(replace(question, objectives=question.objectives[:1], limits=rest), bank)
        if status is Status.INFEASIBLE:
            names.remove(name)
        least &= status is not Status.UNKNOWN
    return tuple(names) if least else None


def _any(question: CodesignQuestion, bank: LayerCache) -> Status:
    """The status of a search for any accelerator, by at most `SEARCHES` in `BOXES`."""
    began = len(bank.asks)

    def enough() -> bool:
        return bool(search.points) or _spent(search, began)

    search = BoxSearch(question, bank, SolveOptions(stop=enough))
    return search.run().certificate.status


def _spent(search: BoxSearch, began: int) -> bool:
    """Whether a search has had all its layers and boxes, since its bank held so many layers."""
    return len(search.bank.asks) - began > SEARCHES or search.boxes > BOXES


def _large(question: CodesignQuestion) -> bool:
    return question.space.box.count * len(question.works) > MANY
