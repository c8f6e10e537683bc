"""Checks that the parts of a network's result agree: layers follow from designs, totals from
layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import among, quoted
from ithaca.files.numbers import number
from ithaca.formulations.algebra.rounding import ROUNDING
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Status
from ithaca.solver.runs import as_it_runs
from ithaca.studies.best import over_all
from ithaca.studies.network.chains import RunChain, Variant
from ithaca.studies.network.fused import chained, passed_tiles, variant_of
from ithaca.studies.network.layers import SolvedLayer, shared_designs
from ithaca.studies.network.modes import MODES
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.products import factors_of, taken_together
from ithaca.studies.network.result import ARRAY_MODES, PER_LAYER, Fusing, NetworkResult, Total
from ithaca.studies.network.totals import adds_up, best_total, total
from ithaca.workloads.networks.network import LayerRun


def check_once(what: str, names: Sequence[str]) -> None:
    """Refuse a name that several parts have, of which only one would be checked."""
    seen = set[str]()
    for name in names:
        if name in seen:
            raise InputError(f"{what} {quoted(name)} occurs twice; allowed: once")
        seen.add(name)


def check_consistent(result: NetworkResult) -> None:
    """Refuse a result of which a part does not follow from its other parts, naming that
    (`InputError`).

    Bounds of files are doubles, and so their sums.
    """
    if result.mode not in MODES:
        raise InputError(f"mode is {quoted(result.mode)}{among(result.mode, MODES)}")
    arrays = ARRAY_MODES.get(result.mode)
    if result.arrays and arrays is None:
        raise InputError(f"layers share no arrays in mode {quoted(result.mode)}: {EDITED}")
    objective = result.request.objective
    totalled = adds_up(objective) or factors_of(objective) is not None
    if totalled != (result.total is not None):
        raise InputError(f"total.value does not go with the objective '{objective.text}': {EDITED}")
    _check_parts(result)
    for index, failure in enumerate(result.failures):
        if not any(failure.place.startswith(f"{layer.layer.name} ") for layer in result.layers):
            raise InputError(
                f"failures[{index}].place is {quoted(failure.place)}; allowed: "
                "a layer and a design that failed"
            )
    for index, layer in enumerate(result.layers):
        if (
            layer.answer.configured
            and layer.designs
            and layer.answer.design not in [design.design for design in layer.designs]
        ):
            raise InputError(f"layers[{index}].best is of none of its designs: {EDITED}")
    if result.mode == PER_LAYER:
        _check_layers(result)
    elif arrays is None:
        _check_choices(result)
    else:
        result.made("consistent")
        if result.fusing is not None:
            _check_fusing(result, result.fusing)
    _check_finished(result)


def _check_parts(result: NetworkResult) -> None:
    """Refuse layers that are of none of the networks that one is said to join, or of two, or not as
    often as these run."""
    parts = result.network.parts
    check_once("network.parts", [part.name for part in parts])
    layers = [each.layer for each in result.layers]
    for index, layer in enumerate(layers):
        own = [part for part in parts if part.has(layer)]
        # of several arrays each may run a layer a few times
        runs = sum(each.count for each in layers if each.name == layer.name)
        if parts and (len(own) != 1 or runs % own[0].runs):
            raise InputError(
                f"layers[{index}] is not of one of network.parts, as often as that runs: {EDITED}"
            )
    if parts and result.network.run is not None:
        raise InputError(f"network.run is that of one network, and parts are several: {EDITED}")
    for part in parts:
        sizes = dict(part.parameters)
        run = part.run
        phase = {} if run is None else {"batch": run.batch, "tokens": run.tokens}
        if any(sizes.get(name, size) != size for name, size in phase.items()):
            raise InputError(
                f"network.parts: {quoted(part.name)} has a run of other sizes: {EDITED}"
            )
        if not any(part.has(each.layer) for each in result.layers):
            raise InputError(f"network.parts: {quoted(part.name)} has no layer: {EDITED}")


def _check_finished(result: NetworkResult) -> None:
    """Refuse a run that is said to have ended early, though it left nothing open."""
    if result.finished or result.failures:
        return
    solutions = [design for layer in result.layers for design in layer.designs]
    settled = all(design.settled or design.certificate.beaten for design in solutions)
    apart = result.mode not in ARRAY_MODES and factors_of(result.request.objective) is None
    if result.fusing is not None or not apart:
        settled = result.total is not None and result.total.certificate.settled
    if settled:
        raise InputError(f"finished: the run ended early, yet it left nothing open: {EDITED}")


def _check_layers(result: NetworkResult) -> None:
    for index, layer in enumerate(result.layers):
        # without any design, nothing is proven
        failed = sum(f.place.rpartition(" [")[0] == layer.layer.name for f in result.failures) + (
            not layer.designs
        )
        known = layer_result(result, layer).designs if layer.designs else ()
        least = over_all(layer.answer.problem, known, missing=failed)
        if layer.runs and result.fusing is None and adds_up(result.request.objective):
            value = None if (chosen := as_it_runs(known, layer.runs)) is None else chosen.value
            if value is not None and value != least.value:
                least = replace(least, value=value, certificate=least.certificate.of_other(value))
        own = Total(layer.answer.value, layer.answer.certificate)
        if (
            result.fusing is None or not result.failures
        ):  # failures of variants that were not chosen are among them
            check_follows(own, Total(least.value, least.certificate), f"layers[{index}]")
    if result.total is not None:
        factors, proof = factors_of(result.request.objective), result.total.certificate
        runs = [(layer.layer.count, layer.answer) for layer in result.layers]
        whole = taken_together(factors, runs, result.method)
        if result.fusing is not None:
            _check_fusing(result, result.fusing)
            bound, most = proof.lower_bound, whole.certificate.lower_bound
            if not (bound is None or most is None or bound <= most or alike(bound, most)):
                raise InputError(
                    f"total.certificate.lower_bound is above that of the layers: {EDITED}"
                )
        if result.fusing is not None or factors is not None:
            # it is over what was not chosen, or over other weights, too
            whole = replace(whole, certificate=proof)
        check_follows(result.total, whole, "total")


def _check_fusing(result: NetworkResult, fusing: Fusing) -> None:
    """Refuse edges on chip that are not those of the layers."""
    chain, kept = (
        chained(result.network, result.request),
        {(edge.producer, edge.consumer): edge.kept for edge in fusing.edges},
    )
    pairs = zip((None, *chain.runs), chain.runs, strict=False)
    kept_before = tuple(
        before is not None and kept.get((before.source, run.source), False) for before, run in pairs
    )
    at_once = {edge.consumer: edge.tile for edge in fusing.edges if edge.tile}
    tiles = {n: at_once[run.source] for n, run in enumerate(chain.runs) if run.source in at_once}
    if chain.edges(kept_before, tiles) != tuple(replace(e, fits=True) for e in fusing.edges):
        raise InputError(f"fusing.edges are not those of network.order: {EDITED}")
    problems = {
        source: layer.answer.problem for layer in result.layers for source in layer.layer.sources
    }
    tiled = {
        n: problems[run.source]
        for n, run in enumerate(chain.runs)
        if {n, n + 1} & tiles.keys() and run.source in problems
    }
    _check_tiles(result, chain, tiled, tiles)
    members: dict[tuple[Variant, str], list[LayerRun]] = {}
    for n, (run, chosen) in enumerate(zip(chain.runs, chain.chosen(kept_before), strict=True)):
        variant = variant_of(tiled[n]) if n in tiled else chosen
        apart = run.source if result.mode in ARRAY_MODES else ""
        members.setdefault((variant, apart), []).append(run)
    follows = {
        (runs[0].source, tuple(run.source for run in runs), variant): sum(run.count for run in runs)
        for (variant, _), runs in members.items()
    }
    stated: dict[tuple[str, tuple[str, ...], Variant], int] = {}
    for each in result.layers:  # of a layer that was cut apart there are several
        own = each.layer
        key = own.name, own.sources, variant_of(each.answer.problem)
        stated[key] = stated.get(key, 0) + own.count
    for (key, count), other in zip(stated.items(), follows.items(), strict=False):
        if (key, count) != other:
            raise InputError(
                f"layer {key[0]} does not follow from network.order and fusing.edges: {EDITED}"
            )
    if len(follows) != len(stated):
        raise InputError(f"network.order is of {len(follows)} layers: {EDITED}")


def _check_tiles(
    result: NetworkResult, chain: RunChain, tiled: Mapping[int, Problem], tiles: Mapping[int, int]
) -> None:
    """Refuse layers that do not share the loops that they pass tiles on in."""
    if not tiles:
        return
    problems_of = {part.layer.nest: part.problems for part in result.request.pose(result.network)}
    known = passed_tiles(chain, problems_of).searches
    stated = chain.tiles({n: problem.design.kept for n, problem in tiled.items()})
    begins = [n for n in tiled if n not in tiles]
    for first in begins:
        last = next(n for n in range(first, len(chain.runs)) if n + 1 not in tiles)
        designs = [tiled[n].design for n in range(first, last + 1) if n in tiled]
        if (first, last) not in known or not known[first, last].holds(designs) or stated != tiles:
            raise InputError(
                f"layer {chain.runs[first].source} does not share its loops with those that it "
                f"passes tiles on to: {EDITED}"
            )


def _check_choices(result: NetworkResult) -> None:
    if not result.failures:  # a file does not have the designs that failed
        solved = [
            SolvedLayer(r.layer, tuple(d.problem for d in r.designs), r.designs)
            for r in result.layers
        ]
        kernels = shared_designs(solved, result.method)
        compared = [choice for _, designs in kernels for choice in designs]
        if [c.name for c in compared] != [c.name for c in result.choices]:
            raise InputError(f"choices are not the designs of the layers, the best first: {EDITED}")
        for index, (choice, other) in enumerate(zip(result.choices, compared, strict=True)):
            check_follows(choice.total, other.total, f"choices[{index}]")
            if replace(choice, total=other.total) != other:
                raise InputError(
                    f"choices[{index}]: not all follows from the designs of the layers: {EDITED}"
                )
    for index, layer in enumerate(result.layers):
        chosen = [c.name for c in result.choices if c.chosen and layer.layer.name in c.layers]
        if layer.answer.value is not None and layer.answer.design not in chosen:
            raise InputError(f"layers[{index}].best is not of the design chosen: {EDITED}")
        for own in layer.designs:
            if layer.answer.value is not None and own.design == layer.answer.design:
                known = Total(own.value, own.certificate)
                check_follows(
                    Total(layer.answer.value, layer.answer.certificate), known, f"layers[{index}]"
                )
    kinds = dict.fromkeys((choice.kernel, choice.layers) for choice in result.choices)
    best = [
        best_total([c.total for c in result.choices if (c.kernel, c.layers) == kind])
        for kind in kinds
    ]
    check_follows(result.total, total(((1, each) for each in best), result.method), "total")
    assert result.total is not None  # objectives add up
    whole = total(
        ((layer.layer.count, layer.answer) for layer in result.layers), result.method
    ).value
    if not alike(result.total.value, whole):
        raise InputError(
            f"total.value is {number(result.total.value)}, yet the layers "
            f"take {number(whole)}: {EDITED}"
        )


def check_follows(claimed: Total | None, follows: Total, at: str) -> None:
    """Refuse a value or proof that is not what follows from the parts; a status says no more than
    value and bound.

    Parameters
    ----------
    claimed : Total
        The file's.
    follows : Total
        What its parts say.
    at : str
        Place in the file.
    """
    assert claimed is not None  # objectives add up
    (value, proof), (other, known) = ((each.value, each.certificate) for each in (claimed, follows))
    for name, one, two in (
        ("value", value, other),
        ("certificate.lower_bound", proof.lower_bound, known.lower_bound),
    ):
        if not alike(one, two):
            raise InputError(
                f"{at}.{name} is {number(one)}, yet {number(two)} follows from its parts: {EDITED}"
            )
    if (proof.then is None) != (known.then is None):
        raise InputError(f"{at}.certificate.then does not follow from its parts: {EDITED}")
    if proof.then is not None and known.then is not None:
        further = [Total(then.value, then.certificate) for then in (proof.then, known.then)]
        check_follows(further[0], further[1], f"{at}.certificate.then")
    if (proof.status is Status.INFEASIBLE) != (known.status is Status.INFEASIBLE):
        raise InputError(
            f"{at}.certificate.status is '{proof.status.value}', yet "
            f"'{known.status.value}' follows: {EDITED}"
        )


def alike(one: Fraction | None, other: Fraction | None) -> bool:
    """Whether numbers are the same but for the doubles that files hold: sums of many, of which some
    digits may cancel."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1024 * Fraction(ROUNDING) * max(abs(one), abs(other))
