"""Solve one design by CP-SAT: run it on a problem, and translate what it finds and proves.

Where the objective is a quotient, CP-SAT runs again, from a better configuration each time, until
its last run proves that there is none (`ithaca.plugins.cpsat.solver.ratio`).
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from fractions import Fraction

from ortools.sat.python import cp_model

from ithaca.files.clock import StoppedError
from ithaca.formulations.algebra.rounding import integer_bound
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.plugins.cpsat.solver.model import IntegerModel, build_integer_model
from ithaca.plugins.cpsat.solver.ratio import Aim
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.search import SearchState, check_bound, unsearched
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress, Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.ties import breaking_ties

METHOD = "cpsat"

#: Seconds between looks at a running solver.
POLL = 0.05


class CpSatSearch:
    """A search by CP-SAT with so many workers, which goes on from a state; boxes are branches."""

    def __init__(
        self,
        problem: Problem,
        state: SearchState,
        options: SolveOptions,
        report: Report | None = None,
        threads: int = 1,
    ) -> None:
        self.problem = problem
        self.options = options
        self.report = report
        self.threads = threads
        self.state = state
        self._reported: Fraction | None = None
        self._began = time.perf_counter()

    def run(self) -> None:
        """Search until proven, or until the options say to stop."""
        state = self.state
        check_bound(self.problem, state.value, state.lower_bound)
        self._reported = state.value
        try:
            with self.options.building():
                model = build_integer_model(
                    self.problem, state.lower_bound, state.value, self.options.checkpoint()
                )
        except StoppedError:
            return
        if model is None:
            self._conclude_infeasible()
            return
        if state.lower_bound is not None:
            state.lower_bound = model.objective.least(state.lower_bound, Fraction(0))
        self._raise_bound(model.objective.floor())
        while self._improve(model):
            pass

    def _improve(self, model: IntegerModel) -> bool:
        """Run CP-SAT once; whether to do so again, because its best solution is better and not
        proven."""
        state, options = self.state, self.options
        if state.incumbent is not None:
            model.hint(state.incumbent)
        known = state.value
        assert state.lower_bound is not None
        aim = model.aim(state.lower_bound if known is None else known, at_most=known is not None)
        solver = cp_model.CpSolver()
        if not self._configure(solver, presolve=not model.encoder.in_digits):
            return False
        watcher = _Watcher(model)
        try:
            status = self._solve(solver, model, aim, watcher)
        except (
            MemoryError
        ):  # CP-SAT's own, which it leaves no state behind for: what is known stays known
            return False
        self._conclude(solver, model, aim, watcher, status)
        if (
            status != cp_model.OPTIMAL
            or options.stopped
            or options.gap_is_met(state.value, state.lower_bound)
        ):
            return False
        return state.value != known

    # -- running -----------------------------------------------------------------------

    def _configure(self, solver: cp_model.CpSolver, *, presolve: bool) -> bool:
        """Set CP-SAT's parameters; false if no time is left."""
        parameters = solver.parameters
        parameters.random_seed = 0
        parameters.num_workers = self.threads
        parameters.cp_model_presolve = presolve
        # measured: neither linear relaxations, too weak for products of table columns, nor probing
        # the tables' many literals pays for itself
        parameters.linearization_level = 0
        parameters.cp_model_probing_level = 0
        # any but 0, and CP-SAT compares value and bound as floats, which beyond 2**53 are equal too
        # soon
        parameters.absolute_gap_limit = 0.0
        # the caller's handler is to decide about Ctrl-C, and it needs a running interpreter
        parameters.catch_sigint_signal = False
        if self.options.time_limit is not None:
            left = self.options.time_limit - (time.perf_counter() - self._began)
            parameters.max_time_in_seconds = max(left, 0.0)
            return left > 0
        return True

    def _solve(
        self, solver: cp_model.CpSolver, model: IntegerModel, aim: Aim, watcher: _Watcher
    ) -> cp_model.CpSolverStatus:
        """Run CP-SAT in a thread, so that this one can report, and hear of an interruption."""
        solver.best_bound_callback = watcher.on_bound
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(solver.solve, model.model, watcher)
            try:
                while True:
                    try:
                        return running.result(timeout=POLL)
                    except NotYetError:
                        self._look(watcher, aim)
                    if self._should_stop():
                        solver.stop_search()
            except BaseException:
                while not running.done():
                    solver.stop_search()
                    time.sleep(POLL)
                raise
            finally:
                self._look(watcher, aim)

    def _look(self, watcher: _Watcher, aim: Aim) -> None:
        """Take over what CP-SAT has found and proven so far."""
        state = self.state
        if watcher.bound is not None:
            self._raise_bound(aim.least(watcher.bound))
        if watcher.best is not None:
            self._reported = (
                watcher.best if self._reported is None else min(watcher.best, self._reported)
            )
        if self.report is not None:
            branches, seconds = state.boxes + watcher.branches, time.perf_counter() - self._began
            self.report(Progress(self._reported, state.lower_bound, branches, seconds))

    def _should_stop(self) -> bool:
        options = self.options
        if options.stopped:
            return True
        early = bool(options.gap) or options.rival is not None
        return early and options.gap_is_met(self._reported, self.state.lower_bound)

    # -- concluding --------------------------------------------------------------------

    def _conclude(
        self,
        solver: cp_model.CpSolver,
        model: IntegerModel,
        aim: Aim,
        watcher: _Watcher,
        status: cp_model.CpSolverStatus,
    ) -> None:
        state = self.state
        state.boxes += solver.num_branches
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            self._take(model.configuration(solver.value), model.value(solver.value))
            if watcher.best is not None and state.value is not None and watcher.best < state.value:
                # the least quotient among the solutions need not be that of the least excess
                self._take(
                    model.configuration(lambda variable: watcher.columns[variable.index]),
                    watcher.best,
                )
            if status == cp_model.OPTIMAL:
                # the integer behind the float that CP-SAT shows; only a finished search is sure to
                # have set it
                self._raise_bound(aim.least(solver.response_proto.inner_objective_lower_bound))
        elif status == cp_model.INFEASIBLE:
            self._conclude_infeasible()
        elif status == cp_model.MODEL_INVALID:
            raise RuntimeError(f"CP-SAT rejects its model: {solver.solution_info()}")

    def _take(self, configuration: Configuration, claimed: Fraction) -> None:
        value = self.problem.feasible_value(configuration)
        if value != claimed:
            raise RuntimeError(
                f"CP-SAT finds {claimed} for {configuration}, the reference {value}: "
                "the encoding is wrong"
            )
        if self.state.value is None or value < self.state.value:
            self.state.incumbent, self.state.value = configuration, value

    def _raise_bound(self, bound: Fraction) -> None:
        state = self.state
        if state.value is not None:
            bound = min(bound, state.value)
        if state.lower_bound is None or bound > state.lower_bound:
            state.lower_bound = bound

    def _conclude_infeasible(self) -> None:
        if self.state.value is not None:
            raise RuntimeError(
                "CP-SAT finds nothing as good as the known configuration "
                f"of value {self.state.value}: "
                "the encoding, or the lower bound given, is wrong"
            )
        self.state.complete = True
        self.state.lower_bound = None


