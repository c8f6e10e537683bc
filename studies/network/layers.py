"""Modes ``per-layer`` and ``shared-dataflow``: every layer solved under every design, with a tiling
of its own.

A shared dataflow is what a generator loses that derives one array design per network and sizes it
for each layer. Layers of different kernels have different loops and so no common dataflow: the
layers of each kernel share one (a CNN's convolutions one, its fully connected layers another).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.formulations.families import choice_of
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import LayerProblems, Question
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.portfolio import not_solved
from ithaca.solver.rivals import within_gap
from ithaca.solver.shortfall import TOGETHER, Shortfall
from ithaca.solver.solution import Solution
from ithaca.studies.best import over_all
from ithaca.studies.network.products import check_products, with_products
from ithaca.studies.network.result import (
    PER_LAYER,
    Failure,
    LayerResult,
    NetworkResult,
    SharedDesign,
    Total,
)
from ithaca.studies.network.runner import Job, RunOptions, run_problems
from ithaca.studies.network.totals import adds_up, best_total, require_one, total
from ithaca.workloads.networks.network import Layer, Network

SHARED_DATAFLOW = "shared-dataflow"


@dataclass(frozen=True)
class SolvedLayer:
    """One layer under every design: a problem per design, and what came of each."""

    layer: Layer
    problems: tuple[Problem, ...]
    outcomes: tuple[Solution | Failure, ...]

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The outcomes that are solutions."""
        return within_gap([each for each in self.outcomes if isinstance(each, Solution)])

    @property
    def answers(self) -> dict[str, Solution]:
        """The solution of every design as far as it is known, by its name."""
        pairs = zip(self.problems, self.outcomes, strict=True)
        return {p.design.name: o if isinstance(o, Solution) else not_solved(p) for p, o in pairs}

    def best(self) -> Solution:
        """The best of all designs; where one failed, no lower bound is known."""
        return over_all(
            self.problems[0], self.solutions, missing=len(self.outcomes) - len(self.solutions)
        )


