"""The sections on the proof, on the course of the search, and on the comparison of designs."""

from __future__ import annotations

from ithaca.exports.charts.chart import Bar, BarChart, metric_unit
from ithaca.exports.charts.course import course_chart
from ithaca.exports.report.answer import BestConfiguration
from ithaca.exports.report.blocks import Block, Section, chart_figure
from ithaca.files.numbers import number
from ithaca.formulations.directions import as_asked, bound_as_asked, name_asked
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
    whole, known = best.certificate, best.solution.certificate
    what = best.objective
    side = bound_as_asked(what, None)[0]
    blocks: list[Block] = []
    if whole.status is Status.OPTIMAL:
        among = f" among {whole.among}" if whole.among else ""
        text = (
            f"The {side} equals the value{best.result.basis} in exact arithmetic, so no "
            f"search could find better{among}."
        )
        blocks.append(text)
    effort = whole.effort and f"; {whole.effort}"
    blocks.append(
        f"Over all designs: {whole.stated(best.result.basis)}; engine {whole.method}{effort}."
    )
    if known.trace:
        blocks.append(chart_figure("convergence", course_chart(best.solution, "seconds")))
        entries = tuple(
            (
                f"{p.seconds:.3f}",
                number(p.nodes),
                *(number(as_asked(what, x)[1]) for x in (p.value, p.lower_bound)),
            )
            for p in known.trace
        )
        blocks.append(
            Table(
                "The search, change by change",
                ("seconds", "boxes", "incumbent", side),
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
        side = bound_as_asked(objective, None)[0]
        bars = tuple(_bar(s, objective, first=place == 0) for place, s in enumerate(ranked))
        text = (
            f"{len(ranked)} designs were solved, each with the limits "
            "and the objective of the result."
        )
        if any(bar.mark is not None for bar in bars):
            text += (
                f" The mark on a bar is the {side} of a design that is not proven: "
                "its optimum lies between mark and end."
            )
        design = result.problem.design
        name = name_asked(objective)
        label, also = metric_label(name, design), metric_unit(name, design)
        most = "least" if name == objective else "most"
        chart = BarChart(f"The {most} {name} of every design", label, bars, also=also)
        blocks += [text, chart_figure("designs-chart", chart)]
    blocks.append(design_table(result))
    return Section("designs", "Design comparison", tuple(blocks))


def _bar(solution: Solution, objective: str, *, first: bool) -> Bar:
    proof, buildable = (
        solution.certificate,
        "" if solution.profile.obstacle is None else ", not buildable",
    )
    value, bound = as_asked(objective, solution.value)[1], as_asked(objective, proof.lower_bound)[1]
    if value is None:
        lost = proof.beaten
        side = "less" if name_asked(objective) == objective else "more"
        ended = f"not better (no {side} than {number(bound)})" if lost else None
        return Bar(solution.design, None, f"{ended or OUTCOME[proof.status]}{buildable}")
    open_ = proof.status is not Status.OPTIMAL
    note = number(value) + (" (not proven)" if open_ else "") + buildable
    mark = float(bound) if open_ and bound is not None else None
    return Bar(solution.design, float(value), note, "answer" if first else "main", mark=mark)
