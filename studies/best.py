"""The best configuration over several designs, proven once for all of them.

`solve_designs` proves every design's own optimum. A study needs only the best of all, so here a
design must merely be shown not to beat the best known, which usually is so at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ithaca.files.errors import EDITED, InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem
from ithaca.solver.again import by_whichever, provers
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.conclusion import conclude, conclude_least
from ithaca.solver.engines import Method, engine
from ithaca.solver.executor import Executor, InProcess
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.portfolio import not_solved, solve_together
from ithaca.solver.progress import Progress
from ithaca.solver.result import Unrestricted
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution, best_solution, make_solution
from ithaca.solver.ties import Preferred, preferred

if TYPE_CHECKING:
    from ithaca.studies.scale import EquivalentObjective

Report = Callable[[str, Progress], None]


def solve_best(
    problems: Sequence[Problem],
    options: SolveOptions | None = None,
    *,
    method: str = Method.EXACT,
    executor: Executor | None = None,
    starts: Sequence[Configuration | None] | None = None,
    report: Report | None = None,
) -> Solution:
    """Find the best configuration of all designs, with a proof over all of them.

    The most promising design comes first (`ithaca.solver.schedule`); among equals the preferred
    configuration is the answer.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design, alike in everything else.
    options : SolveOptions, optional
        The time limit is for all of them together.
    method : str, optional
        The engine.
    executor : Executor, optional
        Solves several at a time; by default one after the other in this process.
    starts : Sequence of Configuration or None, optional
        A configuration of each design's space, or None.
    report : Report, optional
        Told the name of a design and the progress of its search.

    Returns
    -------
    Solution
        The best, or none with what is proven.
    """
    from ithaca.studies.scale import equivalent_objective

    options = options or SolveOptions()
    known_starts = list(starts) if starts is not None else [None] * len(problems)
    instead = equivalent_objective(problems, problems[0].objective)
    budget = Budget(replace(options, gap=instead.gap(options.gap), any_tie=True))
    equivalents = [replace(problem, objective=instead.objective) for problem in problems]

    def tell(index: int, progress: Progress) -> None:
        if report is not None:
            report(problems[index].design.name, progress)

    solutions: dict[int, Solution] = {}
    used = executor or InProcess()
    for index, outcome in solve_together(
        equivalents, budget, used, method=method, starts=known_starts, tell=tell, best_only=True
    ):
        if isinstance(outcome, Exception):
            raise outcome
        solutions[index] = outcome
    every = [solutions.get(index) or not_solved(p) for index, p in enumerate(equivalents)]
    answer = over_all(equivalents[0], every, budget=budget)
    ordered = problems[0].objective.then is not None
    if answer.certificate.status is Status.OPTIMAL and not options.any_tie and not ordered:
        answer = _preferred(answer, every, budget)
    if instead.constant is not None or ordered:
        answer = _original(answer, instead, problems)
    if not ordered or answer.value is None or answer.certificate.status is not Status.OPTIMAL:
        return answer
    further = [problem.among_optima(answer.value) for problem in problems]
    known = starts_of(answer, problems)
    chosen = solve_best(
        [problem for problem in further if problem is not None],
        replace(budget.share(), gap=options.gap, any_tie=options.any_tie),
        method=method,
        executor=executor,
        starts=known,
        report=report,
    )
    if chosen.value is None:
        return answer
    own = next(p for p in problems if p.design == chosen.problem.design)
    return replace(answer, problem=own).chosen_by(chosen, budget.spent)


def starts_of(known: Solution, problems: Sequence[Problem]) -> list[Configuration | None]:
    """The configuration of a solution as a start of its own design, and none of any other."""
    return [known.configuration if p.design == known.problem.design else None for p in problems]


def prove_best(
    problems: Sequence[Problem],
    recorded: str,
    options: SolveOptions,
    claimed: Fraction | None = None,
) -> Solution:
    """Prove again what is the best of all designs.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design.
    recorded : str
        The engines that proved it.
    options : SolveOptions
        Time limit and interruption.
    claimed : Fraction, optional
        Its value, where any configuration of that will do: enumeration needs one to begin with.
    """
    objective = problems[0].objective
    known = claimed is not None and objective.then is None and not objective.summed

    def prove(method: str, search: SolveOptions) -> Solution:
        if claimed is not None and method == Method.ENUMERATION:
            return _best_at_most(problems, claimed, search)
        return solve_best(problems, search, method=method)

    methods = provers(problems[0], recorded, known=known)
    return by_whichever(prove, lambda answer: answer.settled, methods, options)


#: Share by which a value that a file states may be off.
ROUNDED = Fraction(1, 10**12)


def _best_at_most(problems: Sequence[Problem], value: Fraction, options: SolveOptions) -> Solution:
    """The best of all designs by enumeration of what is at most a value, as files state it."""
    budget, most = Budget(options), value + abs(value) * ROUNDED
    limited = [
        replace(p, limits=(*p.limits, Limit(f"({p.objective.words})", most))) for p in problems
    ]
    solve, solutions = engine(Method.ENUMERATION), list[Solution]()
    for left, problem in zip(range(len(problems), 0, -1), limited, strict=True):
        solutions.append(solve(problem, budget.share(left)))
    return over_all(limited[0], solutions, budget=budget)


def proven_again(answer: Solution, problems: Sequence[Problem], options: SolveOptions) -> bool:
    """Whether all that a kept answer claims to be proven over some designs is proven again.

    Parameters
    ----------
    answer : Solution
        The answer; its value was evaluated when it was read.
    problems : Sequence of Problem
        One per design.
    options : SolveOptions
        Time limit and interruption.

    Returns
    -------
    bool
        False where time was too short for that.

    Raises
    ------
    InputError
        If a claim is false.
    """
    proof, solutions = answer.certificate, list[Solution]()

    def solve(search: SolveOptions) -> Solution:
        anew = replace(search, any_tie=not proof.ties_broken)
        solutions.append(prove_best(problems, proof.method, anew))
        return solutions[-1]

    from ithaca.solver.verification import repeat

    done = repeat(answer, solve, options, "certificate")[1]
    for again in solutions:
        if proof.ties_broken and again.certificate.ties_broken:
            if answer.configuration != again.configuration:
                raise InputError(f"another configuration of its value is preferred: {EDITED}")
        else:
            done &= not proof.ties_broken
        known = {(s.design, s.metric): s.smallest for s in again.shortfalls if s.proven}
        for fall in answer.shortfalls:
            if known.get((fall.design, fall.metric), fall.smallest) != fall.smallest:
                raise InputError(f"{fall.metric} falls short by another amount: {EDITED}")
    return done


def _preferred(answer: Solution, every: Sequence[Solution], budget: Budget) -> Solution:
    """The answer: the preferred one of all configurations of an optimum, of any design."""
    value, proof = answer.value, answer.certificate
    assert value is not None
    open_ = [
        s
        for s in every
        if not s.certificate.empty and (s.certificate.lower_bound or value) <= value
    ]
    holder = next(
        number for number, solution in enumerate(open_) if solution.design == answer.design
    )
    known = [solution.configuration if solution.value == value else None for solution in open_]
    choice = preferred_of([solution.problem for solution in open_], value, known, holder, budget)
    if choice is None:
        return answer
    number, chosen = choice
    certificate = replace(
        proof, ties_broken=chosen.complete, nodes=proof.nodes + chosen.boxes, seconds=budget.spent
    )
    return make_solution(open_[number].problem, chosen.configuration, certificate)


def preferred_of(
    problems: Sequence[Problem],
    value: Fraction,
    known: Sequence[Configuration | None],
    holder: int,
    budget: Budget,
) -> tuple[int, Preferred] | None:
    """The preferred one of all configurations of an optimum, of any of some designs.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design.
    value : Fraction
        The optimum.
    known : Sequence of Configuration or None
        A configuration of that value, by problem.
    holder : int
        Number of a problem of which one is known.
    budget : Budget
        The time that is left.

    Returns
    -------
    tuple of int and Preferred, or None
        The number of its problem, and what came of the search; None where any configuration will
        do.
    """
    best, nodes, complete = known[holder], 0, True
    if best is None or problems[holder].preferences(best) is None:
        return None
    rival: tuple[Fraction | None, ...] | None = None
    for number in sorted(range(len(problems)), key=lambda n: n != holder):
        choice = preferred(
            problems[number], value, known[number], budget.share(), rival, equal=number < holder
        )
        nodes, complete = nodes + choice.boxes, complete and choice.complete
        if choice.configuration is not None:
            best, holder = choice.configuration, number
        rival = problems[holder].preferences(best)
    return holder, Preferred(best, complete, nodes)


def _original(
    answer: Solution, instead: EquivalentObjective, problems: Sequence[Problem]
) -> Solution:
    """An answer in the objective asked for."""
    known = answer.certificate
    bound = None if known.lower_bound is None else instead.original(known.lower_bound)
    value = None if answer.value is None else instead.original(answer.value)
    certificate = replace(known, lower_bound=bound, gap=relative_gap(value, bound))
    problem = next(p for p in problems if p.design == answer.problem.design)
    return make_solution(problem, answer.configuration, certificate, answer.shortfalls)


def over_all(
    problem: Problem, solutions: Sequence[Solution], missing: int = 0, budget: Budget | None = None
) -> Solution:
    """The answer over several designs that their own solutions add up to.

    Parameters
    ----------
    problem : Problem
        One of them, for an answer without a configuration.
    solutions : Sequence of Solution
        One per design.
    missing : int, optional
        Number of further designs of which nothing is known.
    budget : Budget, optional
        What the search was told, and the time it took.

    Returns
    -------
    Solution
        The best, with what is proven over all (`conclude_least`).
    """
    certificate = conclude_least([(s.value, s.certificate) for s in solutions], missing, budget)
    infeasible = certificate.status is Status.INFEASIBLE
    falls = tuple(fall for s in solutions for fall in s.shortfalls) if infeasible else ()
    best = best_solution(solutions) or Solution(problem, None, None, certificate)
    return replace(best, certificate=certificate, shortfalls=falls)


def without_restriction(
    restricted: Fraction, value: Fraction | None, certificate: Certificate
) -> Unrestricted:
    """The answer without a restriction, from the values with it and without.

    What the restriction allows its absence does, too.

    Parameters
    ----------
    restricted : Fraction
        The value with it.
    value : Fraction or None
        The value that was found without it.
    certificate : Certificate
        What is proven without it.

    Returns
    -------
    Unrestricted
        The smaller value, with what is proven of it.
    """
    if value is not None and value <= restricted:
        return Unrestricted(value, certificate)
    nodes, seconds = certificate.nodes, certificate.seconds
    proof = conclude(
        restricted, certificate.lower_bound, method=certificate.method, nodes=nodes, seconds=seconds
    )
    return Unrestricted(restricted, proof)


def all_shortfalls(problems: Sequence[Problem], budget: Budget) -> tuple[Shortfall, ...]:
    """The causes of which no design is feasible, as far as the time that is left tells."""
    from ithaca.solver import infeasibility

    return tuple(
        shortfall
        for position, problem in enumerate(problems)
        for shortfall in infeasibility.shortfalls(
            problem, replace(budget.share(len(problems) - position), gap=0.0)
        )
    )


def best_start(problem: Problem, known: Iterable[Configuration]) -> Configuration | None:
    """The best of some configurations that a problem allows; None if it allows none.

    A configuration of a neighbouring problem (other sizes, data type, edition, limits) may lie
    outside this problem's design space, or beyond its limits, so it is checked in full.
    """
    allowed = [c for c in map(problem.space.adopted, known) if c is not None]
    values = [(problem.feasible_value(c), c) for c in allowed]
    feasible = [(value, c) for value, c in values if value is not None]
    return min(feasible, key=lambda entry: entry[0])[1] if feasible else None
