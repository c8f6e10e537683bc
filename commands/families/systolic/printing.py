"""Prints systolic arrays for people."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from rich.console import Console
from rich.markup import escape

from ithaca.commands.display import console, print_parts
from ithaca.commands.tables import Table
from ithaca.files.numbers import counted, is_or_are, number, rounded
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.insight.cycles import PES, binding
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.packages import packages_text
from ithaca.formulations.target import Target
from ithaca.results.wording import gap_text, limited_metrics, microjoules, proof_text, unit_cells
from ithaca.solver.certificate import Certificate, Status, Termination, as_stated, relative_gap
from ithaca.solver.conclusion import conclude_least
from ithaca.solver.result import Result, Unrestricted
from ithaca.solver.solution import Solution
from ithaca.workloads.library import workload_document

#: What an answer's words mean.
WORDS = (
    "words      array part: a loop's iterations in a tile; latency hiding: what a PE "
    "interleaves; SIMD: what it does at once;",
    "           lanes: PEs along a loop; packs: words moved at a time; "
    "boxes: sets of candidates bounded at once",
)


#: How many times as long sums that come first make a run, for it to be said.
SLOWED = 1.5


def print_result(result: Result) -> None:
    """Print the answer, its proof and what limits it; then the other designs."""
    out, design = console(), systolic(result.problem)
    out.print(
        f"{design.nest.name} ({design.nest.shown_sizes}) {design.data.name} "
        f"on {result.platform_name}, "
        f"{design.array.edition.value} model edition, minimising {result.objective.text}"
    )
    if "kernel" in workload_document(design.nest):  # not as the library has it
        inside = ", ".join(loop for loop in design.nest.loops if loop in design.nest.untiled)
        out.print(
            f"{inside or 'no loops'} run inside PEs, {design.nest.simd} over SIMD lanes "
            "(--untiled, --simd)"
        )
    if result.best is None:
        _print_nothing_found(out, result)
    else:
        _print_best(out, result, result.best)
    if len(result.designs) > 1:
        out.print(_design_table(result))
    if slowed := _slowed_by_sums(result.designs):
        out.print(
            "warning    PEs wait for their neighbours' sums, which they add first. "
            "If they added them last (--sums last):"
        )
        out.print(f"           {'; '.join(slowed)}")


def _slowed_by_sums(designs: Iterable[Solution]) -> list[str]:
    """What designs would gain if PEs added their neighbours' sums last, where that is much."""
    lines = []
    for solution in designs:
        if solution.configuration is not None:
            design = systolic(solution.problem)
            slowed = float(design.slowed_by_sums(solution.configuration))
            if slowed >= SLOWED:
                lines.append(f"design {design.name} would be {slowed:.1f} times as fast")
    return lines


