"""The state of a problem on its way to a proof, and the steps by which engines advance it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from ithaca.files.clock import StoppedError
from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Status
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import PROVERS
from ithaca.solver.exact import search as exact
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.preparation import ENUMERATION, EXACT, begun, cap, reaches
from ithaca.solver.progress import Progress, Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.ties import breaking_ties, chosen_among_optima

if TYPE_CHECKING:
    from ithaca.formulations.stage import Stage
    from ithaca.solver.combination import Start

METHOD, STAGED = "auto", "staged"
#: Engines of plug-ins that bound and seed problems (`ithaca.solver.combination`).
STARTS: Registry[object] = Registry("starts")

#: Seconds of exact search before other engines are asked, and of preparing it before evolution is
#: asked for a first incumbent; where time is not limited, pieces of tables in place of those.
ALONE, PATIENCE, PATIENT = 2.0, 2.0, 1000

#: Share of the time left that relaxations may take, and then evolution; and of evolution's
#: that relaxations and their rounding may take where nothing is known.
EVOLUTION_SHARE, SEEDING_SHARE = 0.2, 0.5

#: Relaxations for a first incumbent while tables are built, and for a bound in shared time.
EARLY_STAGES, FIRST_STAGES = (12,), (1,)

#: Share of a time limit for other provers, and seconds that these have for what stages leave open.
PROVERS_SHARE, LAST = 0.25, 60.0


class ProofState:
    """A problem on its way to a proof: what is known of it, and how far the engines are with it.

    Steps end when their options say so, and go on where others ended. Without ``others``, exact
    search is the only engine. A problem whose design offers a stage is searched in stages; what
    these leave open is for provers of plug-ins.
    """

    def __init__(
        self,
        problem: Problem,
        start: Configuration | None = None,
        *,
        others: bool = True,
        stage: Stage | None = None,
        widens: bool = True,
    ) -> None:
        self.problem, self._start = problem, start
        self._stage = stage or problem.stage
        self.seconds = self._provers_seconds = 0.0  #: Seconds in all, and of other provers
        self.others = others and self._stage is None and bool(STARTS)
        self._left_to_provers = others and bool(PROVERS)  #: What stages leave open
        self._methods: list[str] = []
        self._search: exact.ProvingSearch | None = None
        self._combined = self._looked_ahead = self._evolved = False
        self._known: Start | None = None
        self._chosen: Solution | None = None  #: The one answer among optima
        self._narrower: list[ProofState] | None = None if widens else []  #: Of parts of the space
        self._part: float | None = None  #: Seconds that each of them may take
        self._ceiling: Fraction | None = None  #: A rival's value: tables hold no more

    @cached_property
    def state(self) -> exact.SearchState:
        """The state of the search; before it begins, what is known without one."""
        return exact.unsearched(self.problem, self._start)

    def closed(self, options: SolveOptions) -> bool:
        """Whether enough is known, or a stop is asked for."""
        return (
            (self._exhausted and not self._left_to_provers)
            or (self._search is not None and self._search.cut)
            or options.stopped
            or self.state.complete
            or options.gap_is_met(self.state.value, self.state.lower_bound)
        )

    @property
    def _exhausted(self) -> bool:
        """Whether stages have nothing more to try."""
        return self._search is not None and self._search.exhausted

    @property
    def staged(self) -> bool:
        """Whether the problem is searched in stages."""
        return self._stage is not None

    @property
    def prepared(self) -> bool:
        """Whether the tables of exact search are built."""
        return self._search is not None

    def solution(self, options: SolveOptions) -> Solution:
        """The state as the solution of a search that ended under some options."""
        if self._chosen is not None:
            return self._chosen
        alone, state = METHOD if self.others else STAGED if self.staged else EXACT, self.state
        method = "+".join(dict.fromkeys(self._methods)) or alone
        certificate = conclude(
            *(state.value, state.lower_bound, options),
            complete=state.complete,
            exhausted=self._exhausted and not self._left_to_provers,
            method=method,
            nodes=state.boxes,
            seconds=self.seconds,
        )
        if self.tied and not options.any_tie:
            certificate = replace(certificate, ties_broken=False)
        return make_solution(self.problem, state.incumbent, certificate)

    @property
    def tied(self) -> bool:
        """Whether its optimum is proven, and others of that value were not looked for."""
        state = self.state
        if (
            self._chosen is not None
            or state.incumbent is None
            or not (state.complete or state.value == state.lower_bound)
        ):
            return False
        ordered = self.problem.objective.then is not None
        return ordered or self.problem.preferences(state.incumbent) is not None

    def learn(self, solution: Solution) -> None:
        """Take over what a copy of this course, in another process, came to."""
        known = solution.certificate
        self.state = exact.SearchState(
            solution.configuration, solution.value, known.nodes, known.lower_bound, known.empty
        )
        self.seconds = known.seconds
        self._methods = [name for name in known.method.split("+") if name != METHOD]
        # a copy may not have looked for others yet
        self._chosen = solution if known.ties_broken or known.then is not None else None

    def solve(self, options: SolveOptions, report: Report | None = None) -> Solution:
        """Take all steps, and say what they came to."""
        self.finish(options, report)
        return self.solution(options)

    def explore(
        self, options: SolveOptions, report: Report | None = None, most: float | None = None
    ) -> None:
        """Go on with exact search, of narrower spaces first; tables are built with all the time.

        Parameters
        ----------
        options : SolveOptions
            Time limit (seconds), gap and interruption.
        report : Report, optional
            Called with the progress now and then.
        most : float, optional
            Seconds that it may take at most, within that time limit; None: all of it.
        """
        budget = Budget(options)
        if not reaches(self._ceiling, self.state, options):
            self._search, self._ceiling = None, None
        if not self.closed(options) and (
            options.rival is None  # else tables hold only what beats it
            or options.time_limit is not None
            or self._narrower
            or self.staged
            or self.problem.space.entangled
        ):
            part = Budget(budget.share().turn(most if self.staged else None))
            self._explore_narrower(part, report)
        if not self.closed(options) and (self._search is not None or self._prepare(budget)):
            assert self._search is not None
            self._search.report = report
            self._run(budget.share().turn(most))
        self.seconds += budget.spent
        if self._exhausted:
            self.ask_provers(budget.share().at_most(most).at_most(LAST), report)

    def bound(self, options: SolveOptions) -> None:
        """Ask few relaxations for a bound and seeds."""
        budget = Budget(options)
        if self.others and not self.closed(options):
            if self._search is None:
                self._look_ahead(options, FIRST_STAGES)
            elif isinstance(self._search, exact.Search):
                self._bound_and_seed(self._search, options, FIRST_STAGES)
                self._run(replace(options, time_limit=0.0))
        self.seconds += budget.spent

    def evolve(self, options: SolveOptions) -> None:
        """Let evolution look for a better incumbent, once."""
        budget = Budget(options)
        if self.others and not self._evolved and not self.closed(options):
            if self._search is None:
                self._look_ahead(budget.part(SEEDING_SHARE), FIRST_STAGES, rounding=True)
            self._evolve(budget.share())
        self.seconds += budget.spent

    def combine(self, options: SolveOptions) -> None:
        """Let other engines bound and seed the search, once."""
        search = self._search
        never = self._combined or not self.others or options.time_limit == 0
        if never or not isinstance(search, exact.Search) or self.closed(options):
            return
        self._combined, budget = True, Budget(options)
        known = self._bound_and_seed(search, budget.part(EVOLUTION_SHARE))
        met = options.gap_is_met(search.state.value, known.lower_bound)
        if not (known.infeasible or met or self._evolved):
            self._evolve(budget.part(EVOLUTION_SHARE))
        self._run(replace(options, time_limit=0.0))
        self.seconds += budget.spent

    def finish(self, options: SolveOptions, report: Report | None = None) -> None:
        """Go on with all engines; with a time limit, other provers have its last part."""
        budget, limit = Budget(options), options.time_limit
        if self.others:
            known = self.state
            taken = options.taken(known.seconds, known.boxes) if self._search is not None else 0.0
            self.explore(options, report, max(ALONE - taken, 0.0))
        self.combine(budget.share())
        until = limit
        if limit is not None and self.others:
            until = max(limit * (1 - PROVERS_SHARE) - budget.spent, 0.0)
        self.explore(replace(options, time_limit=until), report)
        if limit is not None:
            self.ask_provers(budget.share(), report)

    def ask_provers(self, options: SolveOptions, report: Report | None = None) -> None:
        """Let provers of plug-ins go on from what is known, for all the time there is."""
        search, able = self._search, self.others or self._exhausted
        if search is None or not able or self.closed(options) or options.time_limit == 0:
            return
        state, whole, before = self.state, Budget(options), self.seconds
        self._left_to_provers = False

        def tell(progress: Progress) -> None:
            if report is not None:
                boxes, seconds = state.boxes + progress.boxes, before + progress.seconds
                report(replace(progress, boxes=boxes, seconds=seconds))

        for name in PROVERS:
            own, known = replace(whole.share(), any_tie=True), (state.incumbent, state.lower_bound)
            budget, limit = Budget(own), own.time_limit
            try:
                solution = PROVERS[name](self.problem, own, tell, *known)
            except (ModuleNotFoundError, InputError, MemoryError):  # no package, form or memory
                continue
            # one that ends early has no more to say
            self._provers_seconds += budget.spent
            early = limit is not None and budget.spent < 0.9 * limit and not options.stopped
            self._left_to_provers |= not early and self._provers_seconds < LAST
            self._methods.append(solution.certificate.method)
            self._adopt(search, solution)
            state.boxes += solution.certificate.nodes
        self.seconds += whole.spent

    def break_ties(self, options: SolveOptions) -> None:
        """Go on from the optimum to the one answer of that value, unless any will do."""
        if not self.tied or options.any_tie:
            return

        @breaking_ties
        def solve(
            problem: Problem, share: SolveOptions, report: Report | None, start: Configuration
        ) -> Solution:
            others = self.others or self._left_to_provers
            return ProofState(problem, start, others=others).solve(share, report)

        self._chosen = chosen_among_optima(self.solution(options), options, solve)
        self.state.incumbent = self._chosen.configuration
        self.seconds = self._chosen.certificate.seconds

    def _prepare(self, budget: Budget) -> bool:
        """Build the tables of exact search; false if they are not needed, or time is up."""
        if self._stage is not None:
            from ithaca.solver.staged.search import StagedSearch

            self._begin(StagedSearch(self.problem, self._stage, budget.options), STAGED)
            return True
        checkpoint = budget.options.checkpoint()
        limit, turns, began = budget.options.time_limit, count(1), time.process_time()

        def look_ahead() -> None:
            checkpoint()
            spent = min(budget.spent, time.process_time() - began)  # others may have had the clock
            late = next(turns) > PATIENT if limit is None else spent > PATIENCE
            late = late and not exact.nearly_proven(self.state)
            if self.others and not self._looked_ahead and late:
                self._look_ahead(budget.part(EVOLUTION_SHARE), EARLY_STAGES)
                self._evolve(budget.part(EVOLUTION_SHARE))
                if self.closed(budget.options):
                    raise StoppedError  # enough is known without tables

        self._ceiling = top = budget.options.rival
        known = (self.problem, budget.options, self.state, self._offer, look_ahead)
        try:
            checkpoint()
            with budget.options.building():
                begins = begun(*known, small=self.others)
        except StoppedError:
            return False
        if begins is None:
            self._methods.append(EXACT)
            self.state.complete = True
            cap(self.state, top)
            return False
        self._ceiling = None if begins[1] == ENUMERATION else top  # that is of all there is
        self._begin(*begins)
        return True

    def _explore_narrower(self, budget: Budget, report: Report | None) -> None:
        """Search narrower spaces first, each until it is proven or has had its part of the time."""

        def tell(progress: Progress) -> None:
            if report is not None:
                report(replace(progress, lower_bound=self.state.lower_bound))

        def stopped() -> bool:  # what is found first is known at once
            return self.closed(budget.options) or (
                self.state.value is None and course.state.value is not None
            )

        if self._narrower is None:
            self._narrower = [
                ProofState(replace(self.problem, design=design), others=False, widens=False)
                for design in self.problem.design.narrower
            ]
        while self._narrower and not self.closed(budget.options) and not budget.up:
            course = self._narrower[0]
            if self._part is None and budget.options.time_limit is not None:
                self._part = budget.options.time_limit / (len(self._narrower) + 1)
            most = None  # there must be an answer
            if self._part is not None and self.state.value is not None:
                most = max(self._part - course.seconds, 0.0)
            tops = [v for v in (self.state.value, budget.options.rival) if v is not None]
            options = replace(budget.share().turn(most), rival=min(tops, default=None))
            course.explore(replace(options, stop=stopped), tell)
            for other in (self, *self._narrower[1:]):
                other.adopt_from(course)
            had_its_part = self._part is not None and course.seconds >= self._part
            foreign = self.state.value is None and course.state.value is not None
            if had_its_part or foreign or course.closed(replace(options, stop=None)):
                self.state.boxes += course.state.boxes
                del self._narrower[0]
            elif options.boxes is not None:
                return

    def adopt_from(self, other: ProofState) -> None:
        """Take the incumbent of another space over, if it is one of this space and improves."""
        if (incumbent := other.state.incumbent) is not None:
            try:
                own = self.problem.design.translated(other.problem.design, incumbent)
            except InputError:  # it is none
                return
            if own is not None:
                self._offer(own)

    def _offer(self, configuration: Configuration) -> Fraction | None:
        """Take a configuration as incumbent, if the reference confirms that it improves."""
        if self._search is not None:
            self._search.offer(configuration)
            return self.state.value
        state, value = self.state, self.problem.feasible_value(configuration)
        if value is not None and (state.value is None or value < state.value):
            exact.check_bound(self.problem, value, state.lower_bound)
            state.incumbent, state.value = configuration, value
        return state.value

    def _begin(self, search: exact.ProvingSearch, method: str) -> None:
        """Let a search take over what is known."""
        self._search, known, self.state = search, self.state, search.state
        self.state.boxes += known.boxes
        if known.incumbent is not None:
            search.offer(known.incumbent)
        if known.lower_bound is not None:
            search.raise_floor(known.lower_bound)
        self._methods.append(method)

    def _run(self, options: SolveOptions) -> None:
        assert self._search is not None
        self._search.options = options
        self._search.run()
        cap(self.state, self._ceiling)

    def _look_ahead(
        self, options: SolveOptions, stages: Sequence[int], *, rounding: bool = False
    ) -> None:
        """Bound, and look where an incumbent may be, without exact search or its tables."""
        from ithaca.solver.combination import solver_start

        self._looked_ahead, state = True, self.state
        self._known = known = solver_start(
            self.problem, options, options.checkpoint(), stages=stages, rounding=rounding
        )
        bounds = [b for b in (state.lower_bound, known.lower_bound) if b is not None]
        state.lower_bound, state.complete = max(bounds, default=None), known.infeasible
        exact.check_bound(self.problem, state.value, state.lower_bound, infeasible=known.infeasible)
        self._methods += STARTS

    def _evolve(self, options: SolveOptions) -> None:
        """Let a short evolution look for a better incumbent."""
        from ithaca.solver.combination import NOTHING, better_incumbent

        if self.state.complete:
            return
        self._evolved, before = True, self.state.value
        better = better_incumbent(
            self.problem, options, self.state.incumbent, self._known or NOTHING
        )
        if better is not None:
            self._offer(better)
        if self.state.value != before:
            self._methods.append("evolve")

    def _bound_and_seed(
        self, search: exact.Search, options: SolveOptions, stages: Sequence[int] | None = None
    ) -> Start:
        from ithaca.solver.combination import STAGES, bound_and_seed

        self._known = known = bound_and_seed(
            self.problem, search, options, STAGES if stages is None else stages
        )
        if known.infeasible or known.lower_bound is not None:
            self._methods += STARTS
        return known

    def _adopt(self, search: exact.ProvingSearch, solution: Solution) -> None:
        """Let the search know what another engine has found and proven."""
        if solution.certificate.status is Status.INFEASIBLE:
            search.close_all()
            self._ceiling = None
        if solution.configuration is not None:
            search.offer(solution.configuration)
        if solution.certificate.lower_bound is not None:
            search.raise_floor(solution.certificate.lower_bound)
        self._run(replace(search.options, time_limit=0.0))
