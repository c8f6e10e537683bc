"""The landscape around the configuration: the exact objective over two tile factors."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import numpy as np

from ithaca.exports.charts.chart import HeatMap, metric_unit
from ithaca.exports.report.answer import BestConfiguration
from ithaca.exports.report.blocks import Section, chart_figure
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.formulations.directions import as_asked
from ithaca.results.view import Table
from ithaca.results.wording import metric_label

#: Largest distance of a factor from the answer's, unless told.
AROUND = 10

#: Largest distance allowed: a grid over the factors of two loops has up to (2·15 + 1)^4 points in
#: memory.
FARTHEST = 15


def survey(best: BestConfiguration, around: int = AROUND) -> HeatMap:
    """Evaluate the cost model around a configuration; cells say by how many per cent they are above
    it.

    Raises `InputError` if the configuration is outside the design space its grid would be part of,
    or one of its two factors is fixed, as on an array that layers share.
    """
    from ithaca.refine.grid import least_objective
    from ithaca.refine.window import window_around

    factors, answer, values = (
        best.solution.profile.landscape,
        float(best.value),
        best.configuration,
    )
    if factors is None:
        raise InputError("the design has fewer than two factors to choose")
    x, y = factors
    free = {quantity.name for quantity in best.problem.space.free}
    if fixed := [name for name in factors if name not in free]:
        raise InputError(f"{' and '.join(fixed)} {'is' if len(fixed) == 1 else 'are'} fixed")
    window = window_around(best.problem, values, around, _axes(best))
    name, sign = as_asked(best.objective, Fraction(1))
    least = least_objective(window, x, y)
    label = metric_label(name, best.problem.design)
    return HeatMap(
        title=f"{best.subject}: {label} over {x} and {y}, design {best.solution.design}",
        x_label=x,
        y_label=y,
        label=label,
        x=np.asarray(window.free[x]),
        y=np.asarray(window.free[y]),
        values=least * int(sign),
        also=metric_unit(name, best.problem.design),
        texts=tuple(
            tuple(above(v * sign, answer * sign) if isfinite(v) else "" for v in row)
            for row in least.tolist()
        ),
        marked=(values[x], values[y]),
        mark=f"the answer, {number(answer * sign)}",
    )


def _axes(best: BestConfiguration) -> tuple[str, ...]:
    """The axes whose factors vary."""
    axis_of = best.problem.space.axis_of
    return tuple(
        dict.fromkeys(axis_of[name].name for name in best.solution.profile.landscape or ())
    )


def landscape(best: BestConfiguration, around: int = AROUND) -> Section:
    """The heat map with its figures; the reason where there is none."""
    title = "The landscape around it"
    try:
        chart = survey(best, around)
    except InputError as error:
        return Section("landscape", title, (f"Not drawn: {error}.",))
    name, sign = as_asked(best.objective, Fraction(1))
    text = (
        f"Each cell is the configuration with the {'least' if sign > 0 else 'most'} {name} "
        "among those with its two factors, evaluated exactly: "
        f"the factors of {' and '.join(_axes(best))} are at most {around} "
        "from the answer's, all others and "
        "the packs are the answer's. A cell says by how many per cent it is above the "
        "answer (13×: it is 13 times the answer). "
        "Pale cells have no configuration within the limits."
    )
    lower = [v for v in chart.values.flat if isfinite(v) and v * sign < best.value]
    if lower:
        beyond, most, value = (
            ("below", "least", min(lower)) if sign > 0 else ("above", "most", max(lower))
        )
        text += (
            f" {len(lower)} cells are {beyond} the answer, which is not proven "
            f"optimal; the {most} is {number(value)}."
        )
    table = Table("The figures of the heat map", *chart.figures, folded=True)
    figure = chart_figure("landscape-map", chart)
    return Section("landscape", title, (text, figure, table))


def above(value: float, answer: float) -> str:
    """The distance of a value above the answer, in whole per cent."""
    if value == answer:
        return "0"
    if not answer:
        return number(value)
    share = (value - answer) / abs(answer) * 100
    sign = "+" if share > 0 else "−"
    if abs(share) < 0.95:
        return f"{sign}{abs(share):.1f}" if abs(share) >= 0.05 else f"{sign}0"
    if share >= 999.5 and answer > 0:
        return f"{value / answer:,.0f}×"
    return f"{sign}{abs(share):.0f}"
