"""Limits within which no arrays run all layers, though each layer alone fits: the least value of
each that would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor, lcm

from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.reasons import last_digit
from ithaca.solver.shortfall import TOGETHER, Shortfall

#: How often a limit is doubled before it is bisected, and a factor that lifts it.
RAISED, LIFTED = 20, 2**20


def joint_shortfalls(
    designs: Sequence[Sequence[tuple[Problem, int]]],
    sequence: Sequence[int],
    request: ArrayQuestion,
    options: SolveOptions,
    alone: Mapping[str, Fraction],
    *,
    infeasible: bool,
) -> tuple[Shortfall, ...]:
    """The limits that layers do not meet together, and the least of each that would do.

    Each is raised with the others in force; if no single one helps, each is raised without the
    others. Of a limit that helps, but of which the search did not tell the least, a value that
    would do is stated, and one without a value follows. A limit of which all need no more than one
    does alone is left out.

    Parameters
    ----------
    designs : sequence of sequence of (Problem, int)
        By design, each layer's problem with its runs.
    sequence : sequence of int
        The layers of the runs, in order.
    request : ArrayQuestion
        What was asked.
    options : SolveOptions
        How far to search, for all limits together.
    alone : mapping of str to Fraction
        The most that one layer alone needs of a limit that it does not meet, by metric.
    infeasible : bool
        Whether it is proven that the layers do not meet the limits.
    """
    limits, budget = request.limits, Budget(options)
    if not limits:
        return ()

    def possible(
        others: Mapping[str, Fraction], limit: Limit, time: Budget, bound: Fraction
    ) -> bool | None:
        search, bounds = time.share(), {**others, limit.metric: bound}
        within = [[(problem.within(bounds), n) for problem, n in layers] for layers in designs]

        def stop() -> bool:
            return bool(run.stages) or search.stopped

        until = SolveOptions(time_limit=search.time_limit, stop=stop)
        run: SharedSearch | PipelineSearch = (
            SharedSearch(within, until)
            if request.arrays == 1
            else PipelineSearch(
                within, sequence, request.arrays, request.minimise, until, request.shares
            )
        )
        outcome = run.run()
        return True if outcome.stages else False if outcome.infeasible else None

    left = 2 * len(limits) + 1
    lifted = {x.metric: x.bound * LIFTED for x in limits}
    first = limits[0]
    if possible(lifted, first, Budget(budget.share(left)), lifted[first.metric]) is False:
        return ()
    for kept in (True, False):
        falls: list[Shortfall] = []
        for limit in limits:
            others = {x.metric: x.bound for x in limits} if kept else lifted
            unit = _unit(limit, designs[0][0][0], request.shares)
            tried = partial(possible, others, limit, Budget(budget.share(left)))
            left -= 1
            falls += _least(
                limit,
                unit,
                tried,
                alone.get(limit.metric) if kept else None,
                kept=kept,
                infeasible=kept and infeasible,
            )
        if alone or any(fall.smallest is not None for fall in falls) or len(limits) == 1:
            break
    return tuple(falls)


def _unit(limit: Limit, problem: Problem, shares: Mapping[str, Fraction]) -> Fraction | None:
    """The step of a limit below which it makes no difference; None of one whose values are not
    counted."""
    data = systolic(problem).data
    counted = {
        "dsp": Fraction(1, lcm(data.dsp_per_mac.denominator, data.dsp_per_factor.denominator)),
        "bram18k": Fraction(1),
        **shares,
    }
    return counted.get(limit.metric)


def _least(
    limit: Limit,
    unit: Fraction | None,
    possible: Callable[[Fraction], bool | None],
    alone: Fraction | None,
    *,
    kept: bool,
    infeasible: bool,
) -> list[Shortfall]:
    """The least value of a limit that would do, if any; and that it is open, where it is. Values
    that are not counted are told apart by the last digit that is written."""
    open_ = Shortfall(limit.metric, limit.bound, None, kept, False, TOGETHER)
    low, high = limit.bound, limit.bound * LIFTED
    if not (known := possible(high)):
        return [open_] if known is None else []
    proven = low if infeasible else Fraction(-1)  # all up to this is proven not to do
    if alone is not None or not kept:
        low = low if alone is None else alone
        if known := possible(low):
            return []
        proven = low if known is False else proven
    first = max(low, unit or last_digit(low))
    for raised in (first * 2**n for n in range(1, RAISED)):
        if known := possible(raised):
            high = raised
            break
        low, proven = raised, raised if known is False else proven
    size = unit or last_digit(high)
    below, known_not, least = floor(low / size), floor(proven / size), ceil(high / size)
    while least - below > 1:
        middle = (below + least) // 2
        if known := possible(middle * size):
            least = middle
        else:
            below, known_not = middle, middle if known is False else known_not
    value = Shortfall(limit.metric, limit.bound, least * size, kept, True, TOGETHER)
    return [value] if least - known_not == 1 else [value, open_]
