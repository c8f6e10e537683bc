"""Print results for people."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from ithaca.commands.tables import Table
from ithaca.files.messages import printable
from ithaca.files.numbers import number, percent
from ithaca.formulations.design import Design
from ithaca.formulations.families import module_of, profile_of
from ithaca.formulations.family import Breakdown
from ithaca.results.wording import WHOLE, proof_text
from ithaca.solver.certificate import Status, as_stated
from ithaca.solver.result import Result

#: Width of tables printed to no terminal where COLUMNS states none.
WIDTH = 140


class _Output(Console):
    """Standard output; a closed pipe is an error for the caller to report, not a silent exit.

    Control characters of whatever is printed are escaped.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Standard output; where it is no terminal, lines of text stay whole, and tables fit the width
    that COLUMNS states."""
    plain = _Output(highlight=False, markup=False)
    if plain.is_terminal:
        return plain
    width = None if os.environ.get("COLUMNS", "").isdigit() else WIDTH
    return _Output(highlight=False, markup=False, width=width, color_system=None, soft_wrap=True)


def loop_nest(design: Design, configuration: Mapping[str, int] | None, what: str = "") -> str:
    """A configuration as a loop nest, under a heading that may say of what; a line if there is none
    to show.

    Parameters
    ----------
    design : Design
        The design.
    configuration : mapping of str to int, optional
        Its configuration; None: there is none.
    what : str, optional
        What the heading begins with.
    """
    lines = () if configuration is None else profile_of(design).loops(configuration)
    remark = "loops of one iteration are left out" if lines else "nothing to show"
    return "\n".join((f"\n{what}design {design.name} as a loop nest ({remark})", *lines))


def print_parts(parts: Breakdown | None) -> None:
    """Print what the parts of an accelerator take and do, where that is known."""
    if parts is not None:
        out = console()
        out.print(Table(parts.rows, parts.left))
        for line in parts.words:
            out.print(line)


def print_result(result: Result) -> None:
    """Print the answer and its proof, its loops, what it takes in parts, and what binds: as its
    family does, if that says how."""
    if (
        own := module_of("ithaca.commands.families", result.problem.design.family, "printing")
    ) is not None:
        own.print_result(result)
        return
    out, best, objective = console(), result.best, result.objective.text
    design = result.problem.design if best is None else best.problem.design
    profile = profile_of(design)
    out.print(f"{profile.title}, on {result.platform_name}, minimising {objective}")
    if best is None or best.configuration is None:
        known = result.designs[0].certificate
        unknown = (
            known.failure
            if known.empty
            else f"nothing found in time; lower bound {number(known.lower_bound)}"
        )
        out.print(
            "\ninfeasible: no mapping meets the limits"
            if known.status is Status.INFEASIBLE
            else f"\n{unknown}"
        )
        return
    out.print(
        f"\nobjective  {number(best.value)}  ({proof_text(best.certificate)}{as_stated(result)})"
    )
    figures = [
        f"{title} {show(best.metrics[name])} {unit}"
        for name, title, show, unit in WHOLE
        if name in best.metrics
    ]
    out.print(f"           {'; '.join(figures)}\n")
    for line in profile.loops(best.configuration):
        out.print(line)
    print_parts(profile.breakdown(best.configuration, best.metrics))
    for statement in profile.remarks(best.configuration, best.problem.limits).statements:
        term, _, text = statement.partition(": ")
        out.print(f"{term.lower():<11}{text}")
    for limit in best.problem.limits:
        used = limit.used(best.metrics)
        share = f" ({percent(used / limit.bound)})" if limit.bound else ""
        unit = (
            f" {design.vocabulary[limit.metric].unit}" if limit.metric in design.vocabulary else ""
        )
        out.print(f"{limit.metric:<10} {number(used)} of {number(limit.bound)}{unit}{share}")
