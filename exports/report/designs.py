"""The designs of a result compared."""

from __future__ import annotations

from ithaca.exports.report.bars import Bar, bar_chart
from ithaca.exports.report.blocks import Block, Figure, Paragraph, Section, Table
from ithaca.formulations.shown_numbers import number, percent
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.solver.certificate import Status
from ithaca.solver.loaded_result import LoadedResult, LoadedSolution

_OUTCOME = {
    Status.OPTIMAL: "optimal",
    Status.FEASIBLE: "not proven optimal",
    Status.INFEASIBLE: "infeasible (proven)",
    Status.UNKNOWN: "nothing found in time",
}


def designs(result: LoadedResult) -> Section:
    """Objective, bound and resources of every design, the best first."""
    ranked = sorted(result.solutions, key=lambda s: (s.value is None, s.value or 0))
    objective = result.objective.text
    unit = METRICS[objective].unit if objective in METRICS else ""
    least = ranked[0].value if ranked else None
    bars = [_bar(solution, first=place == 0) for place, solution in enumerate(ranked)]
    blocks: list[Block] = []
    if least is not None and len(ranked) > 1:
        title = f"The least {objective} of every design"
        said = "; ".join(f"{bar.name} {bar.note}" for bar in bars)
        text = f"{len(ranked)} designs were solved, each with the limits and the objective of the result."
        if any(bar.mark is not None for bar in bars):
            text += (
                " The mark on a bar is the lower bound of a design that is not proven: its optimum lies between mark and end."
            )
        blocks.append(Paragraph(text))
        blocks.append(Figure(bar_chart("designs", title, said, bars, f"{objective} ({unit})" if unit else objective), title))
    limits = tuple(limit.metric for limit in result.limits if limit.metric in METRICS)
    columns = (
        "design",
        "buildable",
        objective,
        "above the best",
        "lower bound",
        "outcome",
        *limits,
        "boxes",
        "seconds",
        "method",
    )
    rows = []
    for solution in ranked:
        certificate = solution.certificate
        above = "–"
        if solution.value is not None and least:
            above = percent((solution.value - least) / abs(least)) if solution.value != least else "the best"
        rows.append(
            (
                solution.array.name,
                "yes" if solution.array.buildable else "no",
                number(solution.value),
                above,
                number(certificate.lower_bound),
                _OUTCOME[certificate.status],
                *(number(solution.metrics.get(name)) for name in limits),
                number(certificate.nodes),
                f"{certificate.seconds:.2f}",
                certificate.method,
            )
        )
    text_columns = frozenset({0, 1, 5, len(columns) - 1})
    blocks.append(Table("All designs of the result", columns, tuple(rows), text_columns))
    return Section("designs", "Design comparison", tuple(blocks))


def _bar(solution: LoadedSolution, *, first: bool) -> Bar:
    certificate, buildable = solution.certificate, "" if solution.array.buildable else ", not buildable"
    if solution.value is None:
        return Bar(solution.array.name, None, f"{_OUTCOME[certificate.status]}{buildable}", "fill-main")
    open_ = certificate.status is not Status.OPTIMAL
    note = number(solution.value) + (" (not proven)" if open_ else "") + buildable
    mark = float(certificate.lower_bound) if open_ and certificate.lower_bound is not None else None
    return Bar(solution.array.name, float(solution.value), note, "fill-first" if first else "fill-main", mark)
