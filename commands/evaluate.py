"""``ithaca evaluate``: all metrics of given configurations, computed afresh."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ithaca.commands.api.evaluating import evaluate as evaluate_points
from ithaca.commands.api.outputs import TableFile
from ithaca.commands.api.points import EvaluatedPoints
from ithaca.commands.conclusion import Printing, write_and_show
from ithaca.commands.display import show
from ithaca.commands.outcome import nothing_found, print_document, say
from ithaca.commands.typed import calls


@calls(evaluate_points)
def evaluate(
    ask: Callable[..., EvaluatedPoints], *, printed: Printing, table: TableFile = None
) -> None:
    """``ithaca evaluate``."""
    points = ask()

    def show_points() -> None:
        show(*points.view)
        if printed.loops and (lines := list(points.loops)):
            say("\n".join(lines))

    show_it = partial(print_document, points.document) if printed.as_json else show_points
    write_and_show(show_it, (table, points.save_table))
    if points.failure:
        nothing_found(points.failure)
