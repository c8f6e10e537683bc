"""Solve every layer of a network under every design: what several modes begin with, and what mode ``per-layer`` is."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.formulations.problem import Problem
from ithaca.results.solution import Solution
from ithaca.solver.portfolio import not_solved
from ithaca.studies.best import over_all
from ithaca.studies.network.problems import layer_problems
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import Failure, LayerResult, NetworkResult
from ithaca.studies.network.runner import Job, RunOptions, run_problems
from ithaca.studies.network.totals import adds_up, total
from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.network import Layer, Network

PER_LAYER = "per-layer"


@dataclass(frozen=True)
class SolvedLayer:
    """One layer under every design: a problem per design, and what came of each."""

    layer: Layer
    problems: tuple[Problem, ...]
    outcomes: tuple[Solution | Failure, ...]

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The outcomes that are solutions."""
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Solution))

    @property
    def answers(self) -> dict[str, Solution]:
        """What is known of every design, by its name."""
        pairs = zip(self.problems, self.outcomes, strict=True)
        return {p.design.name: o if isinstance(o, Solution) else not_solved(p) for p, o in pairs}

    def best(self) -> Solution:
        """The best of all designs; where one failed, no lower bound is known."""
        return over_all(self.problems[0], self.solutions, missing=len(self.outcomes) - len(self.solutions))


@dataclass(frozen=True)
class SolvedLayers:
    """Every layer of a network, in order; complete if all problems were solved as far as they were asked for."""

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
    jobs = [Job(f"{part.layer.name} {problem.design.name}", problem) for part in posed for problem in part.problems]
    found = run_problems(jobs, options)
    if isinstance(found[0], Failure) and all(isinstance(f, Failure) and f.refused for f in found):
        raise InputError(found[0].reason)
    outcomes = iter(found)
    layers = tuple(SolvedLayer(p.layer, p.problems, tuple(next(outcomes) for _ in p.problems)) for p in posed)
    stop = options.search.stop
    return SolvedLayers(layers, stop is None or not stop() or all(isinstance(f, Failure) or f.settled for f in found))


def solve_per_layer(network: Network, request: NetworkRequest, options: RunOptions) -> NetworkResult:
    """Find each layer's best design.

    The total is Σ count · objective, its lower bound Σ count · lower bound; None for an objective that does not add up.

    Raises
    ------
    InputError
        If the request does not fit the network, or the engine refuses every problem.
    """
    solved = solve_layers(network, request, options)
    layers = tuple(LayerResult(part.layer, part.best(), part.solutions) for part in solved.layers)
    method, summed = options.method.value, None
    if adds_up(request.objective):
        summed = total([(r.layer.count, r.answer.value, r.answer.certificate) for r in layers], method)
    return NetworkResult(PER_LAYER, network, request, method, layers, summed, solved.complete, failures=solved.failures)