class _Watcher(cp_model.CpSolverSolutionCallback):
    """Notes the best of CP-SAT's solutions, and its bounds (integers), in threads of CP-SAT's."""

    def __init__(self, model: IntegerModel) -> None:
        super().__init__()
        self.model = model
        self.reach = model.encoder.objective_reach()
        self.best: Fraction | None = None
        self.columns: dict[int, int] = {}
        self.bound: int | None = None
        self.branches = 0

    def on_solution_callback(self) -> None:
        value = self.model.value(self.value)
        if self.best is None or value < self.best:
            self.columns = {
                v.index: self.value(v)
                for known in self.model.encoder.columns.values()
                for v in known.values()
            }
            self.best = value
        self.branches = self.num_branches

    def on_bound(self, bound: float) -> None:
        if (proven := integer_bound(bound, self.reach)) is not None:
            self.bound = proven


@breaking_ties
def solve_cpsat(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
    lower_bound: Fraction | None = None,
    threads: int = 1,
) -> Solution:
    """Find the best configuration of a design by integer programming, with a proof.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit, gap and interruption.
    report : Report, optional
        Told the progress.
    start : Configuration, optional
        A configuration to begin with.
    lower_bound : Fraction, optional
        What no configuration has a smaller objective than: the proof rests on it.
    threads : int, optional
        Threads of CP-SAT; with one, a search that runs to its end is repeatable.

    Returns
    -------
    Solution
        The best; the nodes of its certificate are CP-SAT's branches, over all its runs.

    Raises
    ------
    NotExpressibleError
        If CP-SAT cannot express the problem exactly.
    RuntimeError
        If CP-SAT and the Fraction reference contradict each other: then one of them is wrong.
    """
    began = time.perf_counter()
    state = unsearched(problem, start)
    state.lower_bound = max(
        (bound for bound in (lower_bound, state.lower_bound) if bound is not None), default=None
    )
    if not options.stopped:
        CpSatSearch(problem, state, options, report, threads).run()
    certificate = conclude(
        state.value,
        state.lower_bound,
        options,
        complete=state.complete,
        method=METHOD,
        nodes=state.boxes,
        seconds=time.perf_counter() - began,
    )
    return make_solution(problem, state.incumbent, certificate)
