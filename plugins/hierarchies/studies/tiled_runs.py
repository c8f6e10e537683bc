"""Runs of a network that may pass tiles on, and the best way of each such part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ithaca.files.clock import StoppedError, ending, poll
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.uneven.plans import Tiled
from ithaca.plugins.hierarchies.studies.tiles import TileSearch, search_tiles
from ithaca.solver.certificate import Certificate
from ithaca.solver.options import Budget
from ithaca.solver.solution import Solution
from ithaca.studies.network.chains import Costs, RunChain, Span
from ithaca.studies.network.fused import PassedTiles
from ithaca.studies.network.runner import NetworkProgress
from ithaca.studies.network.totals import require_one
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.network import LayerRun

#: The nests of some runs, and how often they run: what is asked once for all of them.
RunQuestion = tuple[tuple[LoopNest, ...], int]


@dataclass(frozen=True)
class TiledRun:
    """Runs that pass tiles on, with their best solutions and proof."""

    count: int
    """How often they run."""
    solutions: tuple[Solution, ...]
    """The solution of each, where that is better than all else that is known."""
    certificate: Certificate
    """The certificate of them all."""
    words: int
    """Words that do not leave."""

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The objective of all, and what decides between equals."""
        total = sum((each.value or Fraction(0) for each in self.solutions), Fraction(0))
        return self.count * total, -Fraction(2 * self.words)

    @property
    def bound(self) -> Fraction | None:
        """A lower bound of the objective of all runs; None where nothing is known of it."""
        least = self.certificate.lower_bound
        return None if least is None else self.count * least

    @property
    def unknown(self) -> bool:
        """Whether there was no time to bound them."""
        return self.bound is None and not self.certificate.empty


