"""Fusing: which layers keep what they write on chip for the next, proven best over the whole
network.

A layer that reads just what the one before wrote (`ithaca.workloads.networks.network.Run`) may find
that on chip: neither moves it to or from DRAM, and both have all of it beside their buffers. So
each run of a layer has up to four variants, with its input kept or not, and its output. All are
solved as any layer is; a dynamic program over the runs chooses, and the same program over lower
bounds proves: no choice of what to keep and no configurations are better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from operator import add
from typing import Any

from ithaca.files.errors import InputError
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import LayerProblems, Question
from ithaca.solver.certificate import Further, Status, among_all
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import Budget
from ithaca.solver.solution import Solution
from ithaca.studies.network.layers import SolvedLayer, solve_layers, solve_per_layer
from ithaca.studies.network.parts import PER_LAYER
from ithaca.studies.network.products import factors_of, with_products
from ithaca.studies.network.result import Edge, Fusing, LayerResult, NetworkResult, Total
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.network.totals import require_sum, total
from ithaca.workloads.nest import LoopNest, Sizes
from ithaca.workloads.networks.network import Layer, LayerRun, Network

#: A variant of a run: its nest, and the tensors that it finds or leaves on chip, with their words.
Variant = tuple[LoopNest, Sizes]

#: What came of every variant.
Solved = Mapping[Variant, SolvedLayer]

#: The objectives of a variant in order, or its lower bound, and what decides between equals; None
#: if it cannot be run.
Costs = Mapping[Variant, tuple[Fraction, ...] | None]


@dataclass(frozen=True)
class Chain:
    """Runs in order, and which of them may find their input on chip."""

    runs: tuple[LayerRun, ...]
    may_keep: tuple[bool, ...]
    """By run: whether its input may be kept."""

    def variant(self, number: int, *, kept_before: bool, left: bool) -> Variant:
        """A run that finds its input on chip, or leaves its output there.

        Parameters
        ----------
        number : int
            The place of the run in the chain.
        kept_before : bool
            Whether the run before leaves its output on chip.
        left : bool
            Whether this one does.

        Returns
        -------
        Variant
            Its nest, and the tensors that stay on chip with the words of each.
        """
        run, kept = self.runs[number], []
        if kept_before:
            kept.append((run.nest.inputs[0].tensor, self.runs[number - 1].written))
        if left:
            kept.append((run.nest.output.tensor, run.written))
        return run.nest, tuple(kept)

    @property
    def choices(self) -> list[tuple[int, bool, bool]]:
        """Number of a run, and whether input and output are kept: all that may be."""
        options = []
        for number, may in enumerate(self.may_keep):
            after = number + 1 < len(self.runs) and self.may_keep[number + 1]
            options += [
                (number, a, b) for a in (False, True)[: 1 + may] for b in (False, True)[: 1 + after]
            ]
        return options

    def chosen(self, kept: Sequence[bool]) -> list[Variant]:
        """The variant of every run, given whose inputs are kept."""
        pairs = enumerate(zip(kept, (*kept[1:], False), strict=True))
        return [
            self.variant(number, kept_before=kept_before, left=left)
            for number, (kept_before, left) in pairs
        ]

    def where(self, possible: Callable[[Variant], bool]) -> Chain:
        """The same where nothing is kept that has no place in its producer or consumer."""
        ends = [
            (
                self.variant(n, kept_before=True, left=False),
                self.variant(n - 1, kept_before=False, left=True),
            )
            for n in range(len(self.runs))
        ]
        return replace(
            self,
            may_keep=tuple(
                may and all(map(possible, e)) for may, e in zip(self.may_keep, ends, strict=True)
            ),
        )

    @property
    def order(self) -> tuple[LayerRun, ...]:
        """The runs as those of a network of these alone."""
        return tuple(
            replace(run, follows=may) for run, may in zip(self.runs, self.may_keep, strict=True)
        )

    def roomless(self, costs: Costs) -> set[str]:
        """The consumers of what cannot stay, as no variant of one of the two can be run with it."""
        able: set[tuple[int, str]] = set()
        for at, kept_before, left in self.choices:
            if costs[self.variant(at, kept_before=kept_before, left=left)] is not None:
                able |= {(at, end) for end, on in (("input", kept_before), ("output", left)) if on}
        tight = [
            n
            for n, may in enumerate(self.may_keep)
            if may and not {(n, "input"), (n - 1, "output")} <= able
        ]
        return {self.runs[n].source for n in tight}

    def edges(self, kept: Sequence[bool]) -> tuple[Edge, ...]:
        """The edges that may stay on chip, each with whether it does."""
        pairs = zip(self.runs, self.runs[1:], self.may_keep[1:], kept[1:], strict=False)
        return tuple(
            Edge(one.source, other.source, one.written, on) for one, other, may, on in pairs if may
        )

    def best(self, costs: Costs) -> tuple[tuple[Fraction, ...], tuple[bool, ...]] | None:
        """The least sums over the runs, compared one after the other, and by run whether its input
        is kept; None if they cannot be run."""
        # what is known of the runs so far, by whether the next finds its input on chip
        states: dict[bool, tuple[tuple[Fraction, ...], tuple[bool, ...]]] = {False: ((), ())}
        for at, choices in groupby(self.choices, key=lambda choice: choice[0]):
            reached: dict[bool, tuple[tuple[Fraction, ...], tuple[bool, ...]]] = {}
            for _, kept_before, left in choices:
                own = costs[self.variant(at, kept_before=kept_before, left=left)]
                if own is not None and kept_before in states:
                    before, kept = states[kept_before]
                    more = [self.runs[at].count * amount for amount in own]
                    sums = tuple(map(add, before or [Fraction(0)] * len(more), more))
                    state = sums, (*kept, kept_before)
                    reached[left] = min(reached.get(left, state), state)
            states = reached
        return states.get(False)


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
    chained(network)  # refuses networks without an order
    if factors_of(request.objective) is None:
        require_sum(request.objective, "--fuse")
        return _solve_fused(network, request, options)
    budget = Budget(options.search)
    apart = solve_per_layer(network, request, replace(options, search=budget.share(2)))
    fused = with_products(_solve_fused)(network, request, replace(options, search=budget.share()))
    assert fused.fusing is not None
    assert apart.total is not None
    return replace(fused, fusing=replace(fused.fusing, without=apart.total))


def _solve_fused(network: Network, request: Question, options: RunOptions) -> NetworkResult:
    chain = chained(network)
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
        for (nest, kept), place in places.items()
    ]
    every = solve_layers(variants, options, alone=True)
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
    chosen, bound, roomless = chain.best(values), chain.best(bounds), chain.roomless(bounds)
    kept = (False,) * len(chain.runs) if chosen is None else chosen[1]
    layers = _layers(chain, kept, solved, best)
    proofs = [solution.certificate for solution in best.values()]
    known = all(proof.lower_bound is not None or proof.empty for proof in proofs)
    certificate = conclude(
        None if chosen is None else chosen[0][0],
        bound[0][0] if known and bound is not None else None,
        complete=bound is None,
        method=options.method.value,
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
            bound_of = conclude(value, value if proven else None, method=options.method.value)
            then = Further(each.words, value, replace(bound_of, then=then))
        certificate = replace(certificate, then=then)
    alone = [(run.count, best[run.nest, ()]) for run in chain.runs]
    without = total(alone, options.method.value)
    return NetworkResult(
        PER_LAYER,
        replace(network, layers=tuple(layer.layer for layer in layers), order=chain.order),
        request,
        options.method.value,
        layers,
        Total(None if chosen is None else chosen[0][0], certificate),
        every.complete,
        failures=every.failures,
        fusing=Fusing(
            tuple(replace(e, fits=e.consumer not in roomless) for e in chain.edges(kept)), without
        ),
    )


def chained(network: Network) -> Chain:
    """The runs of a network's layers, in their order. Raises `InputError` if it is not known."""
    if not network.order:
        why = (
            f"{network.name} does not say which of its layers follow "
            f"each other: {network.unordered}"
        )
        raise InputError(f"--fuse: {why}; allowed: a network file with an order, or an ONNX model")
    nests = {source: layer.nest for layer in network.layers for source in layer.sources}
    pairs = zip((None, *network.order), network.order, strict=False)
    runs = [
        (run, run.follows and before is not None and before.source in nests)
        for before, run in pairs
        if run.source in nests
    ]
    return Chain(tuple(run for run, _ in runs), tuple(follows for _, follows in runs))


def variant_of(problem: Problem) -> Variant:
    """Which variant a problem is of."""
    design: Any = problem.design
    return design.nest, problem.design.kept


def _layers(
    chain: Chain, kept: Sequence[bool], solved: Solved, best: Mapping[Variant, Solution]
) -> tuple[LayerResult, ...]:
    """Runs of the same variant as one layer, in the order of the first of each."""
    members: dict[Variant, list[LayerRun]] = {}
    for run, variant in zip(chain.runs, chain.chosen(kept), strict=True):
        members.setdefault(variant, []).append(run)
    return tuple(
        LayerResult(
            Layer(
                runs[0].source,
                runs[0].nest,
                sum(run.count for run in runs),
                tuple(run.source for run in runs),
            ),
            best[variant],
            solved[variant].solutions,
        )
        for variant, runs in members.items()
    )
