"""Small problems of every family, and their optima and fronts by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest

from ithaca.formulations.problem import Limit, Problem
from ithaca.plugins.recurrences.formulations.options import RecurrenceOptions
from ithaca.plugins.recurrences.formulations.question import RecurrenceQuestion
from ithaca.plugins.recurrences.workloads.recurrence import find_recurrence
from ithaca.solver.engines import Method
from tests.families.custom import custom_problem
from tests.families.enumerated import every_point
from tests.families.fir import fir_problem
from tests.families.mapped import front as mapped_front
from tests.families.mapped import mapped_problem
from tests.families.mapped import optimum as mapped_optimum
from tests.families.uneven import front as uneven_front
from tests.families.uneven import optimum as uneven_optimum
from tests.families.uneven import uneven_problem
from tests.problems import mm_problem
from tests.solver.enumeration import enumerated_optimum
from tests.studies.brute_front import brute_front

SEARCHES = (Method.NLP, Method.EVOLVE)


@dataclass(frozen=True)
class Sample:
    """A small problem per design of a family, and what enumeration says of them."""

    name: str
    problems: Sequence[Problem]
    optimum: Callable[[Problem], Fraction | None]
    front: Callable[[Sequence[Problem], Sequence[str]], set[tuple[float, ...]]]
    tight: Limit
    """A limit that changes the optimum."""
    impossible: Limit
    objectives: tuple[str, str] = ("latency", "dsp")
    """The objectives of fronts."""
    searches: tuple[Method, ...] = SEARCHES
    seeds: int = 6
    """Configurations to begin with, if there are as many."""

    def least(self) -> Fraction:
        """The least objective over all designs."""
        return min(
            value for problem in self.problems if (value := self.optimum(problem)) is not None
        )


def counted_optimum(problem: Problem) -> Fraction | None:
    return min((metrics["latency"] for _, metrics in feasible(problem)), default=None)


def feasible(problem: Problem) -> list[tuple[dict[str, int], dict[str, Fraction]]]:
    return [
        (v, m)
        for v, m in every_point(problem)
        if all(m[limit.metric] <= limit.bound for limit in problem.limits)
    ]


def counted_front(problems: Sequence[Problem], objectives: Sequence[str]) -> set[tuple[float, ...]]:
    found = {
        tuple(float(m[name]) for name in objectives)
        for problem in problems
        for _, m in feasible(problem)
    }
    return {
        v
        for v in found
        if not any(w != v and all(a <= b for a, b in zip(w, v, strict=True)) for w in found)
    }


SAMPLES = (
    Sample(
        "fir",
        [
            fir_problem(24, 40, transposed=transposed, dsp=9, noise=4)
            for transposed in (False, True)
        ],
        counted_optimum,
        counted_front,
        Limit("dsp", Fraction(5)),
        Limit("noise", Fraction(1, 2)),
    ),
    Sample(
        "custom",
        [custom_problem(dsp=9, noise=4)],
        counted_optimum,
        counted_front,
        Limit("dsp", Fraction(5)),
        Limit("noise", Fraction(1, 2)),
    ),
    Sample(
        "recurrence",
        RecurrenceQuestion.read(RecurrenceOptions()).problems(find_recurrence("lu", {"n": 4})),
        counted_optimum,
        counted_front,
        Limit("dsp", Fraction(20)),
        Limit("dsp", Fraction(1)),
        seeds=1,  # nothing is left to choose but the design
    ),
    Sample(
        "systolic",
        [
            mm_problem((5, 3, 6), dataflow, permutation, dsp="90")
            for dataflow, permutation in ((("i", "j"), "C"), (("k",), "A"))
        ],
        enumerated_optimum,
        brute_front,
        Limit("dsp", Fraction(20)),
        Limit("dsp", Fraction(1)),
    ),
    Sample(
        "spatial",
        [mapped_problem(energy=2500)],
        mapped_optimum,
        mapped_front,
        Limit("pes", Fraction(2)),
        Limit("energy", Fraction(100)),
        objectives=("latency", "pes"),
        searches=(Method.EVOLVE,),  # "has more than one trip" is not smooth
    ),
    Sample(
        "uneven",
        [uneven_problem(energy=2500)],
        uneven_optimum,
        uneven_front,
        Limit("pes", Fraction(2)),
        Limit("energy", Fraction(100)),
        objectives=("latency", "pes"),
        searches=(Method.EVOLVE,),  # nor are orders
    ),
)


each_family = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
