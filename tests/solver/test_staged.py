"""The staged engine on a toy stage: filters whose chain is the inner choice, words and bursts the
outer ones."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.stage import Block
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from ithaca.solver.staged.engine import solve_staged
from tests.families.enumerated import every_point
from tests.families.fir import Fir, fir_problem


@dataclass
class ChainFirst:
    """Rows are numbers of blocks; the bound of one is the least of its words' values, less
    ``slack``."""

    problem: Problem
    slack: float = 0.0
    size: int = 5
    """Rows of a block."""
    stop_after: int | None = None
    """Blocks after which memory is short."""
    completed: list[int] = field(default_factory=list)
    least: float = -inf
    dropped: Fraction | float = inf

    def points(self, blocks):
        problem = self.problem
        found = [
            (problem.feasible_value(point), point)
            for point, _ in every_point(problem)
            if point["blocks"] == blocks
        ]
        return [(value, Configuration(point)) for value, point in found if value is not None]

    def incumbents(self, cutoff, *, hurried=False):
        yield None
        yield Configuration(
            {"blocks": 1, "fold": 1, "word": 4, "burst": 1}
        )  # illegal: the reference refuses it

    def blocks(self, cutoff):
        bounds = {
            n: min((float(v) for v, _ in self.points(n)), default=np.inf) for n in range(1, 25)
        }
        rows = sorted((n for n in bounds if bounds[n] < np.inf), key=lambda n: -n)
        for number, begin in enumerate(range(0, len(rows), self.size)):
            chunk, later = rows[begin : begin + self.size], rows[begin + self.size :]
            if number == self.stop_after:
                raise MemoryError
            chunk = [n for n in chunk if bounds[n] - self.slack < least_double(cutoff())]
            rest = min((bounds[n] - self.slack for n in later), default=np.inf)
            yield Block(
                np.array(chunk, np.int64), np.array([bounds[n] - self.slack for n in chunk]), rest
            )

    def complete(self, rows, cutoff):
        for row in rows:
            self.completed.append(int(row))
            yield min(self.points(int(row)), key=lambda pair: pair[0])[1]


def optimum(problem):
    found = (problem.feasible_value(point) for point, _ in every_point(problem))
    return min(value for value in found if value is not None)


PROBLEM = fir_problem(24, 40, "latency*energy", dsp=9, noise=4)


@pytest.mark.parametrize("slack", [0.0, 5e5])
def test_a_stage_is_searched_to_a_proof(slack):
    stage = ChainFirst(PROBLEM, slack)
    solution = solve_staged(PROBLEM, stage=stage)
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.certificate.method == "staged"
    assert solution.value == optimum(PROBLEM) == solution.certificate.lower_bound
    assert len(stage.completed) == len(set(stage.completed))


def test_weak_bounds_cost_completions_not_truth():
    counts = []
    for slack in (0.0, 1e9):
        stage = ChainFirst(PROBLEM, slack, size=30)
        assert solve_staged(PROBLEM, stage=stage).settled
        counts.append(len(stage.completed))
    assert counts[0] <= 8 < counts[1] == 9  # the limit leaves nine numbers of blocks


def test_what_memory_does_not_hold_keeps_its_bound():
    solution = solve_staged(PROBLEM, stage=ChainFirst(PROBLEM, 1e9, size=2, stop_after=1))
    proof = solution.certificate
    assert proof.status is Status.FEASIBLE
    assert proof.termination is Termination.EXHAUSTED
    assert proof.lower_bound <= optimum(PROBLEM) <= solution.value
    assert proof.gap is not None


def test_infeasible_stages_are_proven_so():
    problem = fir_problem(24, 40, "latency", noise=0)
    assert solve_staged(problem, stage=ChainFirst(problem)).certificate.status is Status.INFEASIBLE


def test_a_stop_leaves_incumbent_and_bound():
    asked = iter(range(1000))
    solution = solve_staged(
        PROBLEM, SolveOptions(stop=lambda: next(asked) > 12), stage=ChainFirst(PROBLEM, 1e9, size=2)
    )
    assert solution.certificate.termination is Termination.INTERRUPTED
    assert solution.certificate.lower_bound <= optimum(PROBLEM) <= solution.value


def test_auto_takes_the_stage_that_a_design_offers(monkeypatch):
    def stage(design, problem):
        return ChainFirst(problem)

    monkeypatch.setattr(Fir, "stage", stage)
    for method in (Method.AUTO, Method.EXACT, Method.STAGED):
        solution = engine(method)(PROBLEM)
        assert solution.certificate.method == "staged"
        assert solution.value == optimum(PROBLEM) == solution.certificate.lower_bound


def test_designs_without_a_stage_say_so():
    with pytest.raises(InputError, match="no stages; allowed: auto"):
        engine(Method.STAGED)(PROBLEM)
