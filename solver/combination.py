"""Other engines brought to bear on an exact search, at the root: bounds and seeds of relaxations,
and evolution from these.

Intervals see integrality and are weak where quantities of several loops pull against each other;
relaxations to continuous quantities see those trade-offs and are blind to integrality. The search
keeps what either proves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Protocol

from ithaca.files.registry import Registry
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.continuous_rules import products
from ithaca.formulations.problem import Problem
from ithaca.solver.engines import engine
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution
from ithaca.solver.tables.model import BoundModel

#: Relaxations solved before each rounding. Optima of wide regions and of narrow ones round to
#: different configurations, and neither are always the better ones.
STAGES = (1, 15, 44)

#: Configurations that a short evolution evaluates at most: the other engines are to prove
#: something, too.
SAMPLES = 12_000


@dataclass(frozen=True)
class Start:
    """Knowledge that evolution begins with: a proven bound, whether no configuration is within the
    limits, feasible configurations, and fractional optima (a value per quantity)."""

    lower_bound: Fraction | None
    infeasible: bool
    configurations: tuple[Configuration, ...]
    points: tuple[Mapping[str, float], ...]


#: Nothing is known.
NOTHING = Start(None, False, (), ())


class Starter(Protocol):
    """The signature of what bounds and seeds a problem, as `solver_start` is called."""

    def __call__(
        self,
        problem: Problem,
        options: SolveOptions,
        checkpoint: Callable[[], None],
        *,
        stages: Sequence[int],
        model: BoundModel | None,
        rounding: bool,
    ) -> Start: ...


#: What bounds and seeds problems, by the engine whose programs do.
STARTS: Registry[Starter] = Registry("starts")

#: What narrows the ranges of quantities, by engine; None: no configuration is within the limits.
RANGES: Registry[Callable[[Problem], Mapping[str, tuple[float, float]] | None]] = Registry("ranges")


def solver_start(
    problem: Problem,
    options: SolveOptions,
    checkpoint: Callable[[], None],
    *,
    stages: Sequence[int] = STAGES,
    model: BoundModel | None = None,
    rounding: bool = True,
) -> Start:
    """Bound and seeds of a problem by all relaxations of plug-ins; nothing where there are none.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit and interruption.
    checkpoint : Callable
        Called now and then; when it raises `StoppedError` there are no rounded configurations.
    stages : Sequence of int, optional
        Relaxations solved before each rounding.
    model : BoundModel, optional
        The exact engine's model, by which is rounded; built unless it is passed.
    rounding : bool, optional
        Whether to round.
    """
    starts = [
        each(problem, options, checkpoint, stages=stages, model=model, rounding=rounding)
        for each in STARTS.values()
    ]
    return Start(
        max((s.lower_bound for s in starts if s.lower_bound is not None), default=None),
        any(s.infeasible for s in starts),
        tuple(chain.from_iterable(s.configurations for s in starts)),
        tuple(chain.from_iterable(s.points for s in starts)),
    )


def quantity_ranges(problem: Problem) -> Mapping[str, tuple[float, float]] | None:
    """The range of each quantity that is no product of others, over all configurations within the
    limits, as far as plug-ins narrow it.

    None if it is proven that there are no such configurations.
    """
    dependent = products(problem.space)
    ranges = {
        name: (float(span.low), float(span.high))
        for name, span in problem.intervals.items()
        if name not in dependent
    }
    for narrow in RANGES.values():
        own = narrow(problem)
        if own is None:
            return None
        for name, (low, high) in own.items():
            before = ranges.get(name, (low, high))
            ranges[name] = max(low, before[0]), min(high, before[1])
    return ranges


def bound_and_seed(
    problem: Problem, search: Search, options: SolveOptions, stages: Sequence[int] = STAGES
) -> Start:
    """Give a search the bound and the rounded optima of relaxations.

    Parameters
    ----------
    problem : Problem
        The problem.
    search : Search
        Exact search of it.
    options : SolveOptions
        Time limit and interruption.
    stages : Sequence of int, optional
        Relaxations solved before each rounding.

    Returns
    -------
    Start
        The knowledge gained. Without a bound, the time was over, or the objective has no
        relaxation: then the rounded optima are of the least latency.
    """
    known = solver_start(problem, options, options.checkpoint(), stages=stages, model=search.model)
    if known.infeasible:
        search.close_all()
    if known.lower_bound is not None:
        search.raise_floor(known.lower_bound)
    for configuration in known.configurations:
        search.offer(configuration)
    return known


def better_incumbent(
    problem: Problem, options: SolveOptions, incumbent: Configuration | None, known: Start
) -> Configuration | None:
    """The best configuration that a short evolution finds from what is known.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit and interruption.
    incumbent : Configuration or None
        The best known.
    known : Start
        Other configurations and fractional optima to begin with.

    Returns
    -------
    Configuration or None
        Never worse than the incumbent.
    """
    evolve: Any = engine("evolve")  # which takes more than all engines do
    better: Solution = evolve(
        problem, replace(options, any_tie=True), start=incumbent, samples=SAMPLES, known=known
    )
    return better.configuration