def _print_best(out: Console, result: Result, best: Solution) -> None:
    array, tiling, certificate = systolic(best.problem).array, best.tiling, best.certificate
    assert tiling is not None
    unbuildable = f" ({array.reservation})" if array.reservation else ""
    out.print(
        f"\n[bold]best[/bold]       design {escape(array.name)}{escape(unbuildable)}", markup=True
    )
    out.print(f"objective  {number(best.value)}  ({proof_text(certificate) + as_stated(result)})")
    unproven = [
        s
        for s in result.designs
        if s.certificate.status in (Status.FEASIBLE, Status.UNKNOWN) and s is not best
    ]
    if unproven:
        bounds = [s.certificate.lower_bound for s in unproven]
        known = [b for b in bounds if b is not None]
        least = number(min(known)) if len(known) == len(bounds) else "unknown"
        several = f"{len(unproven)} other designs are not proven; their least"
        what = "1 other design is not proven; its" if len(unproven) == 1 else several
        beaten = len(known) == len(bounds) and best.value is not None and min(known) >= best.value
        out.print(f"           {what} lower bound is {least}{': none is better' if beaten else ''}")
    target = systolic(best.problem).options.target
    if target is not None:
        proof = conclude_least([(s.value, s.certificate) for s in result.designs])
        out.print(
            f"{f'for {target.title}':<10} "
            f"{target_text(target, best.value, proof, result.unrestricted)}"
        )
    for index, loop in enumerate(array.band):
        out.print(("           " if index else "tiling     ") + _loop_text(best, loop))
    out.print(
        "packs      "
        + ", ".join(f"{name} {words}" for name, words in tiling.module_packs(array).items())
        + " (words)"
    )
    for group in array.groups:
        if group.sparse is not None:
            held = packages_text(group.sparse, systolic(best.problem).data, tiling.pack[group.name])
            out.print(f"blocks     {group.sparse}: a pack is {held}")
    for title, counts in (("ports", tiling.ports), ("outer tile", tiling.array_part_l2)):
        if counts:
            out.print(
                f"{title:<10} " + ", ".join(f"{name} {count}" for name, count in counts.items())
            )
    if not array.dram.serialized:
        out.print("DRAM       as programs have it: every row of a tile opens a burst")
    out.print(
        f"latency    {number(best.metrics['latency'])} cycles = prologue "
        f"{number(best.metrics['prologue'])}"
        f" + main {number(best.metrics['main'])} + epilogue {number(best.metrics['epilogue'])}"
    )
    out.print(f"           {rounded(best.metrics['time'])} ms; {_throughput_text(best)}")
    words = " + ".join(f"{name} {number(n)}" for name, n in best.detail["words"].items())
    out.print(f"off-chip   {number(best.metrics['off_chip_words'])} words = {words}")
    moved = best.metrics["bandwidth"] * best.metrics["time"]  # GB/s times ms is MB
    out.print(f"           {rounded(moved)} MB at {rounded(best.metrics['bandwidth'])} GB/s")
    out.print(
        f"energy     {microjoules(best.metrics['energy'])} µJ, "
        f"{rounded(best.metrics['power'] / 1000)} W"
    )
    for limit in best.problem.limits:
        used = limit.used(best.metrics)
        share = f" ({float(used / limit.bound):.1%})" if limit.bound else ""
        unit = f" {METRICS[limit.metric].unit}" if limit.metric in METRICS else ""
        out.print(f"{f'{limit.metric:<10}'} {number(used)} of {number(limit.bound)}{unit}{share}")
    out.print(f"limited by {_bottleneck(best)}")
    assert best.configuration is not None
    print_parts(best.profile.breakdown(best.configuration, best.metrics))
    for line in WORDS:
        out.print(line)


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
    """What sets the main phase, and what would next."""
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
    if bound.second is not None:
        name = "the PEs" if bound.second.name == PES else bound.second.name
        text += f"; next: {name} with {number(bound.second.cycles)}"
    return text


def _print_nothing_found(out: Console, result: Result) -> None:
    infeasible = [s for s in result.designs if s.certificate.status is Status.INFEASIBLE]
    if len(infeasible) < len(result.designs):
        some = (
            f"; {len(infeasible)} of {len(result.designs)} designs "
            f"{is_or_are(len(infeasible))} infeasible"
        )
        bounds = [s.certificate.lower_bound for s in result.designs if s not in infeasible]
        least = None if None in bounds else min(bound for bound in bounds if bound is not None)
        out.print(
            f"\nnothing found in time; lower bound {number(least)}" + (some if infeasible else "")
        )
        return
    out.print("\ninfeasible: no configuration of any design meets the limits")


def _design_table(result: Result) -> Table:
    rows = []
    for solution in sorted(result.designs, key=lambda s: (s.value is None, s.value or 0)):
        array, certificate = systolic(solution.problem).array, solution.certificate
        rows.append(
            [
                ("dataflow", ",".join(array.dataflow)),
                (
                    "permutation",
                    array.permutation + ("" if array.buildable else " (not buildable)"),
                ),
                ("objective", number(solution.value)),
                ("lower bound", number(certificate.lower_bound)),
                (
                    "status",
                    (
                        Termination.BEATEN
                        if certificate.termination is Termination.BEATEN
                        else certificate.status
                    ).value,
                ),
                *unit_cells(solution.metrics, solution.problem.design.vocabulary),
                *(
                    (name, number(solution.metrics.get(name)))
                    for name in limited_metrics(result.limits)
                ),
                ("seconds", f"{certificate.seconds:.2f}"),
            ]
        )
    return Table(rows, left=("dataflow", "permutation", "status"), title="all designs")


def target_text(
    target: Target, value: Fraction | None, proof: Certificate, unrestricted: Unrestricted | None
) -> str:
    """How good an answer is among what a compiler builds, and what the restriction to that costs.

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
