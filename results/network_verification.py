"""Check what a network's result claims: every design of every layer proven again, or what arrays
can do by another argument.

Reading a file has evaluated every configuration again, and seen that totals follow from layers and
layers from designs (`ithaca.results.consistency`). What is left are the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ithaca.files.answer import Check
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.files.numbers import counted, number
from ithaca.formulations.directions import as_asked
from ithaca.results.verification import same_shortfalls
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.verification import claimed, repeat, time_for, verify
from ithaca.studies.network.layers import SHARED_DATAFLOW
from ithaca.studies.network.modes import mode
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.result import ARRAY_MODES, Fusing, LayerResult, NetworkResult, Total
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.network.totals import adds_up
from ithaca.studies.runs import simulated_again
from ithaca.workloads.networks.network import Network

#: Layers of one nest that are all named.
MOST_NAMED = 6


def as_stated(words: str, what: str = "no figure depends on it") -> Check:
    """A check for words of a file that its answer does not depend on."""
    return Check("as stated", f"{words}: {what}, it is not checked", True)


def verify_network(result: NetworkResult, options: SolveOptions) -> Iterator[Check]:
    """Prove again what a network's result claims, layer by layer, then the total.

    Raises `InputError` if a claim is false, and no engine repeats it; it names the place in the
    file; `DisagreementError` if engines contradict each other.
    """
    one_search, confirmed, whole = result.mode in ARRAY_MODES, True, Budget(options)
    if not result.request.layers and not one_search:
        _check_designs(result)
    for index, layer in enumerate(result.layers):
        check = (
            _evaluated(layer)
            if one_search
            else _check_layer(
                result, layer, whole.share(len(result.layers) - index + 1), f"layers[{index}]"
            )
        )
        confirmed &= check.confirmed
        yield check
        for place, run in enumerate(layer.runs):
            if run.design == layer.answer.design:
                at = f"layers[{index}].runs[{place}]"
                yield Check(layer.layer.name, *simulated_again(layer.answer, run, at))
    if result.failures:  # of a design that failed, nothing is known that could be compared
        confirmed = False
        yield Check(
            "failures",
            f"{counted(len(result.failures), 'design')} failed: what it "
            "could have been is not checked",
            False,
        )
    if words := "; ".join(_words(result.network)):
        yield as_stated(words)
    if words := "; ".join(_runs(result.network)):
        yield as_stated(words, "only speeds of a phase and shares of parts rest on it")
    if not result.share.whole:
        yield as_stated(f"the total is of {result.share.statement}")
    if result.mode == SHARED_DATAFLOW and any(r.answer.shortfalls for r in result.layers):
        yield _limits_again(result, whole.share(2))
    total, budget = result.total, Budget(whole.share())  # of all further searches together
    words = "" if total is None else claimed_total(result, total)
    if total is None:
        yield Check("total", "none is claimed: the objective does not add up over layers", True)
    elif result.fusing is not None:
        yield from _search_again(result, total, result.fusing, budget)
    elif one_search:
        yield Check("total", *result.made("proof", total, whole.share()))
    elif not adds_up(result.request.objective):
        solve = partial(total_again, result, result.request, fused=False)
        left = 1 + (result.unrestricted is not None)
        yield Check("total", *repeat(total, solve, budget.share(left), "total", words=words))
    else:
        what = (
            "the sum over the layers"
            if confirmed
            else "the sum over the layers, not all of which are confirmed"
        )
        yield Check("total", f"{words}, {what}", confirmed)
    if result.unrestricted is not None and (free := result.request.unrestricted) is not None:
        again = partial(total_again, result, free, fused=result.fusing is not None)
        search = budget.share()
        line, proven = repeat(result.unrestricted, again, search, "unrestricted", evaluated=False)
        yield Check("unrestricted", line, proven)


def _limits_again(result: NetworkResult, search: SolveOptions) -> Check:
    """Search again for the limits that keep layers from a common design."""
    again, done = mode(result.mode)(result.network, result.request, RunOptions(search=search)), True
    for index, (layer, other) in enumerate(zip(result.layers, again.layers, strict=True)):
        with errors_at(f"layers[{index}]"):
            done &= same_shortfalls(layer.answer.shortfalls, other.answer.shortfalls)
    return Check("limits", "searched again" if done else "not searched again in time", done)


def claimed_total(result: NetworkResult, total: Total) -> str:
    """A total in words, and how much of the arithmetic it is about, where that is not all."""
    share = result.share
    part = "" if share.whole else f" ({share.amount} of the multiply-accumulates)"
    return f"{claimed(total, result.request.objective.text)}{part}"


def _words(network: Network) -> Iterator[str]:
    """Words of a file about where layers come from."""
    if network.parameters:
        yield ", ".join(f"{name}={value}" for name, value in network.parameters)
    left_out = [
        f"{o.operator} × {o.count} ({o.kind.value}"
        f"{'' if o.operations is None else f', {number(o.operations)} multiply-accumulates'})"
        for o in network.unsupported
    ]
    if left_out:
        yield f"left out {', '.join(left_out)}"
    for layer in network.layers:
        if layer.sources != (layer.name,) or layer.folded:
            was = f", folded from {layer.folded}" if layer.folded else ""
            names = list(layer.sources)
            if len(names) > MOST_NAMED:
                names = [*names[:2], f"… {names[-1]} ({len(names):,} layers)"]
            yield f"{layer.name} stands for {', '.join(names)}{was}"


def _runs(network: Network) -> Iterator[str]:
    """Words of a file about the networks that one joins, and about phases of models."""
    for part in network.parts:
        sizes = "".join(f", {name}={value}" for name, value in part.parameters)
        yield f"{counted(part.runs, 'run')} of {part.name}{sizes}"
    for run in (network.run, *(part.run for part in network.parts)):
        if run is not None:
            yield (
                f"{quoted(run.phase)} of {run.batch} × {counted(run.tokens, 'position')}: "
                f"{run.weights} words of weights, {run.read} read, {run.cache} kept of earlier "
                "positions"
            )


def _check_designs(result: NetworkResult) -> None:
    """Refuse layers whose designs are not all that were asked for, but for those that failed."""
    failed = {failure.place for failure in result.failures}
    if failed and result.fusing is not None:
        return  # they may be of variants that were not chosen
    for index, part in enumerate(result.request.pose(result.network)):
        stated = [design.design for design in result.layers[index].designs]
        names = [problem.design.name for problem in part.problems]
        if stated != [name for name in names if f"{part.layer.name} {name}" not in failed]:
            raise InputError(
                f"layers[{index}].designs are {', '.join(stated)}; allowed: "
                f"those of the question, {', '.join(names)}"
            )


def _evaluated(layer: LayerResult) -> Check:
    answer = layer.answer
    value = "no configuration"
    if answer.value is not None:
        own = as_asked(answer.problem.objective.text, answer.value)[1]
        value = f"value {number(own)} re-evaluated"
    on = "" if layer.array is None else f" on array {layer.array}"
    return Check(layer.layer.name, value + on, True)


def _check_layer(
    result: NetworkResult, layer: LayerResult, options: SolveOptions, at: str
) -> Check:
    """Prove every design of a layer again, those first on which its answer rests."""
    answer, budget = layer.answer, Budget(options)
    alone = {
        s.design: s for s in layer_result(result, layer).designs
    }  # with what the answer says of them
    designs = [(index, alone.get(d.design, d)) for index, d in enumerate(layer.designs)]
    designs.sort(key=lambda each: each[1].configuration is None)
    confirmed = 0
    for index, design in designs:
        if not budget.over:
            # files state of the answer alone which limits would help
            own = design.shortfalls and design.design == answer.design
            share, place = budget.share(), f"{at}.designs[{index}]"
            confirmed += verify(design, share, place, says_limits=bool(own))[1]
    of, lost = counted(len(designs), "design"), len(layer.lost)
    extent = (
        f"{of} confirmed{f', of {lost} that they are not better' if lost else ''}"
        if confirmed == len(designs)
        else f"{len(designs) - confirmed} of {of}: bound not checked"
    )
    line = (
        f"{answer.certificate.status.value}: {_evaluated(layer).line}; "
        f"{extent} in {budget.spent:.1f} s"
    )
    return Check(layer.layer.name, line, confirmed == len(designs))


def _search_again(
    result: NetworkResult, total: Total, fusing: Fusing, budget: Budget
) -> Iterator[Check]:
    """Repeat the search over what stays on chip, and that of the layers where nothing does."""
    alone: list[Total] = []

    def solve(search: SolveOptions) -> Total | None:
        again = _fused(result, result.request, search)
        assert again.fusing is not None
        alone.append(again.fusing.without)
        for index, (edge, other) in enumerate(zip(fusing.edges, again.fusing.edges, strict=True)):
            if other.fits and not edge.fits:
                raise InputError(
                    f"fusing.edges[{index}].fits is false, yet both "
                    f"layers have room for it: {EDITED}"
                )
        return again.total

    left = 2 + (result.unrestricted is not None)
    if total.certificate.lower_bound is None and not all(edge.fits for edge in fusing.edges):
        solve(time_for(total.certificate, budget.share(left + 1)))
    words = claimed_total(result, total)
    yield Check("total", *repeat(total, solve, budget.share(left), "total", words=words))

    def apart(search: SolveOptions) -> Total | None:
        if alone and alone[-1].certificate.status.proven:  # on the way
            return alone[-1]
        return total_again(result, result.request, search, fused=False)

    search = budget.share(left - 1)
    yield Check("unfused", *repeat(fusing.without, apart, search, "fusing", evaluated=False))


def total_again(
    result: NetworkResult, request: Any, search: SolveOptions, *, fused: bool
) -> Total | None:
    """The total of a network by one more search.

    Parameters
    ----------
    result : NetworkResult
        The network and its mode.
    request : Question
        The question asked of it.
    search : SolveOptions
        How far to search.
    fused : bool
        Whether tensors may stay on chip.
    """
    if fused:
        return _fused(result, request, search).total
    return mode(result.mode)(result.network, request, RunOptions(search=search)).total


def _fused(result: NetworkResult, request: Any, search: SolveOptions) -> NetworkResult:
    solve = mode(result.mode, fuse=True)
    return solve(result.network, request, RunOptions(search=search))
