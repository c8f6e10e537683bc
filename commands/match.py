"""``ithaca match``: every legal way to run a workload on an intrinsic."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.commands.api.matching import Matches
from ithaca.commands.api.matching import match as find_matches
from ithaca.commands.conclusion import Outputs, conclude
from ithaca.commands.display import console
from ithaca.commands.outcome import say
from ithaca.commands.tables import Table
from ithaca.commands.typed import calls
from ithaca.files.numbers import counted
from ithaca.formulations.matching import Match


@calls(find_matches)
def match(ask: Callable[..., Matches], *, outputs: Outputs) -> None:
    """``ithaca match``."""
    matches = ask()
    conclude(matches, lambda: show(matches), outputs)


def show(matches: Matches) -> None:
    """Print the choices, and what the published count has beyond them."""
    out, intrinsic, (leaves, taken) = console(), matches.intrinsic, matches.leaves
    sizes = ", ".join(f"{loop}={n}" for loop, n in intrinsic.extents)
    out.print(f"{matches.nest.name} ({matches.nest.shown_sizes}): {matches.nest}")
    out.print(f"on {intrinsic.name} ({sizes}): {intrinsic}")
    published = (
        f", {len(matches.choices) + len(matches.refused)} by the published count"
        if matches.refused
        else ""
    )
    sets = counted(matches.document["sets_of_leaves"], "set")
    leaves_told = (
        f"{taken} of {leaves} leaves: {sets}"
        if taken <= leaves
        else f"{leaves} leaves, of the intrinsic {taken}"
    )
    out.print(f"{leaves_told}; {counted(len(matches.choices), 'legal choice')}{published}")
    if matches.choices:
        out.print(
            Table(
                [_cells(n, each, matches) for n, each in enumerate(matches.choices, 1)],
                left={"stage", "operands"},
            )
        )
        say(
            "words      redundant: share of the calls' work that pads; runs: runs of "
            "consecutive words that a call touches"
        )
    for each in matches.refused:
        say(f"refused    {_loops(each)}: {each.broken}")


def _loops(match: Match) -> str:
    return ", ".join(f"{index}={loop}" for index, loop in match.binding.items())


def _cells(number: int, match: Match, matches: Matches) -> list[tuple[str, str]]:
    """What the table says of a choice."""
    run, sizes = matches.tiled(match), match.computation.sizes
    cells = [("", str(number))]
    if (
        len({each.computation for each in matches.choices}) > 1
        or match.computation.output != matches.nest.output
    ):
        cells.append(("stage", str(match.computation)))
    for index, _ in matches.intrinsic.extents:
        loop = match.binding.get(index)
        padded = (
            "" if loop is None or match.padded[loop] == sizes[loop] else f" → {match.padded[loop]}"
        )
        cells.append((index, "idle" if loop is None else f"{loop} {sizes[loop]}{padded}"))
    cells.append(
        ("operands", ", ".join(f"{theirs}={ours}" for theirs, ours in match.operands.items()))
    )
    if matches.tile:
        cells += [("sub-problems", f"{run.subproblems:,}"), ("calls each", f"{run.calls_each:,}")]
    return [
        *cells,
        ("calls", f"{run.calls:,}"),
        ("redundant", f"{float(100 * run.redundant):.2f} %"),
        ("runs", f"{match.runs:,}"),
    ]
