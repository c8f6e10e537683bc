"""The view of networks on systolic arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from ithaca.files.numbers import number, rounded
from ithaca.formulations.data_types import DataType
from ithaca.formulations.directions import as_asked, bound_as_asked
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.results.network_view import proven_fact, search_effort, shortened, total_fact
from ithaca.results.run_view import WordBytes, run_facts
from ithaca.results.systolic.result_view import target_text
from ithaca.results.view import Block, Fact, Table, tabled
from ithaca.results.wording import gap, limited_metrics, microjoules
from ithaca.solver.solution import Solution
from ithaca.studies.network.result import ARRAY_MODES, NetworkResult, SharedDesign
from ithaca.workloads.nest import footprints

#: What the words of a network's answer mean.
WORDS = "DSP eff.: multiply-accumulates over those the MAC units had cycles for; "


#: What searches count, and what that is, unless the mode counts something else.
BOXES = "boxes", "sets of candidates bounded at once"

#: How many of the designs compared are shown per kernel.
SHOWN_CHOICES = 5


def view(result: NetworkResult) -> Iterator[Block]:
    """The layers on systolic arrays, what they share, and the totals."""
    yield _layer_table(result)
    arrays = ARRAY_MODES.get(result.mode)
    if arrays is not None and not arrays.several:
        if len(result.choices) > 1:
            yield _design_table(result.choices, result.request.objective.text)
    else:
        yield from _share_lines(result)
    if result.arrays:
        yield _array_table(result)
    yield from _totals(result)


def _layer_table(result: NetworkResult) -> Table:
    """One line a layer; ``--table`` and ``--json`` have all figures."""
    resources = limited_metrics(result.request.limits)
    shared = bool(result.arrays)
    # of layers on shared arrays nothing is proven one by one
    unproven = not shared and not all(
        r.answer.settled and r.answer.configured is not None for r in result.layers
    )
    rows = []
    for layer in result.layers:
        answer, solution = layer.answer, layer.answer.configured
        metrics = {} if solution is None else solution.metrics
        row = [("layer", shortened(layer.layer.name)), ("runs", str(layer.layer.count))]
        row.append(("sizes", layer.layer.nest.short_sizes))
        row += (
            [("array", "–" if layer.array is None else str(layer.array))]
            if len(result.arrays) > 1
            else []
        )
        row.append(("design", "–" if solution is None else _design(solution)))
        name, own = as_asked(result.layer_objective.text, answer.value)
        row.append((name, number(own)))
        row += [
            ("ms", rounded(metrics.get("time"), 3)),
            ("GB/s", rounded(metrics.get("bandwidth"), 3)),
        ]
        row += [("gap", gap(answer.certificate))] if unproven else []
        row.append(
            ("DSP eff.", "–" if layer.efficiency is None else f"{float(layer.efficiency):.1%}")
        )
        rows.append([*row, *((name, number(metrics.get(name))) for name in resources)])
    return tabled(rows, ("layer", "sizes", "design"), plain=True)


def _design(solution: Solution) -> str:
    """Dataflow, and permutation where it is not the output's (of a design that can be built, it
    is)."""
    array = systolic(solution.problem).array
    return (
        f"[{','.join(array.dataflow)}]"
        if array.permutation == systolic(solution.problem).nest.output.tensor
        else solution.design
    )


def _share_lines(result: NetworkResult) -> list[str]:
    """Lines on the design chosen for the layers of each kernel, and on the next best designs."""
    lines, text = list[str](), result.request.objective.text
    for kernel in dict.fromkeys(choice.kernel for choice in result.choices):
        designs = [choice for choice in result.choices if choice.kernel == kernel]
        best, rest = designs[0], designs[1:SHOWN_CHOICES]
        if not best.chosen:
            lines.append(
                f"{kernel}: no design is known to be feasible for all of "
                f"its {len(best.layers)} layers"
            )
            continue
        proof = "no other design is better" if best.proven else "not proven to be the best"
        others = "; ".join(f"{d.name} {_choice_value(d, text)}" for d in rest)
        more = f" … {len(designs)} designs" if len(designs) > SHOWN_CHOICES else ""
        lines.append(f"{kernel}: design {best.name} with {_choice_value(best, text)} ({proof})")
        if others:
            lines.append(f"  next: {others}{more}")
    return lines


def _design_table(designs: Sequence[SharedDesign], text: str) -> Table:
    """The designs that one search compared."""
    bounds = (bound_as_asked(text, d.total.certificate.lower_bound) for d in designs)
    rows = [
        [("design", d.name), (side, number(bound))]
        for d, (side, bound) in zip(designs, bounds, strict=True)
    ]
    return tabled(rows, ("design",), "designs", plain=True)


def _choice_value(design: SharedDesign, text: str) -> str:
    return (
        number(as_asked(text, design.total.value)[1])
        if design.total.value is not None
        else design.total.certificate.status.value
    )


def _array_table(result: NetworkResult) -> Table:
    text, resources = result.request.objective.text, limited_metrics(result.request.limits)
    side = bound_as_asked(text, None)[0]
    rows = [
        [
            ("array", str(index)),
            ("design", f"[{','.join(array.dataflow)}] {array.permutation or ''}".strip()),
            ("shared", " ".join(f"{name}={value}" for name, value in array.parameters.items())),
            ("layers", " ".join(array.layers)),
            ("objective", number(as_asked(text, array.total.value)[1])),
            (side, number(as_asked(text, array.total.certificate.lower_bound)[1])),
            *((name, number(array.resources.get(name))) for name in resources),
        ]
        for index, array in enumerate(result.arrays)
    ]
    return tabled(rows, ("design", "shared", "layers"), "arrays")


def _totals(result: NetworkResult) -> Iterator[Fact]:
    text = result.request.objective.text
    yield total_fact(result)
    if result.total is not None:
        if (minimised := result.layer_objective.text) != text:
            yield Fact("", f"of all layers together; each is least in {minimised}")
        target = systolic(result.layers[0].answer.problem).options.target
        if target is not None and result.total.value is not None:
            total = result.total
            text = target_text(target, total.value, total.certificate, result.unrestricted)
            yield Fact(f"for {target.title}", text)
    latency = result.sum_of("latency")
    if latency is not None and result.mac_cycles:
        clock = result.request.technology.clock_mhz
        cycles = "" if text == "latency" else f"latency {number(latency)} cycles; "
        yield Fact(
            "",
            f"{cycles}{float(result.throughput or 0):,.1f} Gop/s at "
            f"{number(clock)} MHz, layer after layer; "
            f"DSP efficiency {float(result.efficiency or 0):.1%}",
        )
        yield Fact("", _units(result))
    request = result.request
    assert isinstance(request, ArrayQuestion)
    size = partial(_word_bytes, data=request.counted)
    yield from run_facts(result, size, request.platform.memory)
    arrays = ARRAY_MODES.get(result.mode)
    counted, meaning = arrays.counted if arrays else BOXES
    whole = search_effort(result)
    what = counted.removesuffix("s") if arrays and whole.nodes == 1 else counted
    effort = f"{whole.nodes:,} {what}, {whole.took}" if whole.measured else ""
    if not result.arrays:
        yield proven_fact(result, effort)
    elif effort:
        yield Fact("search", effort)
    words = f"{WORDS}{counted}: {meaning}" if effort else WORDS.rstrip("; ")
    yield Fact("words", words, detail=True)


def _units(result: NetworkResult) -> str:
    """Time, traffic and energy of all layers one after the other, and the share of the memory that
    the neediest takes."""
    runs = [
        (layer.layer.count, solution.metrics)
        for layer in result.layers
        if (solution := layer.answer.configured) is not None
    ]
    most = max(metrics["bandwidth"] for _, metrics in runs)
    moved = sum(n * metrics["bandwidth"] * metrics["time"] for n, metrics in runs)  # GB/s · ms
    request = result.request
    assert isinstance(request, ArrayQuestion)
    memory = request.platform.memory
    has = (
        ""
        if memory is None
        else f" of {rounded(memory.bandwidth.limit)} ({float(most / memory.bandwidth.limit):.1%})"
    )
    traffic = f"{rounded(moved)} MB off chip, a layer at most at {rounded(most)} GB/s{has}"
    return (
        f"{rounded(result.sum_of('time'))} ms; {traffic}; energy "
        f"{microjoules(result.sum_of('energy'))} µJ"
    )


def _word_bytes(result: NetworkResult, data: DataType) -> WordBytes:
    """Bytes of a word of weights, and of one of the activations that are multiplied with others,
    such as those that are kept of earlier positions: of layers, in the mean of their words; None
    where formats are stated, and none of the layers has such words."""
    if not any(layer.layer.nest.formats for layer in result.layers):
        return Fraction(data.bytes), Fraction(data.bytes)
    from ithaca.workloads.formats import ACTIVATIONS, WEIGHTS, kinds

    words, sizes = dict[str, int](), dict[str, Fraction]()
    for each in (result.layer for result in result.layers):
        typed, own, moved = data.of(each.nest), kinds(each.nest), footprints(each.nest)
        for tensor in (access.tensor for access in each.nest.inputs[1:]):
            kind, count = own[tensor], each.count * moved[tensor]
            words[kind] = words.get(kind, 0) + count
            held = count * typed.format_of(tensor).word_bytes
            sizes[kind] = sizes.get(kind, Fraction(0)) + held
    weights, kept = (
        sizes[kind] / words[kind] if kind in words else None for kind in (WEIGHTS, ACTIVATIONS)
    )
    return weights, kept