@dataclass(frozen=True)
class SolvedLayers:
    """Every layer of a network, in order; complete if all problems were solved as far as they were
    asked for."""

    layers: tuple[SolvedLayer, ...]
    complete: bool

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The problems that failed."""
        return tuple(
            outcome
            for part in self.layers
            for outcome in part.outcomes
            if isinstance(outcome, Failure)
        )


def solve_layers(
    parts: Sequence[LayerProblems], options: RunOptions, *, alone: bool
) -> SolvedLayers:
    """Solve the problems of layers.

    Parameters
    ----------
    parts : Sequence of LayerProblems
        Each layer with a problem per design.
    options : RunOptions
        How to run it.
    alone : bool
        Whether each layer is a question of its own: its best design comes before the others'.

    Returns
    -------
    SolvedLayers
        What came of every problem.

    Raises
    ------
    InputError
        If the engine refuses every problem.
    """
    jobs = [
        Job(
            f"{part.layer.name} {problem.design.name}",
            problem,
            number if alone else None,
            part.layer.count,
        )
        for number, part in enumerate(parts)
        for problem in part.problems
    ]
    results = run_problems(jobs, options)
    if isinstance(results[0], Failure) and all(
        isinstance(f, Failure) and f.refused for f in results
    ):
        raise InputError(results[0].reason)
    outcomes = iter(results)
    layers = tuple(
        SolvedLayer(part.layer, part.problems, tuple(next(outcomes) for _ in part.problems))
        for part in parts
    )
    ended = all(isinstance(f, Failure) or f.settled or f.certificate.beaten for f in results)
    early = options.search.stopped or any(
        not isinstance(f, Failure) and f.certificate.termination is Termination.TIME_LIMIT
        for f in results
    )
    return SolvedLayers(layers, ended or not early)


@with_products
def solve_per_layer(network: Network, request: Question, options: RunOptions) -> NetworkResult:
    """Find each layer's best design.

    The total is Σ count · objective, its lower bound Σ count · lower bound; of a product of sums
    see `ithaca.studies.network.products`. It is None for an objective that is neither.

    Parameters
    ----------
    network : Network
        The network.
    request : Question
        What is asked of every layer.
    options : RunOptions
        How to run it.

    Returns
    -------
    NetworkResult
        The result.

    Raises
    ------
    InputError
        If the request does not fit the network, or the engine refuses every problem.
    """
    problems = request.pose(network)
    check_products(request.objective)
    solved = solve_layers(problems, options, alone=True)
    layers = tuple(LayerResult(part.layer, part.best(), part.solutions) for part in solved.layers)
    method, summed = options.method, None
    if adds_up(request.objective):
        summed = total(((r.layer.count, r.answer) for r in layers), method)
    return NetworkResult(
        PER_LAYER,
        network,
        request,
        method,
        layers,
        summed,
        solved.complete,
        failures=solved.failures,
    )


def solve_shared_dataflow(
    network: Network, request: Question, options: RunOptions
) -> NetworkResult:
    """Find the dataflow and permutation that serve all layers of a kernel best.

    A choice is proven where its total is at most the lower bound of every other design's.

    Parameters
    ----------
    network : Network
        The network.
    request : Question
        What is asked of every layer.
    options : RunOptions
        How to run it.

    Returns
    -------
    NetworkResult
        The result; its ``choices`` compare all designs that all layers of a kernel have.

    Raises
    ------
    InputError
        If the objective does not add up, or the layers of a kernel have no design in common.
    """
    require_one(request.objective, f"--mode {SHARED_DATAFLOW}")
    solved = solve_layers(request.pose(network), options, alone=False)
    method = options.method
    choices: list[SharedDesign] = []
    bests: list[Total] = []
    results: dict[Layer, LayerResult] = {}
    for members, designs in shared_designs(solved.layers, method):
        best = best_total([d.total for d in designs])
        chosen = designs[0].name if designs[0].chosen else None
        none = best.certificate.status is Status.INFEASIBLE
        together = _together(members, [d.name for d in designs]) if none else ()
        for member in members:
            answer = (
                _without(member.best(), best.certificate.status, together)
                if chosen is None
                else member.answers[chosen]
            )
            results[member.layer] = LayerResult(member.layer, answer, member.solutions)
        choices += designs
        bests.append(best)
    return NetworkResult(
        SHARED_DATAFLOW,
        network,
        request,
        method,
        tuple(results[layer] for layer in network.layers),
        total(((1, best) for best in bests), method),
        solved.complete,
        choices=tuple(choices),
        failures=solved.failures,
    )


def _without(alone: Solution, status: Status, together: tuple[Shortfall, ...]) -> Solution:
    """The answer for a layer of a kernel without a design, given what is known of the layer
    alone, and of all together."""
    certificate = replace(
        alone.certificate, status=status, lower_bound=None, gap=None, trace=(), termination=None
    )
    return Solution(alone.problem, None, None, certificate, (*alone.shortfalls, *together))


def _together(members: Sequence[SolvedLayer], designs: Sequence[str]) -> tuple[Shortfall, ...]:
    """The limits that keep every design from some layer, and what each would have to be: of a
    design the most that one of those layers needs. A limit of which all need no more than one does
    alone is left out."""
    falls = []
    for design in designs:
        answers = [member.answers[design] for member in members]
        needs = [
            {fall.metric: fall for fall in answer.shortfalls if fall.others_kept}
            for answer in answers
            if answer.certificate.status is Status.INFEASIBLE
        ]
        for metric in (needs or [{}])[0]:
            each = [own[metric] for own in needs if metric in own]
            known = [fall.smallest for fall in each if fall.smallest is not None]
            if len(each) < len(needs):
                continue  # to raise it alone does not help all of them
            least = max(known) if len(known) == len(each) else None
            proven = all(fall.proven for fall in each)
            falls.append(replace(each[0], smallest=least, proven=proven, design=TOGETHER))
    alone = most_alone(member.best() for member in members)
    falls.sort(key=lambda fall: fall.smallest or 0)
    first = {(fall.metric, fall.smallest is None): fall for fall in reversed(falls)}
    return tuple(
        fall
        for fall in first.values()  # the least that would do, and whether more of it is open
        if fall.metric not in alone
        or any(
            other.smallest is None or not other.proven or other.smallest > alone[fall.metric]
            for other in falls
            if other.metric == fall.metric
        )
    )


def most_alone(answers: Iterable[Solution]) -> dict[str, Fraction]:
    """The most that one of several layers, each alone, needs of a limit that no design of it meets,
    with the other limits as they are, by metric; only of what is proven."""
    most: dict[str, Fraction] = {}
    for answer in answers:
        least: dict[str, Fraction] = {}
        for fall in answer.shortfalls:
            if fall.proven and fall.others_kept and fall.smallest is not None:
                least[fall.metric] = min(fall.smallest, least.get(fall.metric, fall.smallest))
        most |= {metric: max(n, most.get(metric, n)) for metric, n in least.items()}
    return most


def shared_designs(
    layers: Sequence[SolvedLayer], method: str
) -> list[tuple[list[SolvedLayer], list[SharedDesign]]]:
    """The layers of each kernel, and all designs that they have in common, the best first.

    Raises `InputError` if the layers of a kernel have no design in common.
    """
    kernels: dict[tuple[str, ...], list[SolvedLayer]] = {}
    for part in layers:
        kernels.setdefault((part.layer.nest.name, *part.layer.nest.loops), []).append(part)
    return [(members, _compare(members, method)) for members in kernels.values()]


def _compare(members: Sequence[SolvedLayer], method: str) -> list[SharedDesign]:
    """All designs of a kernel, the best first."""
    layers, answers = [member.layer for member in members], [member.answers for member in members]
    kernel, names = layers[0].nest.name, tuple(layer.name for layer in layers)
    common = [design for design in answers[0] if all(design in own for own in answers)]
    if not common:
        raise InputError(
            f"layers {', '.join(names)} of kernel {kernel} have no design in common; see --layers"
        )
    shared = []
    for design in common:
        same = [own[design] for own in answers]
        choices = [choice_of(answer.problem.design) for answer in same]
        summed = total(
            ((layer.count, answer) for layer, answer in zip(layers, same, strict=True)), method
        )
        buildable = all(choice["buildable"] for choice in choices)
        shared.append(
            SharedDesign(
                kernel,
                tuple(choices[0]["dataflow"]),
                choices[0]["permutation"],
                buildable,
                names,
                summed,
                single=tuple(choices[0].get("single", ())),
            )
        )
    shared.sort(
        key=lambda d: (d.total.value is None, d.total.value or 0)
    )  # stable: the first of equals
    value = shared[0].total.value
    if value is not None:
        others = [d.total.certificate for d in shared[1:]]
        proven = all(
            c.status is Status.INFEASIBLE or (c.lower_bound is not None and value <= c.lower_bound)
            for c in others
        )
        shared[0] = replace(shared[0], chosen=True, proven=proven)
    return shared
