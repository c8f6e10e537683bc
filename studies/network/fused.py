"""Fusing: which layers keep what they write on chip for the next, proven best over the whole
network.

A layer that reads just what the one before wrote (`ithaca.workloads.networks.network.Run`) may find
that on chip: neither moves it to or from DRAM, and both have all of it beside their buffers. So
each run of a layer has up to four variants, with its input kept or not, and its output. All are
solved as any layer is. Where designs can pass tiles on, so may several runs, one after the other,
that share loops (`PASSED`). A dynamic program over the runs chooses, and the
same program over lower bounds proves: no choice of what to keep and no configurations are better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.question import LayerProblems, Question
from ithaca.solver.certificate import Further, Status, among_all
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import Budget
from ithaca.solver.solution import Solution
from ithaca.studies.network.chains import Costs, RunChain, Span, Variant
from ithaca.studies.network.layers import SolvedLayer, solve_layers, solve_per_layer
from ithaca.studies.network.products import factors_of, with_products
from ithaca.studies.network.result import PER_LAYER, Fusing, LayerResult, NetworkResult, Total
from ithaca.studies.network.runner import NetworkProgress, RunOptions
from ithaca.studies.network.totals import require_sum, total
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.network import Layer, LayerRun, Network

#: What came of every variant.
Solved = Mapping[Variant, SolvedLayer]


class PassedTiles:
    """The runs of a chain that may pass tiles on, where designs can: by default none."""

    def __init__(
        self, chain: RunChain, problems_of: Mapping[LoopNest, tuple[Problem, ...]]
    ) -> None:
        self._chain, self._problems_of = chain, problems_of

    def check(self, objective: Objective) -> None:
        """Refuse what the searches do not take."""

    @property
    def searches(self) -> Mapping[Span, Any]:
        """The searches of runs, the fewest runs first."""
        return {}

    def solve(
        self, values: Costs, budget: Budget, report: Callable[[NetworkProgress], Any] | None
    ) -> Mapping[Span, Any]:
        """Search all of them, within what time is left; what is better otherwise, or by tiles in
        parts of them, ends a search.

        Parameters
        ----------
        values : Mapping
            The objectives of every variant of the runs.
        budget : Budget
            The time.
        report : callable, optional
            Told what is searched.
        """
        return {}

    def loosened(self, bounds: Costs) -> Costs:
        """Lower bounds of variants, where what was left open may go on below them."""
        return bounds


#: What searches the runs that may pass tiles on, by the family of their designs.
PASSED: Registry[type[PassedTiles]] = Registry("passed tiles")


def passed_tiles(
    chain: RunChain, problems_of: Mapping[LoopNest, tuple[Problem, ...]]
) -> PassedTiles:
    """The runs of a chain that may pass tiles on."""
    family = next(iter(problems_of.values()))[0].design.family
    return PASSED.get(family, PassedTiles)(chain, problems_of)


def solve_fused(network: Network, request: Question, options: RunOptions) -> NetworkResult:
    """Find what to keep on chip between layers, and each layer's best design.

    The total is the least over all choices, its lower bound the least that any choice may reach.

    Parameters
    ----------
    network : Network
        The network, which says the order of its layers.
    request : Question
        What is asked of every layer.
    options : RunOptions
        How to run it.

    Returns
    -------
    NetworkResult
        The result, with what is kept.

    Raises
    ------
    InputError
        If the objective neither adds up over layers nor is a product of two that do, the network
        does not say which follow each other, or the request does not fit it.
    """
    chained(network, request)  # refuses networks without an order
    if factors_of(request.objective) is None:
        require_sum(request.objective, "--fuse")
        return _solve_fused(network, request, options)
    budget = Budget(options.search)
    apart = solve_per_layer(network, request, replace(options, search=budget.share(2)))
    fused = with_products(_solve_fused)(network, request, replace(options, search=budget.share()))
    assert fused.fusing is not None
    assert apart.total is not None
    fused = replace(fused, fusing=replace(fused.fusing, without=apart.total))
    return _or_apart(fused, apart)


def _or_apart(fused: NetworkResult, apart: NetworkResult) -> NetworkResult:
    """The better of both, layers alone as those of which none keeps anything."""
    assert fused.fusing is not None
    assert fused.total is not None
    if apart.value is None or (fused.value is not None and fused.value <= apart.value):
        return fused
    proof = conclude(apart.value, fused.total.certificate.lower_bound, method=fused.method)
    edges = tuple(replace(edge, kept=False, tile=0) for edge in fused.fusing.edges)
    return replace(
        fused,
        network=replace(apart.network, order=fused.network.order),
        layers=apart.layers,
        total=Total(apart.value, proof.within(fused.total.certificate.among, "")),
        fusing=replace(fused.fusing, edges=edges),
    )


def _solve_fused(network: Network, request: Question, options: RunOptions) -> NetworkResult:
    chain = chained(network, request)
    problems_of = {part.layer.nest: part.problems for part in request.pose(network)}
    chain = chain.where(
        lambda variant: all(
            p.design.keeping(variant[1]) is not None for p in problems_of[variant[0]]
        )
    )
    places: dict[Variant, str] = {}
    for number, kept_before, left in chain.choices:
        run = chain.runs[number]
        ends = [word for word, on in (("input", kept_before), ("output", left)) if on]
        places.setdefault(
            chain.variant(number, kept_before=kept_before, left=left), " ".join([run.source, *ends])
        )
    variants = [
        LayerProblems(
            Layer(place, nest, 1, (place,)),
            tuple(problem.keeping(kept) for problem in problems_of[nest]),
        )
        for (nest, kept, _), place in places.items()
    ]
    apart = passed_tiles(chain, problems_of)
    apart.check(request.objective)
    budget = Budget(options.search)
    search = budget.share(2) if apart.searches else options.search
    every = solve_layers(variants, replace(options, search=search), alone=True)
    solved: Solved = dict(zip(places, every.layers, strict=True))
    best = {variant: part.best() for variant, part in solved.items()}
    # of equals those are better that move less off chip
    values: Costs = {
        v: None
        if s.configuration is None
        else (*s.problem.values(s.configuration), -Fraction(sum(n for _, n in v[1])))
        for v, s in best.items()
    }
    bounds: Costs = {
        v: None if s.certificate.empty else (s.certificate.lower_bound or Fraction(0),)
        for v, s in best.items()
    }
    tiled = apart.solve(values, budget, options.report)
    chosen = chain.best(values, {span: t.values for span, t in tiled.items() if t.solutions})
    bounds = apart.loosened(bounds)
    bound = chain.best(bounds, {s: (t.bound,) for s, t in tiled.items() if t.bound is not None})
    # where tiles may be passed on there may be room for these
    several = {run.source for a, b in tiled for run in chain.runs[a + 1 : b + 1]}
    roomless = chain.roomless(bounds) - several
    kept = (False,) * len(chain.runs) if chosen is None else chosen[1]
    members = {
        first + n: solution
        for first, last in (() if chosen is None else chosen[2])
        for n, solution in enumerate(tiled[first, last].solutions)
    }
    layers = _layers(chain, kept, solved, best, members)
    tiles = chain.tiles({n: solution.problem.design.kept for n, solution in members.items()})
    proofs = [solution.certificate for solution in best.values()]
    proofs += [each.certificate for each in tiled.values() if not each.unknown]
    known = all(proof.lower_bound is not None or proof.empty for proof in proofs)
    certificate = conclude(
        None if chosen is None else chosen[0][0],
        bound[0][0] if known and bound is not None else None,
        complete=known and bound is None,
        method=options.method,
        nodes=sum(proof.nodes for proof in proofs),
        seconds=sum(proof.seconds for proof in proofs),
    ).within(among := among_all(proofs), among)
    if chosen is not None and certificate.status is Status.OPTIMAL:
        # of variants that are least in all objectives, in order, the best choice is so, too
        proven = all(
            then.certificate.settled for proof in proofs for then in proof.further
        ) and all(proof.then is not None or proof.empty for proof in proofs)
        then: Further | None = None
        for each, value in reversed([*zip(request.objective.order, chosen[0], strict=False)][1:]):
            bound_of = conclude(value, value if proven else None, method=options.method)
            then = Further(each.words, value, replace(bound_of, then=then))
        certificate = replace(certificate, then=then)
    alone = [(run.count, best[run.nest, (), None]) for run in chain.runs]
    without = total(alone, options.method)
    return NetworkResult(
        PER_LAYER,
        replace(network, layers=tuple(layer.layer for layer in layers), order=chain.order),
        request,
        options.method,
        layers,
        Total(None if chosen is None else chosen[0][0], certificate),
        every.complete or certificate.settled,
        failures=every.failures,
        fusing=Fusing(
            tuple(replace(e, fits=e.consumer not in roomless) for e in chain.edges(kept, tiles)),
            without,
        ),
    )


def chained(network: Network, request: Question) -> RunChain:
    """The runs of a network's layers, in their order, and which may keep what the one before
    writes.

    Raises `InputError` if the order is not known.
    """
    if not network.order:
        why = (
            f"{network.name} does not say which of its layers follow "
            f"each other: {network.unordered}"
        )
        raise InputError(
            f"--fuse: {why}; allowed: a network file with an order, or a model as a graph"
        )
    nests = {source: layer.nest for layer in network.layers for source in layer.sources}
    pairs = zip((None, *network.order), network.order, strict=False)
    runs = [
        (
            run,
            run.follows
            and before is not None
            and before.source in nests
            and request.passes(before.nest, run.nest),
        )
        for before, run in pairs
        if run.source in nests
    ]
    return RunChain(tuple(run for run, _ in runs), tuple(follows for _, follows in runs))


def variant_of(problem: Problem) -> Variant:
    """The variant of a problem: its nest, the tensors kept on chip, and the loops shared."""
    design: Any = problem.design
    return design.nest, problem.design.kept, problem.design.shared


def _layers(
    chain: RunChain,
    kept: Sequence[bool],
    solved: Solved,
    best: Mapping[Variant, Solution],
    tiled: Mapping[int, Solution],
) -> tuple[LayerResult, ...]:
    """Runs of the same variant as one layer, in the order of the first of each; those that pass
    tiles on as they are known by their numbers."""
    members: dict[Variant, list[LayerRun]] = {}
    answers = {variant_of(solution.problem): solution for solution in tiled.values()}
    for number, (run, variant) in enumerate(zip(chain.runs, chain.chosen(kept), strict=True)):
        own = variant_of(tiled[number].problem) if number in tiled else variant
        members.setdefault(own, []).append(run)
    return tuple(
        LayerResult(
            Layer(
                runs[0].source,
                runs[0].nest,
                sum(run.count for run in runs),
                tuple(run.source for run in runs),
            ),
            answers.get(variant) or best[variant],
            (answers[variant],) if variant in answers else solved[variant].solutions,
        )
        for variant, runs in members.items()
    )
