"""One budget for many problems: what comes first is what every one of them needs, then what decides
between them.

Problems are *rivals* where only the best of them matters, as the designs of a workload are. In
rounds, each going on where the last one was:

1. *opening* and *survey*: a short exact search of every problem, which proves most, as long as it
   does; of the others a bound and seeds by geometric programs; what only a search in stages finds
   comes before, until there is one of every problem;
2. *evolution* of whatever may still beat its best rival, the least bound first;
3. *contest* of the same, for longer and longer stretches, with all engines;
4. *proofs*: what is left of the time goes to each problem's own optimum, and at last to the ties
   of those that no rival beats.

A problem whose bound is not below its best rival's value waits for the last round: it is "not
better". So the best of all is found and proven first, and with enough time every problem is proven,
as if it had been solved alone.

Where some problems keep nothing on chip and others do, those that keep nothing have the first part
of a limited time to themselves, and all of it until there is one of every workload; the others
begin with what those have found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.executor import Executor, InProcess, Tell
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.proof_state import ALONE, PROVERS_SHARE, ProofState
from ithaca.solver.solution import Solution
from ithaca.solver.steps import EXACT_SHARE, Entry, Step, advance

#: Share of a time limit that the survey may take.
SURVEY_SHARE = 0.4

#: Share of the time left that evolution may take, of one problem or of all workloads.
EVOLUTION_SHARE = 0.4

#: Least time of a problem in the survey (seconds): for a geometric program, and for tables before
#: that.
LEAST, LEAST_TABLES = 0.1, 0.25

#: Share of a time limit that the opening may take for one problem, and for all that it does not
#: prove.
PATIENCE_SHARE, LOST_SHARE = 0.05, 0.08


#: Share of a time limit that problems which keep nothing on chip have before all others.
PLAIN_SHARE = 0.75

#: Seconds of exact search in which a problem need not mind its rivals; it looks for configurations
#: first.
MOMENT = 0.05

#: Least time that a problem has in a turn of the contest, so that it gets somewhere (seconds).
LEAST_STRETCH = 1.0


class Schedule:
    """The problems of one budget, solved in rounds by exact search, or with all engines
    (``others``).

    ``rivals`` tells which are rivals: those of the same key. ``best_only`` ends when the best of
    all rivals is proven, or one of equals.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        budget: Budget,
        executor: Executor,
        *,
        others: bool,
        starts: Sequence[Configuration | None],
        rivals: Sequence[Hashable] | None = None,
        weights: Sequence[int] | None = None,
        best_only: bool = False,
        tell: Tell | None = None,
    ) -> None:
        keys = [0] * len(problems) if rivals is None else rivals
        pairs = zip(problems, starts, keys, strict=True)
        alone = 0.0 if best_only else MOMENT
        self.entries = [
            Entry(ProofState(p, s, others=others), key, alone=alone) for p, s, key in pairs
        ]
        self._weights = weights or [1] * len(problems)
        self.failed: set[int] = set()
        self._final: set[int] = set()
        self._budget, self._executor, self._tell = budget, executor, tell
        self._others = any(e.course.others for e in self.entries)
        self._best_only = best_only
        self._resumes, self._rivalry = isinstance(executor, InProcess), True
        self._grouped = rivals is not None
        self._among: Sequence[int] = range(len(self.entries))

    def run(self) -> Iterator[tuple[int, Solution | Exception]]:
        """Solve; yields the number of a problem with what came of it, for every step: the last
        counts."""
        everything, whole = self._among, self._budget
        plain = [n for n in everything if not self.entries[n].course.problem.design.kept]
        if whole.options.time_limit is not None and 0 < len(plain) < len(everything):
            until = whole.options.time_limit * PLAIN_SHARE

            def stop() -> bool:
                late = not any(map(self._unanswered, plain)) and whole.spent >= until
                return late or whole.options.stopped

            self._among, self._budget = plain, Budget(replace(whole.share(), stop=stop))
            self._set_rivals()
            yield from self._decide()
            self._among, self._budget = everything, Budget(whole.share())
            self._hand_on(plain)
        self._set_rivals()
        yield from self._decide()
        # answers come workload by workload where they need not share time or processes
        at_once = whole.options.time_limit is not None or not self._resumes
        unshared = [n for each in self._places.values() if self._all_asked(each) for n in each]
        if not whole.over and unshared:
            self._rivalry = False
            self._set_rivals()
            for numbers in [unshared] if at_once else self._by_workload(unshared):
                yield from self._round([n for n in numbers if self._unproven(n)], Step.PROOF)
                yield from self._round([n for n in numbers if self._undecided(n)], Step.TIES)
                if not at_once:
                    yield from self._rest(numbers)
            self._rivalry = True
            self._set_rivals()
        if not whole.over:
            yield from self._round([n for n in everything if self._undecided(n)], Step.TIES)
        yield from self._rest(everything)

    def _all_asked(self, numbers: Sequence[int]) -> bool:
        """Whether each of some rivals is to be proven, or explained, by itself."""
        return not self._best_only or len(numbers) == 1 or all(self._infeasible(n) for n in numbers)

    def _by_workload(self, numbers: Sequence[int]) -> list[list[int]]:
        """Problems, those of one workload together."""
        return [[n for n in each if n in {*numbers}] for each in self._places.values()]

    def _bests(
        self, workloads: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, Solution | Exception]]:
        """Prove the most promising problem of each workload, then that its rivals are not better.

        They need to be better than that one only: so what comes of a problem does not depend on
        which are solved at a time.
        """
        ranked = [sorted(numbers, key=self._promise) for numbers in workloads]
        yield from self._round([first for first, *_ in ranked], Step.PROOF)
        self._set_rivals()
        yield from self._round([n for _, *rest in ranked for n in rest], Step.PROOF, learn=False)
        self._set_rivals()

    def _decide(self) -> Iterator[tuple[int, Solution | Exception]]:
        """Find and prove the best of all rivals."""
        if self._budget.over:
            return
        limit, places = self._budget.options.time_limit, self._places
        # where time is not short, rounds serve those who look at one workload: what runs elsewhere
        # begins anew in every round, and what waits takes memory
        alone = len(places) == 1 and not (self._best_only and self._grouped)
        if len(self._among) > 1 and (limit is not None or (self._resumes and alone)):
            # one of each first: the time may not suffice for all
            ranked = [sorted(numbers, key=self._promise) for numbers in places.values()]
            order = [n for _, n in sorted(p for own in ranked for p in enumerate(own))]
            most = None
            if limit is not None:
                turn = max(limit * SURVEY_SHARE / self._turns(self._among), LEAST)
                most = max(limit * SURVEY_SHARE / len(places), turn)
                patience = turn * EXACT_SHARE
                if self._others and self._resumes:
                    patience = max(patience, min(limit * PATIENCE_SHARE, LEAST_TABLES))
                for number in self._among:
                    entry = self.entries[number]
                    entry.turn, entry.patience = turn, patience
                for first, *_ in ranked:  # tables that are not finished are lost
                    self.entries[first].patience = most
            if limit is not None:
                yield from self._round(
                    [n for n in order if self.entries[n].course.staged], Step.FIRST
                )
            if limit is not None and (not self._others or self._resumes or turn >= LEAST_TABLES):
                yield from self._opening(order, limit, most)
            if limit is None or self._others:
                yield from self._round(
                    [n for n in order if limit is None or not self._closed(n)], Step.SURVEY, most
                )
            if limit is not None:
                able = self._able()
                most = self._budget.part(EVOLUTION_SHARE).time_limit or 0.0
                # it ends by itself, and the first is the most promising one; of other workloads
                # nothing is known from that
                yield from self._round(
                    able, Step.EVOLUTION, most if len(places) == 1 else most / self._turns(able)
                )
            yield from self._contest(limit)
        elif self._best_only and self._grouped:
            each = [[numbers] for numbers in places.values()]
            for workloads in each if self._resumes else [[*places.values()]]:
                yield from self._bests(workloads)
                numbers = [n for each in workloads for n in each]
                yield from self._round([n for n in numbers if self._undecided(n)], Step.TIES)
                yield from self._rest(numbers)
        elif self._best_only:
            yield from self._round(self._among, Step.PROOF)

    @property
    def _places(self) -> dict[Hashable, list[int]]:
        """The problems of a round by their rivals' key."""
        places: dict[Hashable, list[int]] = {}
        for number in self._among:
            places.setdefault(self.entries[number].rivals, []).append(number)
        return places

    def _hand_on(self, plain: Sequence[int]) -> None:
        """Let problems that keep tensors on chip begin with what is known of them without that."""
        known: dict[str, list[ProofState]] = {}
        for course in (self.entries[n].course for n in plain):
            if course.state.incumbent is not None:
                known.setdefault(course.problem.design.name, []).append(course)
        for entry in self.entries:
            design = entry.course.problem.design
            own = known.get(design.name, ()) if design.kept else ()
            without = design.keeping(()) if own else None
            for course in own:
                if course.problem.design == without:
                    entry.course.adopt_from(course)
        self._set_rivals()

    def _rest(self, numbers: Sequence[int]) -> Iterator[tuple[int, Solution | Exception]]:
        """Go on with problems left open, not begun or beaten later, in view of the best found in
        the end."""
        for number in numbers:
            if number not in self.failed | self._final:
                solution = self.solution(number)
                if solution.final:
                    self._final.add(number)
                yield number, solution

    def solution(self, number: int) -> Solution:
        """The solution of a problem as far as it is known."""
        entry = self.entries[number]
        known = entry.course.solution(entry.own_options(self._budget.options))
        return replace(known, certificate=replace(known.certificate, trace=entry.trace))

    def _opening(
        self, order: Sequence[int], limit: float, most: float | None
    ) -> Iterator[tuple[int, Solution | Exception]]:
        """Search a little, the first problem of each workload and as long as that proves something,
        where other engines wait for their turn."""
        lost, firsts = 0.0, len(self._places) if len(self._places) > 1 else 0
        before = self._budget.spent
        for place, (number, outcome) in enumerate(self._round(order, Step.OPENING, most)):
            yield number, outcome
            now = self._budget.spent
            lost += 0.0 if self._closed(number) else now - before
            before = now
            share = SURVEY_SHARE if place + 1 < firsts else LOST_SHARE
            if self._others and self._resumes and lost > limit * share:
                return

    def _contest(self, limit: float | None) -> Iterator[tuple[int, Solution | Exception]]:
        """Advance what may beat its rivals, until nothing may or the time of the contest is
        over."""
        until, others = limit, self._others and self._resumes
        if limit and others:
            until = limit * (1 - PROVERS_SHARE)
        stretch = ALONE
        while (contest := self._able()) and (until is None or self._budget.spent < until):
            if until is not None:
                turn = (until - self._budget.spent) / self._turns(contest)
                stretch = min(stretch, max(turn, LEAST_STRETCH)) if self._resumes else turn
            yield from self._round(contest, Step.CONTEST if self._resumes else Step.PROOF, stretch)
            stretch *= 2
        if until and others:
            yield from self._round(self._able(), Step.PROVERS)

    def _round(
        self,
        numbers: Sequence[int],
        step: Step,
        most: float | None = None,
        *,
        learn: bool = True,
    ) -> Iterator[tuple[int, Solution | Exception]]:
        """Take a step with some problems, in this order; unless they are to be independent, later
        ones learn what came of earlier ones."""
        jobs = [partial(advance, self.entries[n], step) for n in numbers]

        def share(unfinished: int) -> SolveOptions | None:
            if self._budget.up:
                return None
            if most is not None:
                return self._budget.share().turn(most)
            return self._budget.share(-(-unfinished // self._executor.width))

        def tell(position: int, progress: Progress) -> None:
            if self._tell is not None:
                self._tell(numbers[position], progress)

        for position, outcome in self._executor.run(jobs, share, tell):
            number = numbers[position]
            entry = self.entries[number]
            if isinstance(outcome, Exception):
                self.failed.add(number)
            else:
                if not self._resumes:
                    entry.course.learn(outcome)
                    entry.trace = outcome.certificate.trace
                entry.explained = step is Step.PROOF
                if outcome.final:
                    self._final.add(number)
                if learn:
                    self._set_rivals()
            yield number, outcome

    def _set_rivals(self) -> None:
        """Let every problem know its best rival, and whether others are left to be proven."""
        gap, best = Fraction(self._budget.options.gap), dict[Hashable, tuple[Fraction, int]]()
        among = [(number, self.entries[number]) for number in self._among]
        left = Counter(e.rivals for _, e in among if not e.course.state.complete)
        for number, entry in among:
            entry.contested = left[entry.rivals] > (not entry.course.state.complete)
            value = entry.course.state.value
            if value is not None and (entry.rivals not in best or value < best[entry.rivals][0]):
                best[entry.rivals] = value, number
        for number, entry in among:
            entry.rival, entry.best = None, None
            if entry.rivals in best:
                entry.best, holder = best[entry.rivals]
                if self._rivalry and number != holder:
                    entry.rival = entry.best - gap * abs(entry.best)

    def _able(self) -> list[int]:
        """The problems that may still improve on the best of their rivals, those that may improve
        most first."""

        def hope(number: int) -> float:
            """The amount by which it may improve all runs, negative."""
            entry = self.entries[number]
            best, bound = entry.best, entry.course.state.lower_bound
            if bound is None or best is None:
                return -inf
            return self._weights[number] * float(bound - best)

        return sorted(
            (n for n in self._among if n not in self.failed and not self._closed(n)), key=hope
        )

    def _closed(self, number: int) -> bool:
        entry = self.entries[number]
        return entry.course.closed(entry.own_options(self._budget.options))

    def _promise(self, number: int) -> tuple[int, bool, Fraction | float]:
        """A key that puts first the designs of which most is hoped; where time is short, or
        workloads have rivals of their own, of these the least bound. What is settled is last."""
        course, bound = self.entries[number].course, None
        if self._budget.options.time_limit is not None or self._grouped:
            bound = course.state.lower_bound
        return course.problem.design.rank, course.state.complete, -inf if bound is None else bound

    def _unanswered(self, number: int) -> bool:
        """Whether neither it nor a rival has a configuration, and it may have one."""
        entry = self.entries[number]
        return entry.best is None and not entry.course.state.complete

    def _infeasible(self, number: int) -> bool:
        state = self.entries[number].course.state
        return state.complete and state.value is None

    def _unproven(self, number: int) -> bool:
        """Whether there is something left to prove or, of what is infeasible, to explain."""
        unexplained = self._infeasible(number) and not self.entries[number].explained
        return number not in self.failed and (unexplained or not self._closed(number))

    def _undecided(self, number: int) -> bool:
        """Whether a problem is proven, no rival beats it, and others of that value were not looked
        for."""
        entry = self.entries[number]
        return entry.course.tied and not entry.own_options(self._budget.options).any_tie

    def _turns(self, numbers: Sequence[int]) -> int:
        return max(-(-len(numbers) // self._executor.width), 1)
