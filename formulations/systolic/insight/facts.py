"""Facts about one configuration that need no further search, in numbers, in JSON and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from ithaca.files.numbers import counted, is_or_are, json_ready, number, percent
from ithaca.formulations.family import Remarks
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.insight.cycles import (
    PES,
    ArrayBottleneck,
    Contender,
    CycleShares,
    LoopPadding,
    Padding,
    binding,
    cycles,
    padding,
)
from ithaca.formulations.systolic.insight.roofs import ComputeRoof, Roofs, TrafficRoof, roofs
from ithaca.formulations.systolic.metrics import by_part
from ithaca.formulations.systolic.packages import packages_text
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a configuration."""

    binding: ArrayBottleneck
    """The bottleneck that the main phase lasts for."""
    cycles: CycleShares
    """Where the cycles go."""
    padding: Padding
    """Iterations beyond the nest's."""
    roofs: Roofs
    """Latencies no tiling can be below."""
    parts: Mapping[str, Mapping[str, Fraction]]
    """Metrics split among the parts of the array."""


def facts(nest: LoopNest, costs: Costs, limits: Sequence[Limit]) -> Facts:
    """All facts about exact costs.

    Parameters
    ----------
    nest : LoopNest
        The nest, with extents.
    costs : Costs
        Exact costs of a configuration.
    limits : sequence of Limit
        Limits of its problem.
    """
    return Facts(
        binding(costs),
        cycles(nest, costs),
        padding(nest, costs),
        roofs(nest, costs, limits),
        by_part(costs),
    )


def remarks(nest: LoopNest, costs: Costs, limits: Sequence[Limit], reservation: str) -> Remarks:
    """The facts as documents and people are told them.

    Parameters
    ----------
    nest : LoopNest
        The nest, with extents.
    costs : Costs
        Exact costs of a configuration.
    limits : sequence of Limit
        Limits of its problem.
    reservation : str
        Why HLS cannot build the array as it is; empty if it can.
    """
    known = facts(nest, costs, limits)
    statements = (*_statements(known, reservation), *_blocks(costs))
    return Remarks(statements, _fields(known))


def _statements(known: Facts, reservation: str) -> Iterator[str]:
    if reservation:
        yield f"Design: {reservation}."
    yield from _binding(known.binding)
    yield from _cycles(known.cycles)
    yield from _padding(known.padding)
    yield from _roofs(known.roofs)
    yield from _parts(known.parts)


def _blocks(costs: Costs) -> Iterator[str]:
    for group in costs.point.array.groups:
        if group.sparse is not None:
            words = int(costs.point.value(group.pack))
            yield (
                f"Blocks: a PE multiplies {group.sparse.values} of {group.sparse.block} elements "
                f"of {group.tensor}; a pack is "
                f"{packages_text(group.sparse, costs.point.data, words)}."
            )


def _binding(binding: ArrayBottleneck) -> Iterator[str]:
    first = binding.first
    subject, verb = ("the PEs", "work") if first.name == PES else (first.name, "works")
    yield (
        f"Binding: {subject} {verb} {number(first.cycles)} of the "
        f"{number(binding.main)} cycles of the {binding.phase}, "
        f"{percent(binding.share)} of the latency of {number(binding.latency)} cycles."
    )
    if binding.waiting and binding.main != binding.latency:
        several = f"{number(binding.waiting)} cycles of the main phase are buffers that swap"
        swaps = (
            "cycle of the main phase is a buffer that swaps" if binding.waiting == 1 else several
        )
        yield f"Binding: the other {swaps}, one cycle a tile."
    if binding.with_swaps is not None:
        took = number(binding.with_swaps)
        yield f"Binding: with the cycles in which buffers swap, {took} in all."
    if binding.second is not None and binding.ratio is not None:
        yield (
            f"Next: {_who(binding.second)} with {number(binding.second.cycles)} cycles; "
            f"{_who(first)} takes "
            f"{'just' if binding.ratio == 1 else f'{number(binding.ratio)} times'} as long."
        )


def _who(contender: Contender) -> str:
    return "the work of the PEs" if contender.name == PES else contender.name


def _cycles(cycles: CycleShares) -> Iterator[str]:
    shares = cycles.shares
    parts = {
        "useful": "the nest's own operations on all MAC units",
        "padding": "operations on padding",
        "partial_sums": "loading and storing partial sums in the PEs",
        "waiting": "PEs that wait in the main phase, for transfers or for buffers to swap",
    }
    for name, meaning in parts.items():
        if getattr(cycles, name):
            yield (
                f"Cycles: {number(getattr(cycles, name))} ({percent(shares[name])}) are {meaning}."
            )
    yield (
        f"Cycles: {number(cycles.fill)} "
        f"({percent(cycles.fill / cycles.latency)}) fill and drain the pipeline: "
        f"prologue {number(cycles.prologue)}, epilogue {number(cycles.epilogue)}."
    )


