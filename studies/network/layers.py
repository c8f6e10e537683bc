"""Solve every layer of a network under every design: what several modes begin with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Status
from ithaca.solver.portfolio import best_solution
from ithaca.solver.solution import Solution
from ithaca.studies.answer import Answer
from ithaca.studies.best import make_answer
from ithaca.studies.network.problems import layer_problems
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import Failure
from ithaca.studies.network.runner import Job, RunOptions, run_problems
from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.network import Layer, Network


@dataclass(frozen=True)
class SolvedLayer:
    """One layer under every design.

    Attributes
    ----------
    layer : Layer
        The layer.
    problems : tuple of Problem
        One per design.
    outcomes : tuple of Solution or Failure
        What came of each.
    """

    layer: Layer
    problems: tuple[Problem, ...]
    outcomes: tuple[Solution | Failure, ...]

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The outcomes that are solutions."""
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Solution))

    def best(self) -> Answer:
        """The best of all designs; where one failed, no lower bound is known."""
        solutions = self.solutions
        certificates = [solution.certificate for solution in solutions]
        infeasible = len(solutions) == len(self.outcomes) and all(c.status is Status.INFEASIBLE for c in certificates)
        bounds = [c.lower_bound for c in certificates if c.status is not Status.INFEASIBLE]
        bounds += [None] * (len(self.outcomes) - len(solutions))
        method = "+".join(dict.fromkeys(part for c in certificates for part in c.method.split("+"))) or "none"
        nodes, seconds = sum(c.nodes for c in certificates), sum(c.seconds for c in certificates)
        answer = make_answer(best_solution(solutions), bounds, infeasible, method, nodes, seconds)
        falls = tuple((s.problem.array.name, shortfall) for s in solutions for shortfall in s.shortfalls)
        return replace(answer, shortfalls=falls if infeasible else ())


@dataclass(frozen=True)
class SolvedLayers:
    """Every layer under every design.

    Attributes
    ----------
    layers : tuple of SolvedLayer
        In the order of the network.
    complete : bool
        Whether all problems were solved as far as they were asked for.
    """

    layers: tuple[SolvedLayer, ...]
    complete: bool

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The problems that failed."""
        return tuple(outcome for part in self.layers for outcome in part.outcomes if isinstance(outcome, Failure))


def solve_layers(network: Network, request: NetworkRequest, options: RunOptions) -> SolvedLayers:
    """Solve the problems of a network.

    Raises
    ------
    InputError
        If the request does not fit the network, or the engine refuses every problem.
    """
    posed = layer_problems(network, request)
    jobs = [Job(f"{part.layer.name} {problem.array.name}", problem) for part in posed for problem in part.problems]
    found = run_problems(jobs, options)
    if isinstance(found[0], Failure) and all(isinstance(f, Failure) and f.refused for f in found):
        raise InputError(found[0].reason)
    outcomes = iter(found)
    layers = tuple(SolvedLayer(p.layer, p.problems, tuple(next(outcomes) for _ in p.problems)) for p in posed)
    stop = options.search.stop
    return SolvedLayers(layers, stop is None or not stop() or not any(map(_open, found)))


def _open(outcome: Solution | Failure) -> bool:
    return isinstance(outcome, Solution) and outcome.certificate.status not in (Status.OPTIMAL, Status.INFEASIBLE)
