"""Fusing on several arrays: what layers keep on chip, chosen together with arrays and cuts.

A tensor that stays takes block RAM of the array that writes it, and of the one that reads it, while
these layers run. Where that is one array it has the tensor once; two work on different inputs at
the same time, and change places after each. So do those among which the runs of a layer are cut.

The search halves what may stay: each tensor stays, goes through DRAM, or is undecided. An undecided
one stays and takes no room, which no array does better than; so the best arrays of such a choice
bound all that it may become. Every choice is one search over arrays (`PipelineSearch`).
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.monotonicity import falling
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.plugins.codesign.studies.arrays.arrays import (
    MULTI_ARRAY,
    Arranged,
    answer,
    on_arrays,
    several,
    total_of,
)
from ithaca.plugins.codesign.workloads.folding import fold
from ithaca.solver.best_first import BestFirst
from ithaca.solver.options import Budget
from ithaca.studies.network.chains import RunChain
from ithaca.studies.network.fused import chained
from ithaca.studies.network.result import Fusing, NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.network.totals import require_one
from ithaca.workloads.networks.network import Layer, Network

#: By run: whether its input stays on chip; None: undecided.
Choice = tuple[bool | None, ...]


def solve_fused_multi_array(
    network: Network, request: ArrayQuestion, options: RunOptions
) -> NetworkResult:
    """Find the arrays that serve the layers best and what stays on chip between layers, and a lower
    bound over both.

    Runs of layers are in the order of the network, each a layer of its own.

    Raises `InputError` as `solve_multi_array` does, and if the network does not say which layers
    follow each other, or more traffic may be better.

    Parameters
    ----------
    network : Network
        The layers, and their order.
    request : ArrayQuestion
        Designs, limits, objective, and how many arrays there may be.
    options : RunOptions
        How far to search, and who is told.
    """
    require_one(request.objective, f"--mode {MULTI_ARRAY}")
    _check(request)
    chain, network = _in_order(network, request)
    budget, plain = Budget(options.search), on_arrays(network, request, MULTI_ARRAY)
    may = tuple(able and _has_room(chain, plain, n) for n, able in enumerate(chain.may_keep))
    none: Choice = (False,) * len(may)
    apart = several(plain, request, budget.share(2 if any(may) else 1), options)
    best, kept, closed, examined = apart, none, list[Any](), apart.examined
    waiting: BestFirst[Any, Choice] = BestFirst()
    waiting.push(-inf, tuple(None if each else False for each in may))
    while waiting and not budget.over:
        least, choice = waiting.pop()
        if not options.search.gap_is_met(best.value, least):
            outcome, undecided = apart, [n for n, state in enumerate(choice) if state is None]
            if choice != none:
                arranged, share = _keeping(chain, plain, choice), budget.share(1 + len(undecided))
                outcome = several(arranged, request, share, options, best.value)
                examined += outcome.examined
                if outcome.stages and not undecided:
                    best, kept = outcome, choice
            if outcome.infeasible:
                continue
            least = least if outcome.lower_bound is None else max(least, outcome.lower_bound)
            if undecided and not options.search.gap_is_met(best.value, least):
                # what would save most comes first, and that it stays
                place = max(undecided, key=lambda number: chain.runs[number - 1].written_words)
                for state in (True, False):
                    waiting.push(least, (*choice[:place], state, *choice[place + 1 :]))
                continue
        closed.append(least)
    left = [*closed, *([waiting.least] if waiting else []), best.value]
    bound = min((each for each in left if each is not None), default=None)
    outcome = replace(
        best,
        lower_bound=None if bound == -inf else bound,
        infeasible=bound is None,
        examined=examined,
        seconds=budget.spent,
    )
    arranged = _keeping(chain, plain, kept)
    result = answer(MULTI_ARRAY, network, request, arranged, outcome, Budget(budget.share()))
    room = {run.source: able for run, able in zip(chain.runs, may, strict=True)}
    edges = chain.edges([state is True for state in kept], {})
    fusing = Fusing(tuple(replace(e, fits=room[e.consumer]) for e in edges), total_of(apart))
    return replace(result, fusing=fusing)


def _in_order(network: Network, request: ArrayQuestion) -> tuple[RunChain, Network]:
    """The runs of a network in their order, folded into one kernel, and the network of which each
    is a layer."""
    chain = chained(network, request)
    layers = tuple(Layer(run.source, run.nest, run.count, (run.source,)) for run in chain.runs)
    network = fold(replace(network, layers=layers))
    runs = tuple(
        replace(run, nest=layer.nest, count=layer.count)
        for run, layer in zip(chain.runs, network.layers, strict=True)
    )
    chain = replace(chain, runs=runs)
    return chain, replace(network, order=chain.order)


def _keeping(chain: RunChain, plain: Arranged, choice: Choice) -> Arranged:
    """The layers on every design with what stays on chip; what is undecided takes no room."""
    stays = [state is not False for state in choice]
    sizes = [
        tuple((t, n * bool(choice[at + (t == nest.output.tensor)])) for t, n in kept)
        for at, (nest, kept, _) in enumerate(chain.chosen(stays))
    ]
    designs, sequence = plain
    keeping = [
        [(problem.keeping(own), n) for (problem, n), own in zip(layers, sizes, strict=True)]
        for layers in designs
    ]
    return keeping, sequence


def _has_room(chain: RunChain, plain: Arranged, number: int) -> bool:
    """Whether the input of a run fits on chip at all: what it takes is the same on every design."""
    choice = tuple(n == number for n in range(len(chain.runs)))
    (bare, _), (problem, _) = (
        designs[0][number] for designs, _ in (plain, _keeping(chain, plain, choice))
    )
    lows = {name: low for name, (low, _) in systolic(bare).space.ranges.items()}
    taken = systolic(problem).costs(lows).bram18k - systolic(bare).costs(lows).bram18k
    return all(taken <= limit.bound for limit in bare.limits if limit.metric == "bram18k")


def _check(request: ArrayQuestion) -> None:
    """Refuse objectives that more traffic may be good for: what is undecided would bound none."""
    technology = request.technology
    if technology.dram < technology.buffer or falling(request.objective.expression):
        raise InputError(
            f"--fuse does not go with --objective '{request.objective.text}' on several arrays; "
            "allowed: what grows with its metrics, where DRAM takes more energy than buffers"
        )