def _padding(padding: Padding) -> Iterator[str]:
    if not padding.share:
        yield "Padding: none; all tiles are whole."
        return
    yield (
        f"Padding: {padding.padded_operations:,} multiply-accumulates are done "
        f"for the nest's {padding.operations:,}; "
        f"{percent(padding.share)} of them are padding."
    )
    for loop in padding.loops:
        if loop.padded != loop.extent:
            yield _loop(loop)


def _loop(loop: LoopPadding) -> str:
    text = f"Padding: loop {loop.loop} runs {loop.padded:,} iterations for {loop.extent:,}"
    if loop.idle_lanes:
        verb = "has" if loop.idle_lanes == 1 else "have"
        text += (
            f"; {loop.idle_lanes} of its {loop.lanes} lanes {verb} nothing to do in the last tile"
        )
    if loop.idle_simd:
        text += (
            f"; {counted(loop.idle_simd, 'SIMD lane')} "
            f"{is_or_are(loop.idle_simd)} idle in the last vector"
        )
    return text + "."


def _roofs(roofs: Roofs) -> Iterator[str]:
    traffic = roofs.traffic
    yield (
        f"Compute roof of this array: its {roofs.array.units:,} MAC units need at "
        f"least {number(roofs.array.cycles)} cycles; "
        f"{_distance(roofs, roofs.array)}."
    )
    if roofs.budget is not None:
        yield (
            "Compute roof of the budget: the limits allow "
            f"{roofs.budget.units:,} MAC units, which need at least "
            f"{number(roofs.budget.cycles)} cycles; {_distance(roofs, roofs.budget)}."
        )
    yield (
        f"Traffic roof: moving each tensor once, {traffic.tensor} with its "
        f"{traffic.least[traffic.tensor]:,} words "
        f"takes longest, at least {number(traffic.cycles)} cycles at "
        f"{traffic.port_words} words per cycle; "
        f"{_distance(roofs, traffic)}."
    )
    more = ", ".join(
        f"{name} {number(words / traffic.least[name])}" for name, words in traffic.moved.items()
    )
    yield (
        f"Traffic: {number(traffic.moved_words)} off-chip words are moved where "
        f"{traffic.least_words:,} are the least, "
        f"{_times_as_many(traffic.moved_words / traffic.least_words)} (by tensor: {more})."
    )
    yield (
        f"Arithmetic intensity: {number(roofs.intensity)} multiply-accumulates per off-chip word, "
        f"at most {number(roofs.most_intensity)} if each tensor were moved once."
    )


def _parts(parts: Mapping[str, Mapping[str, Fraction]]) -> Iterator[str]:
    for kind, title in (("bram18k", "Block RAM"), ("uram", "URAM")):
        blocks = parts.get(f"{kind}_by_module", {})
        if whole := sum(blocks.values()):
            split = ", ".join(
                f"{name} {number(value)} ({percent(value / whole)})"
                for name, value in blocks.items()
            )
            yield f"{title}: {number(whole)} blocks are {split}."
    works = parts["cycles_by_module"].items()
    yield f"At work: {', '.join(f'{name} {number(value)}' for name, value in works)} cycles."


def _times_as_many(ratio: Fraction) -> str:
    return "just as many" if ratio == 1 else f"{number(ratio)} times as many"


def _distance(roofs: Roofs, roof: ComputeRoof | TrafficRoof) -> str:
    distance = roofs.distance(roof)
    return (
        f"the latency is {number(distance)} times that"
        if distance >= 2
        else f"the latency is {percent(distance - 1)} above"
    )


def _fields(known: Facts) -> dict[str, Any]:
    first, roofs, traffic = known.binding, known.roofs, known.roofs.traffic

    def contender(other: Contender | None) -> dict[str, Any] | None:
        return None if other is None else {"name": other.name, "cycles": other.cycles}

    def compute(roof: ComputeRoof | None) -> dict[str, Any] | None:
        if roof is None:
            return None
        return {"mac_units": roof.units, "cycles": roof.cycles, "distance": roofs.distance(roof)}

    fields = {
        "binding": {
            "first": contender(first.first),
            "second": contender(first.second),
            "ratio": first.ratio,
            "main": first.main,
            "share_of_latency": first.share,
        },
        "cycles": {
            "latency": known.cycles.latency,
            **asdict(known.cycles),
            "shares": known.cycles.shares,
        },
        "padding": {
            "operations": known.padding.operations,
            "padded_operations": known.padding.padded_operations,
            "share": known.padding.share,
            "loops": [asdict(loop) for loop in known.padding.loops],
        },
        "roofs": {
            "array": compute(roofs.array),
            "budget": compute(roofs.budget),
            "traffic": {
                "array": traffic.tensor,
                "port_words": traffic.port_words,
                "cycles": traffic.cycles,
                "distance": roofs.distance(traffic),
                "least_words": traffic.least_words,
                "least_words_by_array": traffic.least,
                "moved_words": traffic.moved_words,
                "moved_words_by_array": traffic.moved,
            },
            "operations_per_word": roofs.intensity,
            "most_operations_per_word": roofs.most_intensity,
        },
        "parts": known.parts,
    }
    return {name: json_ready(value) for name, value in fields.items()}
