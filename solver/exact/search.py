"""Best-first branch and bound over boxes.

A box is one node of each axis' tree. Boxes are bounded thousands at a time; those whose bound
cannot improve the incumbent, or in which no configuration meets the limits, are dropped; the
others are split along the axis whose node varies most. What is reported is exact: a box is
dropped only if no *improvement by at least one step of the objective's grid* can be in it, with
the rounding of floats allowed for, and every incumbent is evaluated by the Fraction reference.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf

import numpy as np

from ithaca.files.clock import StoppedError, finishing, up
from ithaca.files.errors import DisagreementError
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.rounding import (
    below,
    cutoff,
    finer_than_floats,
    may_be_tied,
    on_grid,
)
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.best_first import TreeSearch
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.descent import descend
from ithaca.solver.executor import Sharing
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress, Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.splitting import Helpers, Outcome, Rounds, Task, done_by
from ithaca.solver.tables.model import BoundModel, Nodes

#: Boxes split at once. Enough to amortise a call into NumPy, few enough for the cache.
BATCH = 8192

#: How many times what bounds every value an incumbent may be for few rows to be better.
NEAR = Fraction(5, 4)

#: How many boxes of a batch start a local search, and in how many of the first batches.
DIVES = 2
DIVING_BATCHES = 4


@dataclass
class SearchState:
    """The state of a search, which changes as it goes on."""

    incumbent: Configuration | None = None
    value: Fraction | None = None
    boxes: int = 0
    lower_bound: Fraction | None = None
    complete: bool = False
    seconds: float = 0.0


def unsearched(problem: Problem, start: Configuration | None) -> SearchState:
    """The state of a search that was stopped before it began: the start, if it is any good, and
    what bounds every value."""
    value, floor = value_of(problem, start), problem.floor
    hopeless = not up() and problem.hopeless
    check_bound(problem, value, floor, infeasible=hopeless)
    if hopeless:
        return SearchState(complete=True)
    return SearchState(None if value is None else start, value, lower_bound=floor)


def not_begun(
    problem: Problem, start: Configuration | None, options: SolveOptions | None, method: str
) -> Solution:
    """The solution of a search that was stopped before it began.

    Parameters
    ----------
    problem : Problem
        The problem.
    start : Configuration or None
        A configuration to begin with.
    options : SolveOptions or None
        What its search was told; None if it was not to begin.
    method : str
        The engine.
    """
    state = unsearched(problem, start)
    proof = conclude(state.value, state.lower_bound, options, method=method)
    return make_solution(problem, state.incumbent, proof)


def value_of(problem: Problem, start: Configuration | None) -> Fraction | None:
    """The value of a start that is any good; None where there is none, or time is over before that
    is known."""
    with finishing(), suppress(StoppedError):
        return None if start is None else problem.feasible_value(start)
    return None


def nearly_proven(state: SearchState) -> bool:
    """Whether a value is so near to what bounds all values that few rows may be better."""
    value, bound = state.value, state.lower_bound
    return value is not None and bound is not None and value <= NEAR * bound


def check_bound(
    problem: Problem,
    value: Fraction | None,
    lower_bound: Fraction | None,
    *,
    infeasible: bool = False,
) -> None:
    """Refuse loudly what was proven elsewhere if the value of a configuration contradicts it.

    Parameters
    ----------
    problem : Problem
        The problem.
    value : Fraction or None
        The value of a configuration.
    lower_bound : Fraction or None
        The bound.
    infeasible : bool, optional
        Whether it was proven that there is no configuration.

    Raises
    ------
    DisagreementError
        If they contradict each other: the bound would pass for a proof.
    """
    if value is not None and (infeasible or (lower_bound is not None and lower_bound > value)):
        proven = (
            "infeasibility"
            if lower_bound is None
            else f"a lower bound of {float(lower_bound):,.10g}"
        )
        raise DisagreementError(
            f"{proven} was proven for design {problem.design.name}, "
            f"yet there is {float(value):,.10g}; please report this with the command"
        )


class ProvingSearch(ABC):
    """The base of searches that prove: their state, bounds proven elsewhere, and when they look
    up."""

    def __init__(
        self, problem: Problem, options: SolveOptions, report: Report | None = None
    ) -> None:
        self.problem, self.options, self.report = problem, options, report
        self.state = SearchState()
        self.cut = False  #: Whether the call's time was over within a step
        self._floor: Fraction | None = None

    @property
    def exhausted(self) -> bool:
        """Whether it has nothing more to try, though something is left open."""
        return False

    @abstractmethod
    def run(self) -> SearchState:
        """Search until proven, or until the options say to stop; may be called again to go on.

        The time limit is that of this call; the seconds of the state are those of all calls.
        """

    @abstractmethod
    def close_all(self) -> None:
        """Drop all that is open: no configuration meets the limits, as proven elsewhere."""

    def offer(self, configuration: Configuration) -> None:
        """Take a configuration as incumbent if the reference confirms that it improves."""
        value, state = self.problem.feasible_value(configuration), self.state
        if value is not None and (state.value is None or value < state.value):
            state.incumbent, state.value = configuration, value
            check_bound(self.problem, value, self._floor)

    def raise_floor(self, lower_bound: Fraction) -> None:
        """Take over a bound proven elsewhere: no configuration has a smaller objective."""
        self._floor = lower_bound if self._floor is None else max(self._floor, lower_bound)
        check_bound(self.problem, self.state.value, self._floor)

    def _ends(self, spent: float, boxes: int) -> bool:
        """Report what is known, so many seconds and boxes after the run began; whether the options
        say to stop."""
        state = self.state
        if self.report is not None:
            self.report(Progress(state.value, state.lower_bound, state.boxes, state.seconds))
        return self.options.ends(spent, state.value, state.lower_bound, boxes)


class Search(TreeSearch, ProvingSearch):
    """One branch and bound run."""

    batch = BATCH

    def __init__(
        self,
        model: BoundModel,
        options: SolveOptions,
        report: Report | None = None,
        task: Task | None = None,
    ) -> None:
        TreeSearch.__init__(self, model.trees)
        ProvingSearch.__init__(self, model.problem, options, report)
        self.model = model
        self._batches, self._rounds = 0, Rounds()
        if task is None:
            self._begin()
        else:
            self.state.incumbent, self.state.value = task.incumbent, task.value
            self._batches = DIVING_BATCHES
            self._keep(*task.part)

    def run(self, start: Configuration | None = None) -> SearchState:
        """Search until proven, or until the options say to stop; may be called again to go on.

        The time limit is that of this call; the seconds of the state are those of all calls.
        """
        state, began = self.state, time.perf_counter()
        before, first, helpers = state.seconds, state.boxes, Helpers.of(self.options)
        if start is not None:
            self.offer(start)
        while self._parts:
            spent = time.perf_counter() - began
            state.seconds = before + spent
            state.lower_bound = self._open_bound()
            if self._ends(spent, state.boxes - first):
                return state
            if state.boxes < helpers.enough:
                self._advance()
            else:
                self._together(helpers, began)
        state.seconds = before + time.perf_counter() - began
        state.complete = True
        state.lower_bound = state.value
        return state

    def _advance(self) -> None:
        """Split the most promising boxes."""
        nodes, bounds = self._without_ties(*self._open(*self._parts.pop()[1]))
        if not bounds.size:
            return
        if self._batches < DIVING_BATCHES:
            self._dive(nodes[:, np.argsort(bounds[0], kind="stable")[:DIVES]])
        self._batches += 1
        self._split(nodes)

    def _together(self, helpers: Helpers, began: float) -> None:
        """Let tasks search the most promising boxes."""
        state, limit = self.state, self.options.time_limit
        parts, ceiling = self._rounds.deal(self._parts, self._open)
        tasks = [Task(part, state.incumbent, state.value, ceiling, helpers.slice) for part in parts]
        jobs = [Sharing(partial(take_task, task), self.model) for task in tasks]
        outcomes, stop = dict[int, Outcome](), self.options.stop

        def share(unfinished: int) -> SolveOptions | None:
            """The rest of the time."""
            left = None if limit is None else limit - (time.perf_counter() - began)
            return None if left is not None and left <= 0 else SolveOptions(left, stop=stop)

        try:
            examined = state.boxes
            for number, outcome in done_by(helpers.executor, jobs, share):
                outcomes[number] = outcome
                if self.report is not None:
                    examined += outcome.boxes
                    self.report(Progress(state.value, state.lower_bound, examined, state.seconds))
        finally:
            for number, task in enumerate(tasks):
                own = outcomes.get(number, Outcome(None, 0, (task.part,)))
                state.boxes += own.boxes
                if own.incumbent is not None and own.incumbent != task.incumbent:
                    self.offer(own.incumbent)
                for nodes, bounds in own.parts:
                    self._keep(nodes, bounds)

    def take(self, task: Task) -> Outcome:
        """Search the boxes of a task, with which it was made."""
        began, state = time.perf_counter(), self.state
        while self._parts and state.boxes < task.slice and self._parts.least <= task.ceiling:
            if self.options.ends(time.perf_counter() - began, None, None):
                break
            self._advance()
        return Outcome(state.incumbent, state.boxes, tuple(self._parts))

    def close_all(self) -> None:
        """Drop every open box: no configuration meets the limits, as proven elsewhere."""
        check_bound(self.problem, self.state.value, None, infeasible=True)
        self._parts.clear()

    def _open_bound(self) -> Fraction | None:
        """The least value any open box may hold, on the objective's grid."""
        (lowest,) = self._parts.least
        if lowest == -inf:
            return self._floor
        bound = on_grid(below(lowest), self.model.step)
        if self._floor is not None:
            bound = max(bound, self._floor)
        return bound if self.state.value is None else min(bound, self.state.value)

    def _cutoff(self) -> float:
        """Boxes with a bound above this hold no improvement."""
        value = self.state.value
        if value is None:
            return inf
        # where the grid is unknown (step 0) or finer than floats this keeps ties open:
        # `_without_ties` closes them
        return cutoff(value - self.model.step)

    # -- boxes -------------------------------------------------------------------------

    def _bound(self, nodes: Nodes) -> tuple[Floats, Mask]:
        self.state.boxes += nodes.shape[1]
        bounds, feasible = self.model.bound(nodes)
        return bounds[None], feasible & (bounds <= self._cutoff())

    def _improving(self, bounds: Floats) -> Mask:
        open_: Mask = bounds[0] <= self._cutoff()
        return open_

    def _without_ties(self, nodes: Nodes, bounds: Floats) -> tuple[Nodes, Floats]:
        """Drop boxes that floats cannot tell from an improvement but Fractions can.

        On a plateau every box is one: without this all its configurations would be tried.
        """
        value, step = self.state.value, self.model.step
        if value is None or not finer_than_floats(step, value - step):
            return nodes, bounds
        near = np.flatnonzero(may_be_tied(bounds[0], value - step))
        if not near.size:
            return nodes, bounds
        exact = self.model.exact_bound
        # boxes that differ in axes without influence share a bound
        deciding, which = np.unique(nodes[exact.axes][:, near], axis=1, return_inverse=True)
        lows = [exact.of(column) for column in deciding.T.tolist()]
        tied = np.array(
            [low is not None and (low >= value if not step else low > value - step) for low in lows]
        )
        open_ = np.ones(bounds.size, bool)
        open_[near[tied[which.ravel()]]] = False
        return nodes[:, open_], bounds[:, open_]

    # -- incumbents --------------------------------------------------------------------

    def _take(self, nodes: Nodes, bounds: Floats) -> None:
        judged: list[Fraction | None] = []
        while nodes.shape[1]:
            before = self.state.value
            self.offer(self.model.configuration(self._rows(nodes[:, 0])))
            nodes, bounds = self._open(nodes[:, 1:], bounds[:, 1:])
            value = self.state.value
            if value == before and [value] != judged:
                nodes, bounds = self._less(nodes, bounds, value)
                judged = [value]

    def _less(self, nodes: Nodes, bounds: Floats, value: Fraction | None) -> tuple[Nodes, Floats]:
        """The single configurations within limits of an objective below a value, if there is one,
        the least first: where floats cannot tell them, as on a plateau, all are judged at once."""
        less: list[tuple[Fraction, int]] = []
        for begin in range(0, nodes.shape[1], BATCH):
            exact = self.model.values(nodes[:, begin : begin + BATCH])
            less += [
                (each, begin + i)
                for i, each in enumerate(exact)
                if each is not None and (value is None or each < value)
            ]
        order = [place for _, place in sorted(less)]
        return nodes[:, order], bounds[:, order]

    def _dive(self, nodes: Nodes) -> None:
        for column in nodes.T:
            end = descend(self.model.configurations, self.model.counts, self._rows(column))
            if end is not None and end[1] <= self._cutoff():
                self.offer(self.model.configuration(end[0]))


def take_task(task: Task, model: BoundModel, options: SolveOptions, report: Report) -> Outcome:
    """Do a task of a search.

    Parameters
    ----------
    task : Task
        The task.
    model : BoundModel
        The model of the search.
    options : SolveOptions
        Time limit and interruption.
    report : Report
        Not called: tasks are short.
    """
    return Search(model, options, task=task).take(task)