class TiledRuns(PassedTiles):
    """The parts of a chain that may pass tiles on."""

    def __init__(
        self,
        chain: RunChain,
        problems_of: Mapping[LoopNest, tuple[Problem, ...]],
    ) -> None:
        super().__init__(chain, problems_of)
        self._open = set[LoopNest]()

    def check(self, objective: Objective) -> None:
        """Refuse several objectives, and those that fall."""
        if not (self.searches or self._open):
            return  # bounds of runs that are left open rest on this, too
        where = "--fuse where tiles may be passed on"
        require_one(objective, where)
        every = [problem for problems in self._problems_of.values() for problem in problems]
        if beside := frozenset[str]().union(*(problem.beside for problem in every)):
            raise InputError(
                f"--objective or a limit speaks of {', '.join(sorted(beside))}; allowed with "
                f"{where}: metrics alone"
            )
        falling = frozenset[str]().union(*(problem.falling for problem in every))
        if falling:
            raise InputError(
                f"--objective {quoted(objective.text)} or a limit may fall "
                f"with {', '.join(sorted(falling))}; allowed with {where}: what does not"
            )

    @cached_property
    def searches(self) -> Mapping[Span, Tiled]:
        """The searches of runs, the fewest runs first; those that there was no time to look at are
        left out."""
        ways, left = dict[Span, Tiled](), self._spans[::-1]
        with ending(), suppress(StoppedError):
            while left:
                poll()
                first, last = left[-1]
                runs, _ = self._asks((first, last))
                designs: list[Any] = [problem.design for problem in self._problems(runs)]
                tiled = designs[0].tiled(designs[1:])
                if tiled is not None:
                    ways[first, last] = tiled
                left.pop()
        self._leave(*left)
        return ways

    @cached_property
    def _spans(self) -> list[Span]:
        """The runs that may, the fewest first: each of one design, all as often as the first."""
        able = [self._least(run.nest) is not None for run in self._chain.runs]
        spans = []
        for first in range(len(able)):
            for last in range(first + 1, len(able)):
                before, run = self._chain.runs[last - 1 : last + 1]
                if not (
                    able[last - 1]
                    and able[last]
                    and self._chain.may_keep[last]
                    and before.count == run.count
                ):
                    break
                spans.append((first, last))
        return sorted(spans, key=lambda span: span[1] - span[0])

    @remembered
    def _least(self, nest: LoopNest) -> Fraction | None:
        """A lower bound of the objective of a nest that passes tiles on, or takes some; None if it
        can do neither."""
        problem, *others = self._problems_of[nest]
        design: Any = problem.design
        roofs = None if others else design.passing(problem.limits)
        return None if roofs is None else problem.objective.value(roofs)

    def _leave(self, *spans: Span) -> None:
        """Leave some runs open: there was no time to bound all that they may do together."""
        ends = dict(sorted(spans))  # of those that begin with the same run the longest
        numbers = {n for first, last in ends.items() for n in range(first, last + 1)}
        self._open |= {self._chain.runs[n].nest for n in numbers}

    def loosened(self, bounds: Costs) -> Costs:
        least: dict[LoopNest, tuple[Fraction, ...]] = {}
        for nest in self._open:
            own = self._least(nest)
            known = [bound for v, bound in bounds.items() if v[0] == nest and bound is not None]
            least[nest] = min([*known, *([] if own is None else [(own,)])])
        return {v: least.get(v[0], bound) for v, bound in bounds.items()}

    def solve(
        self, values: Costs, budget: Budget, report: Callable[[NetworkProgress], Any] | None
    ) -> Mapping[Span, TiledRun]:
        known: dict[RunQuestion, TiledRun] = {}
        tiled_runs: dict[Span, TiledRun] = {}
        begun = self._begun(values, budget)
        with ending(), suppress(StoppedError):
            for done, (span, tiled) in enumerate(self.searches.items()):
                poll()
                runs, key = self._asks(span)
                count = key[1]
                if report is not None:
                    place = " → ".join(run.source for run in runs)
                    report(NetworkProgress(done, len(self.searches), 0, f"tiles of {place}"))
                if key not in known:
                    parts = {
                        (first - span[0], last - span[0]): each.values
                        for (first, last), each in tiled_runs.items()
                        if span[0] <= first and last <= span[1] and each.solutions
                    }
                    share = budget.share(len(self.searches) - done)
                    solutions, proof = search_tiles(
                        self._problems(runs),
                        tiled,
                        share,
                        self._rival(span, values, parts),
                        begun.pop(key, None),
                    )
                    words = sum(run.written_words for run in runs[:-1])
                    known[key] = TiledRun(count, solutions, proof, words)
                tiled_runs[span] = known[key]
        every = self.searches
        self._leave(*(s for s in every if s not in tiled_runs or tiled_runs[s].unknown))
        return tiled_runs

    def _begun(self, values: Costs, budget: Budget) -> dict[RunQuestion, TileSearch]:
        """Searches of all ways of each of the runs, with their first bounds: before any of them is
        searched, as the longest runs come last, when time may be over."""
        begun: dict[RunQuestion, TileSearch] = {}
        inner: dict[Problem, Solution] = {}
        if budget.options.time_limit is None:
            return begun
        half = Budget(budget.share(2))
        with half.options.building(), suppress(StoppedError):
            for done, (span, tiled) in enumerate(self.searches.items()):
                poll()
                runs, key = self._asks(span)
                if key not in begun:
                    share = half.share(len(self.searches) - done)
                    begun[key] = TileSearch(
                        self._problems(runs),
                        tiled.stages[-1],
                        share,
                        self._rival(span, values, {}),
                        inner,
                    )
                    begun[key].begin(share)
        return begun

    def _asks(self, span: Span) -> tuple[tuple[LayerRun, ...], RunQuestion]:
        runs = self._chain.runs[span[0] : span[1] + 1]
        return runs, (tuple(run.nest for run in runs), runs[0].count)

    def _problems(self, runs: Sequence[LayerRun]) -> list[Problem]:
        return [self._problems_of[run.nest][0] for run in runs]

    def _rival(
        self, span: Span, values: Costs, parts: Mapping[Span, tuple[Fraction, ...]]
    ) -> Fraction | None:
        """Everything else that the runs have, once."""
        part = self._chain.part(span)
        other = part.best(values, parts)
        return None if other is None else other[0][0] / part.runs[0].count
