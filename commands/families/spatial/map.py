"""``ithaca map``: the proven-best mapping onto a memory hierarchy, or those of many layers."""

from __future__ import annotations

from collections.abc import Callable

from ithaca.commands.conclusion import OutputOptions, conclude, conclude_result
from ithaca.commands.display import console, loop_nest
from ithaca.commands.families.spatial.layers import MappedLayers
from ithaca.commands.families.spatial.mapping import map as map_problem
from ithaca.commands.outcome import say
from ithaca.commands.tables import Table
from ithaca.commands.typed import calls
from ithaca.files.numbers import number
from ithaca.solver.result import Result


@calls(map_problem)
def map(ask: Callable[..., Result | MappedLayers], *, outputs: OutputOptions) -> None:
    """``ithaca map``."""
    answer = ask()
    if isinstance(answer, Result):
        conclude_result(answer, outputs)
        return

    def show() -> None:
        rows = [_cells(row, result) for row, result in enumerate(answer.results, 1)]
        console().print(Table(rows, left={"status"}))
        for row, best in enumerate((result.best for result in answer.results), 1):
            if outputs.loops and best is not None:
                say(loop_nest(best.problem.design, best.configuration, f"row {row}: "))

    conclude(answer, show, outputs)


def _cells(row: int, result: Result) -> list[tuple[str, str]]:
    """What a table says of a layer."""
    named = [
        ("row", str(row)),
        ("workload", str(result.profile.attributes["sizes"])),
    ]
    value, bound = (("-" if x is None else number(x)) for x in (result.value, result.lower_bound))
    return [*named, (result.objective.text, value), ("at least", bound), ("status", result.status)]
