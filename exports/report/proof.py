"""The sections on the proof, on the course of the search, and on the comparison of designs."""

from __future__ import annotations

from ithaca.exports.charts.chart import Bar, BarChart, metric_unit
from ithaca.exports.charts.course import course_chart
from ithaca.exports.report.answer import BestConfiguration
from ithaca.exports.report.blocks import Block, Section, chart_figure
from ithaca.files.numbers import number
from ithaca.results.result_view import design_table
from ithaca.results.view import Table
from ithaca.results.wording import metric_label
from ithaca.solver.certificate import Status
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution

#: What a report says of a result without a trace.
NO_TRACE = (
    "The result holds no trace of the search: it was written before "
    "traces were kept, or not by a solve."
)

#: What a status means, in words.
OUTCOME = {
    Status.OPTIMAL: "optimal",
    Status.FEASIBLE: "not proven optimal",
    Status.INFEASIBLE: "infeasible (proven)",
    Status.UNKNOWN: "nothing found in time",
}


def certificate(best: BestConfiguration) -> Section:
    """The section on the certificate, with incumbent and bound over time."""
    whole, own = best.certificate, best.solution.certificate
    blocks: list[Block] = []
    if whole.status is Status.OPTIMAL:
        among = f" among {whole.among}" if whole.among else ""
        text = (
            f"The lower bound equals the value{best.result.basis} in exact arithmetic, so no "
            f"search could find better{among}."
        )
        blocks.append(text)
    effort = whole.effort and f"; {whole.effort}"
    blocks.append(
        f"Over all designs: {whole.stated(best.result.basis)}; engine {whole.method}{effort}."
    )
    if own.trace:
        blocks.append(chart_figure("convergence", course_chart(best.solution, "seconds")))
        entries = tuple(
            (f"{p.seconds:.3f}", number(p.nodes), number(p.value), number(p.lower_bound))
            for p in own.trace
        )
        blocks.append(
            Table(
                "The search, change by change",
                ("seconds", "boxes", "incumbent", "lower bound"),
                entries,
                frozenset(),
                True,
            )
        )
    else:
        blocks.append(NO_TRACE)
    return Section("certificate", "The certificate", tuple(blocks))


def designs(result: Result) -> Section:
    """Objective, bound and resources of every design, the best first."""
    ranked = sorted(result.solutions, key=lambda s: (s.value is None, s.value or 0))
    objective = result.objective.text
    least = ranked[0].value if ranked else None
    blocks: list[Block] = []
    if least is not None and len(ranked) > 1:
        bars = tuple(_bar(solution, first=place == 0) for place, solution in enumerate(ranked))
        text = (
            f"{len(ranked)} designs were solved, each with the limits "
            "and the objective of the result."
        )
        if any(bar.mark is not None for bar in bars):
            text += (
                " The mark on a bar is the lower bound of a design that is not proven: "
                "its optimum lies between mark and end."
            )
        design = result.problem.design
        label, also = metric_label(objective, design), metric_unit(objective, design)
        chart = BarChart(f"The least {objective} of every design", label, bars, also=also)
        blocks += [text, chart_figure("designs-chart", chart)]
    blocks.append(design_table(result))
    return Section("designs", "Design comparison", tuple(blocks))


def _bar(solution: Solution, *, first: bool) -> Bar:
    proof, buildable = (
        solution.certificate,
        "" if solution.profile.obstacle is None else ", not buildable",
    )
    if solution.value is None:
        lost = proof.beaten
        ended = f"not better (no less than {number(proof.lower_bound)})" if lost else None
        return Bar(solution.design, None, f"{ended or OUTCOME[proof.status]}{buildable}")
    open_ = proof.status is not Status.OPTIMAL
    note = number(solution.value) + (" (not proven)" if open_ else "") + buildable
    mark = float(proof.lower_bound) if open_ and proof.lower_bound is not None else None
    return Bar(
        solution.design, float(solution.value), note, "answer" if first else "main", mark=mark
    )
