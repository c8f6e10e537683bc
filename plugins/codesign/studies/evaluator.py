"""One evaluator for all searches of hardware: at an accelerator, layers have their proven best
mappings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.hypervolume import nondominated
from ithaca.plugins.codesign.studies.layer_cache import Ask, LayerCache
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import HardwarePoint
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution

#: Excess of an accelerator that breaks a rule, or that some layer cannot run on; stands for its
#: objectives.
ILLEGAL, WORST = 1e6, 1e30


class SearchOverError(Exception):
    """The end of a search: no trials are left, or it asks for nothing new."""


@dataclass(frozen=True)
class HardwareEvaluation:
    """An accelerator that was looked at."""

    point: Configuration
    """Its quantities."""
    hardware: HardwarePoint | None
    """Costs, objectives, mappings; None where a rule is broken, or layers cannot run or did not."""
    shares: tuple[Fraction, ...] = ()
    """How much of each limit is used, over it; where layers did not run, of hardware's."""
    seconds: float = 0.0
    """Until then: proofs of layers that were new to this search, and the method's own."""

    @property
    def value(self) -> Fraction | None:
        """The first objective; None where there is none, or a limit is exceeded."""
        return self.hardware.values[0] if self.hardware is not None and self.feasible else None

    @property
    def feasible(self) -> bool:
        """Whether layers run and limits are met."""
        return self.hardware is not None and all(share <= 1 for share in self.shares)

    @property
    def excess(self) -> float:
        """The amount by which limits are exceeded, in parts of them, in all."""
        if self.hardware is None and not self.shares:
            return ILLEGAL
        return float(sum(max(share - 1, Fraction(0)) for share in self.shares))

    @property
    def mean_share(self) -> Fraction:
        """Mean share of the limits that is used; 1 without limits."""
        return sum(self.shares, Fraction(0)) / len(self.shares) if self.shares else Fraction(1)


class HardwareEvaluator:
    """Evaluates accelerators, counts those that are new, and ends the search when the trials are
    used up.

    A bank may be shared by several searches: each is charged the seconds of every proof that it
    asks for, once.
    """

    def __init__(
        self,
        question: CodesignQuestion,
        bank: LayerCache,
        trials: int,
        stop: Callable[[], bool] | None = None,
        seed: int = 0,
    ) -> None:
        runs = [amount for amount in question.amounts if amount.shares]
        mapped = [amount.text for amount in question.minimised if amount.shares]
        if len(mapped) > 1:
            raise InputError(
                f"--objectives are {', '.join(mapped)}; allowed with a search "
                "method: one that depends on mappings"
            )
        if trials < 1:
            raise InputError(f"--trials is {trials}; allowed: at least 1")
        self.question, self.bank, self.trials, self.seed = question, bank, trials, seed
        self.lead = runs[0]  # what mappings are the best for
        self.history: dict[Configuration, HardwareEvaluation] = {}
        self.idle = 0  # looks in a row at nothing new
        self.trail: list[str] = []  # reasons, step by step
        self._options = SolveOptions(stop=stop)
        self._asks: set[Ask] = set()
        self._proofs, self._waited, self._began = 0.0, 0.0, time.perf_counter()

    def evaluate(self, point: Configuration) -> HardwareEvaluation:
        """Evaluate an accelerator; one looked at before costs nothing. Raises `SearchOverError`
        when no trials are left.

        No layer runs on an accelerator that by itself exceeds limits; it is a trial all the same.
        """
        self.idle += 1
        if point not in self.history:
            self.idle = 0
            if len(self.history) >= self.trials or self._options.stopped:
                raise SearchOverError
            began = time.perf_counter()
            known, shares = self._scored(point)
            self._waited += time.perf_counter() - began
            own = time.perf_counter() - self._began - self._waited
            self.history[point] = HardwareEvaluation(point, known, shares, self._proofs + own)
        return self.history[point]

    @property
    def places(self) -> dict[str, int]:
        """The number of values of every quantity, by its name."""
        return {quantity.name: len(quantity.values) for quantity in self.question.space.quantities}

    @property
    def objectives(self) -> int:
        """The number of objectives."""
        return len(self.question.objectives)

    def at(self, places: Any) -> Configuration:
        """The accelerator whose quantities have the values at some places."""
        quantities = self.question.space.quantities
        return Configuration(
            {q.name: q.values[int(place)] for q, place in zip(quantities, places, strict=True)}
        )

    def score(self, places: Any, patience: int) -> tuple[Floats, Floats]:
        """Objectives and excesses of accelerators, given by places of values. Raises
        `SearchOverError` where nothing new was asked for so many times in a row."""
        if self.idle >= patience:
            raise SearchOverError
        idle = [WORST] * self.objectives
        every = [self.evaluate(self.at(each)) for each in places]
        values = [idle if e.hardware is None else [*map(float, e.hardware.values)] for e in every]
        return np.array(values), np.array([each.excess for each in every])

    def _scored(self, point: Configuration) -> tuple[HardwarePoint | None, tuple[Fraction, ...]]:
        """An accelerator with its layers, None where they do not run, and what it uses of the
        limits."""
        question, space = self.question, self.question.space
        if not space.allows(point):
            return None, ()
        figures, layers = space.at(point), list[Solution]()
        bare = HardwarePoint(point, space.cost(point), (), ())
        own = self._shares(bare, whole=False)
        if any(share > 1 for share in own):
            return None, own
        objective = self.lead.of_layer(bare.known)
        for work in question.works:
            run = self.bank.run(work, figures, objective)
            answer = self.bank.best(run, self._options)
            if answer.solution is None or answer.solution.value is None:
                return None, ()
            if run.ask not in self._asks:
                self._asks.add(run.ask)
                self._proofs += answer.solution.certificate.seconds
            layers.append(answer.solution)
        bare = replace(bare, layers=tuple(layers))
        values = tuple(bare.total(amount) for amount in question.minimised)
        return replace(bare, values=values), self._shares(bare, whole=True)

    def _shares(self, known: HardwarePoint, *, whole: bool) -> tuple[Fraction, ...]:
        """The used share of each limit, or of the hardware's limits alone."""
        limited = (a for a in self.question.limited if whole or not a.shares)
        pairs = ((known.total(a), a.bound) for a in limited if a.bound is not None)
        return tuple(
            used / bound if bound > 0 else Fraction(2 if used > bound else 1)
            for used, bound in pairs
        )


@dataclass(frozen=True)
class HardwareTrace:
    """One run of a search method: the accelerators in the order that it looked at them."""

    method: str
    """Its name."""
    seed: int
    """The seed of its random numbers."""
    evaluations: tuple[HardwareEvaluation, ...]
    """The accelerators that it looked at."""
    trail: tuple[str, ...] = ()
    """The reasons of explained search, line by line."""

    def front(self, trials: int | None = None) -> list[tuple[Fraction, ...]]:
        """Objectives of the feasible accelerators among the first trials, those that others
        dominate left out."""
        return nondominated(
            e.hardware.values
            for e in self.evaluations[:trials]
            if e.hardware is not None and e.feasible
        )

    def best(self, trials: int | None = None) -> HardwareEvaluation | None:
        """The feasible accelerator of the least first objective among the first trials."""
        known = [(e.value, e) for e in self.evaluations[:trials] if e.value is not None]
        return min(known, key=lambda entry: entry[0])[1] if known else None
