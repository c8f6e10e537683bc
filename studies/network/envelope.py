"""Answers of problems whose objectives are weighted sums of the same two amounts.

The least weighted sum of a problem is a concave function of the weights: between two pairs of
weights with proven bounds it is at least what lies between the bounds. Where a configuration known
from either pair reaches that, it is proven without a search.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.solver.conclusion import conclude
from ithaca.solver.solution import Solution, make_solution
from ithaca.studies.network.result import Failure

#: How much each of two amounts counts.
Weights = tuple[Fraction, Fraction]


@dataclass
class Envelope:
    """Solutions known for some weights, by the places of problems."""

    weights: Weights
    """The weights of the searches that are under way."""
    neighbours: tuple[Weights, Weights]
    """Weights on both sides of these."""
    answers: dict[Weights, dict[str, Solution]] = field(default_factory=dict)
    """By weights and place."""

    def keep(self, place: str, answer: Solution | Failure) -> Solution | Failure:
        """Keep what came of a search, with what other weights say of it."""
        if isinstance(answer, Failure):
            return answer
        known, proof = self.answer(place, answer.problem), answer.certificate
        if known is not None and known.settled:
            answer = known
        elif known is not None and not proof.settled:
            bounds = (proof.lower_bound, known.certificate.lower_bound)
            better = answer.value is None or (known.value or 0) < answer.value
            best = known if better else answer
            again = conclude(
                best.value,
                max((bound for bound in bounds if bound is not None), default=None),
                method=proof.method,
                nodes=proof.nodes,
                seconds=proof.seconds,
            )
            ended = again.termination or proof.termination
            answer = replace(best, certificate=replace(again, termination=ended))
        self.answers.setdefault(self.weights, {})[place] = answer
        return answer

    def answer(self, place: str, problem: Problem) -> Solution | None:
        """The answer for a problem that other weights imply, with its best configuration known;
        None if they imply nothing."""
        known = [answers[place] for answers in self.answers.values() if place in answers]
        empty = next((answer for answer in known if answer.certificate.empty), None)
        if empty is not None:
            return make_solution(problem, None, empty.certificate, empty.shortfalls)
        configurations = [
            answer.configuration for answer in known if answer.configuration is not None
        ]
        if not configurations:
            return None
        best = min(configurations, key=problem.value)
        value = problem.value(best)
        bound = self._between(place)
        # no less than what is known of the problem is proven
        return make_solution(problem, best, conclude(value, bound, method="envelope"))

    def _between(self, place: str) -> Fraction | None:
        """A lower bound, by those of the neighbours."""
        (a, b), (c, d) = self.neighbours
        across, (u, v) = a * d - b * c, self.weights
        total = Fraction(0)
        for weights, share in (
            (self.neighbours[0], (u * d - v * c) / across),
            (self.neighbours[1], (v * a - u * b) / across),
        ):
            answer = self.answers.get(weights, {}).get(place)
            if answer is None or answer.certificate.lower_bound is None:
                return None
            total += share * answer.certificate.lower_bound
        return total
