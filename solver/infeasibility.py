"""Say why a problem is infeasible: which limit cannot be met, and what would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import quotient
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.unreachable import least_quotient
from ithaca.solver.certificate import Status
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.enumeration.engine import solve_enumeration
from ithaca.solver.enumeration.search import Most
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.reasons import CONTRADICTION, OPEN, contradiction, explain
from ithaca.solver.sample import Sample
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution
from ithaca.solver.staged.engine import solve_staged

#: Why nothing is feasible although there are no limits.
EMPTY_SPACE = "the design space itself is empty"

#: How long to look for any configuration before limits are blamed, per design: boxes, and of
#: mappings seconds.
MOST, EMPTY_WITHIN = 100_000, 5.0

#: Boxes in which the smallest value that could be met is looked for where no time limit is stated
#: (per design); in which any configuration under other limits is, and what a limit needs by itself.
BOXES, FEW = 50_000, 5_000

#: Configurations of a space of which the least value of a refuted quotient is looked for by search.
SMALL = 10**6

#: Configurations, about, from which on nothing is searched under quotients: that would take long.
LARGE = 10**7

#: Configurations, about, up to which a design is enumerated, and how much that may take.
ENUMERATED, MOST_LOOKED = 10**9, Most(boxes=1 << 20)


def shortfalls(problem: Problem, options: SolveOptions) -> tuple[Shortfall, ...]:
    """The limits of a problem proven infeasible, and what each would have to be.

    Each metric is minimised under the other limits: raising that limit alone to the minimum makes
    the problem feasible. If no single limit can help, each metric is minimised without any limit,
    and those that even then exceed their limit are reported: none if the design space is empty, or
    several limits must be raised together. The options limit all minimisations together; limits of
    which that leaves open whether they help are named without a value.
    """
    limits, options = problem.open_limits, replace(options, any_tie=True)
    if options.time_limit is not None:
        options = replace(options, time_limit=options.time_limit / max(2 * len(limits), 1))
    known = _Known(problem)
    each = [known.shortfall(x, tuple(o for o in limits if o is not x), options) for x in limits]
    faults = tuple(fall for fall in each if fall is not None)
    if len(limits) < 2 or any(fall.smallest is not None for fall in faults):
        return faults
    alone = (known.shortfall(limit, (), options, FEW) for limit in limits)
    return (*faults, *(fall for fall in alone if fall is not None and fall.smallest is not None))


class _Known:
    """Sets of limits of a problem that are known to be met together, or not: by floors and by a
    sample without a search, and by the searches so far."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        # the cost model is evaluated for all names at once, not anew for those of each search
        for look_up in (problem.design.in_symbols, problem.design.in_ranges):
            with suppress(InputError, ArithmeticError):
                look_up(problem.used_metrics)
        self._sample = Sample(problem)
        self._refuted: list[frozenset[Limit]] = []

    def refutes(self, limits: tuple[Limit, ...]) -> bool:
        """Whether nothing meets some limits, as far as is known without a further search."""
        if any(each <= {*limits} for each in self._refuted):
            return True
        if replace(self._problem, limits=limits).hopeless:
            self._refuted.append(frozenset(limits))
            return True
        return False

    def contradict(self, limits: tuple[Limit, ...]) -> bool:
        """Whether nothing is proven to meet some limits, if need be by a search."""
        if self.refutes(limits):
            return True
        if self._drawn(None, limits) is not None:
            return False
        # any configuration will do, so the search may end with the first; an empty space is mostly
        # seen at once
        options = SolveOptions(gap=1.0, any_tie=True, boxes=MOST)
        if self._problem.stage is not None:
            options = replace(options, boxes=None, time_limit=EMPTY_WITHIN)
        return self._solve(replace(self._problem, limits=limits), options) is None

    def shortfall(
        self, limit: Limit, others: tuple[Limit, ...], options: SolveOptions, boxes: int = BOXES
    ) -> Shortfall | None:
        """The least value of a limit's metric under others; None where no value of it helps."""
        if self.refutes(others):
            return None
        problem = replace(self._problem, limits=others)
        target = replace(problem, objective=Objective(limit.metric, limit.expression))
        least = _floor(target, limit.bound)
        high, staged = least is not None and least > limit.bound, target.stage is not None
        drawn = None if options.time_limit == 0 else self._drawn(limit, others)
        if drawn is not None and drawn[1] <= limit.bound:
            return None
        met, proven = drawn is not None, drawn is not None and drawn[1] == least
        # of refuted quotients no bounds are made: any configuration shows that raising them helps
        quotients = not staged and _has_quotients(target)
        quick = high and quotients and self._sample.size > SMALL
        alone = not others and len(self._problem.open_limits) > 1
        large = (quick or (quotients and alone)) and self._sample.size > LARGE
        enough = proven or large or (quick and met)
        if not enough:
            if options.time_limit is None and (high or not staged):
                options = replace(options, boxes=FEW if quick else boxes)
            options = replace(options, gap=1.0) if quick else options
            start = None if drawn is None else drawn[0]
            solution = self._solve(problem if quick else target, options, start)
            if solution is None:
                return None
            met = solution.value is not None
            if not quick:
                bound = solution.certificate.lower_bound
                proven = solution.certificate.status is Status.OPTIMAL
                least = max((x for x in (least, bound) if x is not None), default=None)
        if least is not None and least <= limit.bound:
            if proven:
                return None
            least = None
        elif others and not met:
            least = None
        name = self._problem.design.name
        return Shortfall(limit.metric, limit.bound, least, not alone, proven, name)

    def _drawn(
        self, limit: Limit | None, limits: Sequence[Limit]
    ) -> tuple[Configuration, Fraction] | None:
        """A configuration that meets limits, with what it takes up of another, without a search."""
        return None if self._problem.stage else self._sample.least(limit, limits)

    def _solve(
        self, problem: Problem, options: SolveOptions, start: Configuration | None = None
    ) -> Solution | None:
        """Solve by the engine that proves such designs, in stages where they offer one; None where
        nothing meets the limits."""
        solution = self._enumerated(problem, options, start)
        if solution is None:
            solve = solve_exact if problem.stage is None else solve_staged
            solution = solve(problem, options, start=start)
        if solution.certificate.status is not Status.INFEASIBLE:
            return solution
        self._refuted.append(frozenset(problem.limits))
        return None

    def _enumerated(
        self, problem: Problem, options: SolveOptions, start: Configuration | None
    ) -> Solution | None:
        """The solution by enumeration, which makes no tables; None of what is more than that."""
        if problem.stage is not None or self._sample.size > ENUMERATED:
            return None
        try:
            return solve_enumeration(
                problem, replace(options, boxes=None), None, start, MOST_LOOKED
            )
        except NotExpressibleError:
            return None


