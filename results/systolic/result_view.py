"""The view of a configuration of systolic arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from ithaca.files.numbers import counted, number, rounded
from ithaca.formulations.directions import bound_as_asked
from ithaca.formulations.systolic.buffering import ALL
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.insight.cycles import PES, binding
from ithaca.formulations.systolic.packages import packages_text
from ithaca.formulations.target import Target
from ithaca.results.result_view import (
    breakdown,
    design_table,
    limit_facts,
    objective_fact,
    others_fact,
    run_facts,
)
from ithaca.results.view import Block, Fact
from ithaca.results.wording import gap_text, microjoules
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.result import Result, Unrestricted
from ithaca.solver.solution import Solution
from ithaca.workloads.library import workload_document

#: What an answer's words mean.
WORDS = (
    Fact(
        "words",
        "array part: a loop's iterations in a tile; latency hiding: what a PE "
        "interleaves; SIMD: what it does at once;",
        detail=True,
    ),
    Fact(
        "",
        "lanes: PEs along a loop; packs: words moved at a time; "
        "boxes: sets of candidates bounded at once",
        detail=True,
    ),
)


#: How many times as long sums that come first make a run, for it to be said.
SLOWED = 1.5


def view(result: Result) -> Iterator[Block]:
    """The answer, its proof and what limits it; then the other designs."""
    design = systolic(result.problem)
    yield (
        f"{design.nest.name} ({design.nest.shown_sizes}) {design.data.name} "
        f"on {result.platform_name}, "
        f"{design.array.edition.value} model edition, {result.objective.goal}"
    )
    if "kernel" in workload_document(design.nest):  # not as the library has it
        inside = ", ".join(loop for loop in design.nest.loops if loop in design.nest.untiled)
        yield (
            f"{inside or 'no loops'} run inside PEs, {design.nest.simd} over SIMD lanes "
            "(--untiled, --simd)"
        )
    yield ""
    if result.best is None:
        from ithaca.results.nothing_view import nothing_found

        yield nothing_found(result)
    else:
        yield from _best(result, result.best)
    yield from others_fact(result)
    if len(result.designs) > 1:
        yield design_table(result, _design_cells)
    if slowed := _slowed_by_sums(result.designs):
        yield Fact(
            "warning",
            "PEs wait for their neighbours' sums, which they add first. "
            "If they added them last (--sums last):",
        )
        yield Fact("", "; ".join(slowed))


def _design_cells(solution: Solution) -> list[tuple[str, str]]:
    array = systolic(solution.problem).array
    buildable = "" if array.buildable else " (not buildable)"
    chosen = systolic(solution.problem).options.double_buffer != ALL
    single = [("single", ",".join(array.single) or "none")] if chosen else []
    return [
        ("dataflow", ",".join(array.dataflow)),
        ("permutation", f"{array.permutation}{buildable}"),
        *single,
    ]


def _slowed_by_sums(designs: Iterable[Solution]) -> list[str]:
    """Lines on the designs that would be much faster if PEs added their neighbours' sums last."""
    lines = []
    for solution in designs:
        if solution.configuration is not None:
            design = systolic(solution.problem)
            slowed = float(design.slowed_by_sums(solution.configuration))
            if slowed >= SLOWED:
                lines.append(f"design {design.name} would be {slowed:.1f} times as fast")
    return lines


