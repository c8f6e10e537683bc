"""The course of a search as a chart: incumbent and lower bound over time, or over samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ithaca.exports.charts.chart import LineChart, Series, metric_unit, wide_spread
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.formulations.directions import as_asked, bound_as_asked, name_asked
from ithaca.results.wording import metric_label

if TYPE_CHECKING:
    from ithaca.solver.result import Result
    from ithaca.solver.solution import Solution

#: What a search is drawn over, by the attribute of its trace.
OVER = {"seconds": "time", "nodes": "samples"}


def result_chart(result: Result) -> LineChart:
    """The course of the search for a result's best configuration, over configurations or boxes.

    Raises `InputError` if the result holds none.
    """
    if result.best is None or not result.best.certificate.trace:
        raise InputError(
            f"{result.source} has no course of a search; allowed: an answer of solve or refine"
        )
    return course_chart(result.best, "nodes")


def course_chart(solution: Solution, over: str) -> LineChart:
    """Lower bound and incumbent of a search, each until its end."""
    trace, design = solution.certificate.trace, solution.problem.design
    series = []
    objective = solution.problem.objective.words
    side, what = bound_as_asked(objective, None)[0], name_asked(objective)
    for name, attribute, role in (
        (side, "lower_bound", "limit"),
        ("incumbent", "value", "answer"),
    ):
        points = [(getattr(p, over), as_asked(objective, getattr(p, attribute))[1]) for p in trace]
        if steps := [(x, y) for x, y in points if y is not None]:
            last = steps[-1][1]
            xs, ys = zip(*steps, (getattr(trace[-1], over), last), strict=True)
            label = f"{name}: at last {number(last)}"
            series.append(Series(label, xs, tuple(map(float, ys)), role=role))
    return LineChart(
        f"Incumbent and {side} over {OVER[over]}, design {solution.design}",
        "seconds" if over == "seconds" else "samples or boxes",
        metric_label(what, design),
        tuple(series),
        steps=True,
        log_y=wide_spread(y for each in series for y in each.y),
        y_also=metric_unit(what, design),
    )