def _floor(target: Problem, bound: Fraction) -> Fraction | None:
    """A lower bound of an objective that is known without a search: terms of quotients are asked
    where ranges do not say that it is above a bound."""
    floor = target.floor
    if target.stage is not None or (floor is not None and floor > bound):
        return floor
    terms = least_quotient(target.symbolic().objective, target.design)
    return max((each for each in (floor, terms) if each is not None), default=None)


def _has_quotients(target: Problem) -> bool:
    symbolic = target.symbolic()
    return any(map(quotient, (symbolic.objective, *(used for used, _ in symbolic.limits))))


def why_infeasible(problems: Sequence[Problem], faults: Sequence[Shortfall]) -> str:
    """The reason why no design is feasible, in one line, given limits that they cannot meet."""
    reasons = (
        explain(faults, len(problems), problems[0].design.vocabulary) if faults else [CONTRADICTION]
    )
    if reasons == [CONTRADICTION]:
        return emptiness(problems) or contradiction(_at_fault(problems, _Known.contradict))
    if len(reasons) == 1 and reasons[0].startswith(OPEN):
        names = _at_fault(problems, _Known.refutes)
        reasons = [f"no design meets the limits {' and '.join(names)} together", *reasons]
    return "; ".join(reasons)


def emptiness(problems: Sequence[Problem]) -> str:
    """The reason, in one line, why no design has a configuration whatever limits are; empty where
    one may have some."""
    if not all(_Known(problem).contradict(()) for problem in problems):
        return ""
    relax = profile_of(problems[0].design).relaxable
    return f"{EMPTY_SPACE}: relax {relax}" if relax else EMPTY_SPACE


def _at_fault(
    problems: Sequence[Problem], refuted: Callable[[_Known, tuple[Limit, ...]], bool]
) -> list[str]:
    """The metrics of limits that no design meets together, without any of which they are not
    refuted."""
    names = list(dict.fromkeys(x.metric for problem in problems for x in problem.open_limits))
    known = [(problem, _Known(problem)) for problem in problems]
    for name in list(names):
        fewer = [each for each in names if each != name]
        if all(
            refuted(each, tuple(x for x in problem.limits if x.metric in fewer))
            for problem, each in known
        ):
            names = fewer
    return names