def _best(result: Result, best: Solution) -> Iterator[Block]:
    array, tiling, metrics = systolic(best.problem).array, best.tiling, best.metrics
    assert tiling is not None
    unbuildable = f" ({array.reservation})" if array.reservation else ""
    yield Fact("best", f"design {array.name}{unbuildable}")
    yield objective_fact(result)
    yield from run_facts(result)
    unproven = [
        s
        for s in result.designs
        if s.certificate.status in (Status.FEASIBLE, Status.UNKNOWN) and s is not best
    ]
    if unproven:
        bounds = [s.certificate.lower_bound for s in unproven]
        known = [b for b in bounds if b is not None]
        words = result.objective.words
        name, edge = bound_as_asked(words, min(known) if len(known) == len(bounds) else None)
        least = "unknown" if edge is None else number(edge)
        several = f"{len(unproven)} other designs are not proven; their least"
        what = "1 other design is not proven; its" if len(unproven) == 1 else several
        beaten = len(known) == len(bounds) and best.value is not None and min(known) >= best.value
        yield Fact("", f"{what} {name} is {least}{': none is better' if beaten else ''}")
        own = best.certificate.lower_bound
        if len(known) == len(bounds) and own is not None and min(known) < own:
            gap, alone = relative_gap(best.value, min(known)), best.certificate.gap
            yield Fact("", f"over all the gap is {gap_text(gap)}, of this design {gap_text(alone)}")
    target = systolic(best.problem).options.target
    if target is not None:
        yield Fact(
            f"for {target.title}",
            target_text(target, best.value, result.certificate, result.unrestricted),
        )
    for index, loop in enumerate(array.band):
        yield Fact("" if index else "tiling", _loop_text(best, loop))
    packs = (f"{name} {words}" for name, words in tiling.module_packs(array).items())
    yield Fact("packs", f"{', '.join(packs)} (words)", detail=True)
    for group in array.groups:
        if group.sparse is not None:
            held = packages_text(group.sparse, systolic(best.problem).data, tiling.pack[group.name])
            yield Fact("blocks", f"{group.sparse}: a pack is {held}")
    for title, counts in (("ports", tiling.ports), ("outer tile", tiling.array_part_l2)):
        if counts:
            yield Fact(title, ", ".join(f"{name} {count}" for name, count in counts.items()))
    if not array.dram.serialized:
        yield Fact("DRAM", "as programs have it: every row of a tile opens a burst")
    yield Fact(
        "latency",
        f"{number(metrics['latency'])} cycles = prologue {number(metrics['prologue'])}"
        f" + main {number(metrics['main'])} + epilogue {number(metrics['epilogue'])}",
    )
    yield Fact("", f"{rounded(metrics['time'])} ms; {_throughput_text(best)}")
    words = " + ".join(f"{name} {number(n)}" for name, n in best.detail["words"].items())
    yield Fact("off-chip", f"{number(metrics['off_chip_words'])} words = {words}")
    moved = metrics["bandwidth"] * metrics["time"]  # GB/s times ms is MB
    yield Fact("", f"{rounded(moved)} MB at {rounded(metrics['bandwidth'])} GB/s")
    power = rounded(metrics["power"])
    yield Fact("energy", f"{microjoules(metrics['energy'])} µJ, {power} W")
    yield from limit_facts(best, lambda share: f"{float(share):.1%}")
    yield Fact("limited by", _bottleneck(best))
    yield from breakdown(best)
    yield from WORDS


def _loop_text(best: Solution, loop: str) -> str:
    array, tiling = systolic(best.problem).array, best.tiling
    assert tiling is not None
    inner = tiling.t2(array, loop)
    what = "SIMD" if loop == array.simd_loop else "latency hiding"
    lanes = tiling.array_part[loop] // inner
    extent = systolic(best.problem).nest.sizes[loop]
    tiles = -(-extent // tiling.array_part[loop])
    padded = (
        f", padded to {tiles * tiling.array_part[loop]}"
        if tiles * tiling.array_part[loop] != extent
        else ""
    )
    space = f", {counted(lanes, 'lane')}" if loop in array.dataflow else ""
    return (
        f"{loop}: array part {tiling.array_part[loop]}, {what} {inner} "
        f"({counted(tiles, 'tile')}{space}{padded})"
    )


def _throughput_text(best: Solution) -> str:
    text = (
        f"{float(best.metrics['throughput']):,.1f} Gop/s at "
        f"{number(systolic(best.problem).technology.clock_mhz)} MHz"
    )
    peak = best.metrics["comp"] * best.metrics["latency"]
    return f"{text}; {float(systolic(best.problem).nest.operations / peak):.1%} of the array's peak"


def _bottleneck(best: Solution) -> str:
    """The bottleneck of the main phase, and the next one."""
    assert best.configuration is not None
    bound = binding(systolic(best.problem).costs(best.configuration))
    first = (
        "computation: the PEs work"
        if bound.first.name == PES
        else f"transfers: {bound.first.name} works"
    )
    text = (
        f"{first} {number(bound.first.cycles)} of the "
        f"{number(bound.main)} cycles of the {bound.phase}"
    )
    if bound.with_swaps is not None:
        text += f" ({number(bound.with_swaps)} with buffers that swap)"
    if bound.second is not None:
        name = "the PEs" if bound.second.name == PES else bound.second.name
        text += f"; next: {name} with {number(bound.second.cycles)}"
    return text


def target_text(
    target: Target, value: Fraction | None, proof: Certificate, unrestricted: Unrestricted | None
) -> str:
    """The quality of an answer among what a compiler builds, and the cost of the restriction to
    that, in words.

    Parameters
    ----------
    target : Target
        The compiler.
    value : Fraction or None
        The objective of the answer.
    proof : Certificate
        What is proven of it.
    unrestricted : Unrestricted or None
        The answer without the restriction, where that is known.
    """
    proven = "proven optimal" if proof.status is Status.OPTIMAL else "the best found, not proven,"
    text = f"{proven} among what {target.title} builds"
    if unrestricted is None or value is None:
        return text
    other, bound = unrestricted.value, unrestricted.certificate.lower_bound
    gaps = (relative_gap(known, value) for known in (other, bound))
    least, most = (gap_text(None if gap is None else 0.0 - gap) for gap in gaps)
    if bound == value:
        return f"{text}; that costs nothing: without the restriction nothing is better"
    if bound == other:
        return f"{text}; that costs {least}: the unrestricted optimum is {number(other)}"
    between = f"between {number(bound)} and {number(other)}"
    return f"{text}; that costs {least} to {most}: the unrestricted optimum is {between}"
