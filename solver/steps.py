"""Steps of a schedule: what is done with one problem among its rivals."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from ithaca.solver.certificate import Status, TracePoint
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.proof_state import ALONE, ProofState
from ithaca.solver.solution import Solution
from ithaca.solver.trace import TraceRecorder

#: Share of a turn of the contest, and of a part of the survey, that exact search may take.
EXACT_SHARE = 0.5


class Step(Enum):
    """A step with a problem in a round."""

    FIRST = "first"
    OPENING = "opening"
    SURVEY = "survey"
    EVOLUTION = "evolution"
    CONTEST = "contest"
    PROVERS = "provers"
    PROOF = "proof"
    TIES = "ties"


@dataclass
class Entry:
    """A problem among its rivals."""

    course: ProofState
    """How far the engines are with it."""
    rivals: Hashable
    """The key that all rivals share."""
    trace: tuple[TracePoint, ...] = ()
    """When its incumbent or bound changed."""
    best: Fraction | None = None
    """The least value that it or a rival has."""
    rival: Fraction | None = None
    """Only what is below this is of interest; None: everything."""
    alone: float = 0.0
    """Seconds of its search in which it need not mind its rivals."""
    turn: float | None = None
    """Seconds that it has in the survey; None: as long as it takes."""
    patience: float = 0.0
    """Seconds that its tables, and the search, may take in the opening."""
    explained: bool = False
    """Whether the limits at fault were looked for, if it is infeasible."""
    contested: bool = True
    """Whether rivals are left to be proven: its ties wait for them."""

    @property
    def beaten(self) -> bool:
        """Whether a rival has a smaller value: then any of its configurations of that value will
        do."""
        value = self.course.state.value
        return value is not None and self.best is not None and self.best < value

    def own_options(self, options: SolveOptions) -> SolveOptions:
        """The options of all problems as they are for this one."""
        return replace(options, rival=self.rival, any_tie=options.any_tie or self.beaten)


def advance(entry: Entry, step: Step, options: SolveOptions, report: Report) -> Solution:
    """Take a step with a problem, for as long as the options say.

    Parameters
    ----------
    entry : Entry
        A problem with what is proven of it so far; it is changed.
    step : Step
        What is done with it.
    options : SolveOptions
        How far to search.
    report : Report
        Told the progress.

    Returns
    -------
    Solution
        The solution as far as it is known then.
    """
    course, budget = entry.course, Budget(replace(options, rival=entry.rival))
    tell = TraceRecorder(time.perf_counter() - course.seconds, list(entry.trace), report)
    if step is Step.FIRST and entry.best is None:
        stop = lambda: course.state.value is not None or options.stopped  # noqa: E731
        course.explore(replace(options, stop=stop, rival=None), tell)
    if step is Step.OPENING or (step is Step.SURVEY and entry.turn is None):
        most = ALONE if entry.turn is None else min(ALONE, entry.patience)
        # where nothing is known and no other engine helps, tables may take their time: there must
        # be an answer
        tables = (
            None
            if entry.turn is None or (entry.best is None and not course.others)
            else entry.patience
        )
        # a configuration is wanted even of what is beaten at once
        own = replace(budget.share().turn(tables), rival=None)
        course.explore(own if entry.alone else budget.share().turn(tables), tell, entry.alone)
        if course.prepared:  # else the same time would not do again
            course.explore(budget.share().turn(tables), tell, most)
    if step is Step.SURVEY:
        course.bound(budget.share().turn(entry.turn))
        if course.state.value is None and entry.best is None:  # anything is better than nothing
            course.evolve(budget.share())
    elif step is Step.EVOLUTION:
        course.evolve(budget.options)
    elif step is Step.CONTEST:
        course.combine(budget.part(EXACT_SHARE))
        course.explore(budget.share(), tell)
    elif step is Step.TIES:
        course.break_ties(budget.options)
    elif step is Step.PROVERS:
        course.ask_provers(budget.options, tell)
    elif step is Step.PROOF:
        course.finish(budget.options, tell)
    own = entry.own_options(options)
    if options.time_limit is None and not entry.contested:
        course.break_ties(own)
    solution = course.solution(own)
    proof = solution.certificate
    if proof.status is not Status.INFEASIBLE:
        entry.trace = tell.trace(solution.value, proof.lower_bound, proof.nodes)
        return replace(solution, certificate=replace(proof, trace=entry.trace))
    if step is not Step.PROOF:
        return solution
    from ithaca.solver.infeasibility import shortfalls

    return replace(
        solution, shortfalls=shortfalls(course.problem, replace(budget.share(), gap=0.0))
    )
