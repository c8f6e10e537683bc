"""Print results for people."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.text import Text

from ithaca.commands.tables import Table
from ithaca.files.messages import printable
from ithaca.files.numbers import engineering, number, percent, rounded
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.design import Design
from ithaca.formulations.families import module_of, profile_of
from ithaca.formulations.family import Breakdown
from ithaca.formulations.problem import Limit
from ithaca.solver.certificate import Certificate, Status, as_stated
from ithaca.solver.result import Result

#: Longest name of a layer in the table (characters).
LONGEST_NAME = 18

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


def bound_cells(certificate: Certificate) -> list[tuple[str, str]]:
    """What is proven, as columns of a table."""
    return [("lower bound", number(certificate.lower_bound)), ("gap", gap_text(certificate.gap))]


def gap_text(gap: float | None) -> str:
    """A relative gap in per cent."""
    return "–" if gap is None else f"{gap:.2%}"


def limited_metrics(limits: Iterable[Limit]) -> list[str]:
    """The metrics among limits, each once: the columns that tell what a design uses, beside
    `unit_cells`."""
    return list(
        dict.fromkeys(
            x.metric
            for x in limits
            if isinstance(x.expression, Symbol) and x.metric not in ("time", "bandwidth")
        )
    )


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


def microjoules(energy: Fraction | None) -> str:
    """An energy (pJ) in µJ."""
    return rounded(None if energy is None else energy / 10**6)


#: The metrics of a whole run that are told first: how, and in which unit.
WHOLE = (
    ("latency", "latency", number, "cycles"),
    ("energy", "energy", microjoules, "µJ"),
    ("edp", "EDP", engineering, "pJ·cycles"),
)


def unit_cells(metrics: Mapping[str, Any], vocabulary: Collection[str]) -> list[tuple[str, str]]:
    """Time, bandwidth and energy of a run, as columns of a table: those that a vocabulary has."""
    cells = {
        "time": ("ms", rounded(metrics.get("time"))),
        "bandwidth": ("GB/s", rounded(metrics.get("bandwidth"))),
        "energy": ("µJ", microjoules(metrics.get("energy"))),
    }
    return [cell for name, cell in cells.items() if name in vocabulary]


def proof_text(certificate: Certificate) -> str:
    effort = f"{certificate.nodes:,} boxes, {certificate.seconds:.2f} s"
    if certificate.status is Status.OPTIMAL:
        ties = (
            "; not all that are as good were compared" if certificate.ties_broken is False else ""
        )
        better = (
            f"{certificate.told}: no other of these is better"
            if certificate.among
            else "optimal: no configuration of this design is better"
        )
        further = "" if certificate.among else certificate.then_told
        return f"{better}{ties}{further}; {effort}"
    gap = "unknown gap" if certificate.gap is None else f"gap {certificate.gap:.2%}"
    return f"not proven: lower bound {number(certificate.lower_bound)}, {gap}; {effort}"


def gap(certificate: Certificate) -> str:
    """The gap that is left, or why there is none."""
    return gap_text(certificate.gap) if certificate.status.found else certificate.status.value


def proof(certificate: Certificate) -> str:
    if certificate.status is Status.OPTIMAL:
        return certificate.told
    if certificate.status is Status.FEASIBLE and certificate.lower_bound is None:
        return "not proven"
    if certificate.status is Status.FEASIBLE:
        return (
            f"not proven: lower bound {number(certificate.lower_bound)}, "
            f"gap {gap_text(certificate.gap)}"
        )
    bound = (
        ""
        if certificate.lower_bound is None
        else f"; lower bound {number(certificate.lower_bound)}"
    )
    return f"{certificate.status.value}{bound}"


def shortened(name: str) -> str:
    """A layer's name for a table: of a long one, where it begins and ends."""
    return (
        name
        if len(name) <= LONGEST_NAME
        else f"{name[: LONGEST_NAME // 2 - 1]}…{name[-LONGEST_NAME // 2 :]}"
    )


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
