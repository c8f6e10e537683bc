"""Limits within which no arrays run all layers, though each layer alone fits: the least value of
each that would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import lcm

from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.shortfall import Shortfall

#: The design of such a shortfall, which is of no single one.
TOGETHER = "of all layers together"

#: Factors by which a limit is raised before it is bisected, and one that lifts it.
RAISED, LIFTED = tuple(2**n for n in range(1, 7)), 2**20

#: Steps of a limit within which the least is looked for where its values are not counted.
FINE = 100


def joint_shortfalls(
    designs: Sequence[Sequence[tuple[Problem, int]]],
    sequence: Sequence[int],
    request: ArrayQuestion,
    options: SolveOptions,
) -> tuple[Shortfall, ...]:
    """The limits that layers do not meet together, and the least of each that would do.

    Each is raised with the others in force; if no single one helps, each is raised without the
    others. Of a limit that helps, but of which time did not tell the least, a value that would do
    is stated, and one without a value follows.

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
            falls += _least(limit, unit, tried, kept=kept)
        if any(fall.smallest is not None for fall in falls) or len(limits) == 1:
            break
    return tuple(falls)


def _unit(limit: Limit, problem: Problem, shares: Mapping[str, Fraction]) -> tuple[Fraction, bool]:
    """The step of a limit below which it makes no difference, and whether there is one."""
    data = systolic(problem).data
    counted = {
        "dsp": Fraction(1, lcm(data.dsp_per_mac.denominator, data.dsp_per_factor.denominator)),
        "bram18k": Fraction(1),
        **shares,
    }
    unit = counted.get(limit.metric)
    return (limit.bound / FINE, False) if unit is None else (unit, True)


def _least(
    limit: Limit,
    unit: tuple[Fraction, bool],
    possible: Callable[[Fraction], bool | None],
    *,
    kept: bool,
) -> list[Shortfall]:
    """The least value of a limit that would do, if any; and that it is open, where it is."""
    open_ = Shortfall(limit.metric, limit.bound, None, kept, False, TOGETHER)
    size, exact = unit
    low, high = limit.bound // size, limit.bound * LIFTED // size
    if not (known := possible(high * size)):
        return [open_] if known is None else []
    for raised in (limit.bound * factor // size for factor in RAISED):
        if known := possible(raised * size):
            high = raised
        if known is not False:
            break
        low = raised
    while high - low > 1 and (known := possible((low + high) // 2 * size)) is not None:
        low, high = (low, (low + high) // 2) if known else ((low + high) // 2, high)
    least = Shortfall(limit.metric, limit.bound, high * size, kept, True, TOGETHER)
    return [least] if exact and high - low == 1 else [least, open_]
