"""``--vary NAME=VALUE,…``: what a what-if study varies."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ithaca.commands.api.parsing import parse_extent
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, meant
from ithaca.files.numbers import json_number
from ithaca.files.words import several, split_values
from ithaca.formulations.algebra.parsing import parse_expression, quoted
from ithaca.formulations.design import Metric
from ithaca.formulations.limits import goes_both_ways, parse_upper, unit_of
from ithaca.formulations.platform import Bound, Share
from ithaca.formulations.question import Question, Variable
from ithaca.studies.grid import StudyAxis, check_grid
from ithaca.workloads.nest import LoopNest

Change = Callable[[Question, Any], Question]

#: Reads the values of something of the workload's own, which makes an axis.
ReadAxis = Callable[[Sequence[Any]], StudyAxis]

#: How no limit is written.
NO_LIMIT = "none"

#: Prefixes that say what a name is: an extent, or a limit (whose name may then be an expression).
SIZE, LIMIT = "size.", "limit."

#: What ends the name of an axis of limits.
LIMITS = "_limit"


#: A range, which is no list of values: perhaps with a step, or with more values.
_RANGE = re.compile(r"([0-9]{1,15}) *(?:\.\.+|-|:) *([0-9]{1,15})(?: *[:,] *[0-9]+)*")


@dataclass(frozen=True)
class Variation:
    """A variation of a question: one ``--vary``."""

    axis: StudyAxis
    """Its values, read and checked."""
    change: Change | None
    """Puts one of them into a question; None where it is the workload's own, such as the extent of
    a loop."""
    late: bool = False
    """Whether it changes what others put there."""


def parse_variations(
    vary: Mapping[str, Sequence[Any]] | Sequence[str],
    question: Question,
    nest: LoopNest,
    fixed: Collection[str],
    own: Mapping[str, ReadAxis] | None = None,
) -> tuple[Variation, ...]:
    """Read all ``--vary`` options, or values by name.

    A name is a loop (``i=256,512``), a metric to limit (``dsp=2000,4000``), a variable of the
    question, or a figure of its hardware (``GLB.words=16384,32768``). ``size.i`` and ``limit.dsp``
    say which; ``limit.`` takes any expression. Values are separated by commas outside parentheses,
    dataflows, which contain commas, by colons (``dataflow=i,j:i,k``). Raises `InputError` if a name
    or value does not fit, an axis or value is repeated, is fixed by another option too, or the grid
    is too large.

    Parameters
    ----------
    vary : mapping of str to sequence of object or sequence of str
        Words such as ``dsp=2000,4000``, or values by name.
    question : Question
        What is asked at every point.
    nest : LoopNest
        Its workload, or a layer of that.
    fixed : collection of str
        The options that were given beside.
    own : mapping of str to ReadAxis, optional
        What the workload itself may vary, by name; by default the extents of the loops.
    """
    known = {loop: _size(loop, nest) for loop in nest.sizes} if own is None else own
    variations = [
        _variation(name, values, question, nest, fixed, known)
        for name, values in named_values(vary)
    ]
    check_axes([v.axis for v in variations])
    return tuple(variations)


def named_values(
    vary: Mapping[str, Sequence[Any]] | Sequence[str],
) -> Iterable[tuple[str, Sequence[Any]]]:
    """The names of the varied quantities, each with its values as they were given."""
    return map(_valued, vary.items()) if isinstance(vary, Mapping) else map(_named, several(vary))


def check_axes(axes: Sequence[StudyAxis]) -> None:
    """Refuse axes that share a name, or have too many points together."""
    with errors_at("--vary"):
        check_grid(axes)


def _valued(entry: tuple[str, object]) -> tuple[str, Sequence[Any]]:
    name, values = entry
    if isinstance(values, str):
        return _named(f"{name}={values}")
    return str(name), tuple(values) if isinstance(values, Iterable) else (values,)


def _named(text: str) -> tuple[str, Sequence[Any]]:
    name, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not name or not values:
        raise InputError(f"--vary is {quoted(text)}; allowed: NAME=VALUE,… such as dsp=2000,4000")
    if ends := _RANGE.fullmatch(values):
        first, last = map(int, ends.groups())
        each = ",".join(map(str, dict.fromkeys((first, (first + last) // 2, last))))
        raise InputError(
            f"--vary {quoted(name)} is the range {quoted(values)}; allowed: every value, between "
            f"commas, such as {name}={each}"
        )
    parts = [part.strip() for part in split_values(values, ":" if name == "dataflow" else ",")]
    if not all(parts):
        raise InputError(
            f"--vary {quoted(name)} has an empty value in "
            f"{quoted(values)}; allowed: values between commas"
        )
    return name, parts


def varied(
    question: Question, variations: Sequence[Variation], values: Mapping[str, Any]
) -> tuple[Question, dict[str, Any]]:
    """The question of one point of the grid, and what is the workload's own there, by name.

    Parameters
    ----------
    question : Question
        What is asked at every point.
    variations : sequence of Variation
        What is varied.
    values : mapping of str to object
        The value of each at the point, by the name of its axis.
    """
    own = {}
    for variation in sorted(variations, key=lambda each: each.late):
        name = variation.axis.name
        if variation.change is None:
            own[name] = values[name]
        else:
            question = variation.change(question, values[name])
    return question, own


def _variation(
    name: str,
    parts: Sequence[Any],
    question: Question,
    nest: LoopNest,
    fixed: Collection[str],
    own: Mapping[str, ReadAxis],
) -> Variation:
    loops, metrics = tuple(own), question.vocabulary(nest)
    variables, figures = question.variables, question.figures
    plain = name.removeprefix(SIZE).removeprefix(LIMIT)
    is_loop = name.startswith(SIZE) or (plain == name and name in loops)
    is_limit = name.startswith(LIMIT) or (plain == name and name in metrics)
    is_option = name in variables or name in figures
    if is_loop + is_limit + is_option > 1:
        raise InputError(
            f"--vary {quoted(name)} may be a loop or a metric; allowed: "
            f"{SIZE}{name} or {LIMIT}{name}"
        )
    if (is_loop and plain not in loops) or not (is_loop or is_limit or is_option):
        known = [metric for metric in metrics if "." not in metric]
        split = [figure.partition(".") for figure in figures]
        hardware = dict.fromkeys(f"{part}.FIGURE" if figure else part for part, _, figure in split)
        part = plain.rpartition(".")[0]
        of_part = {f: figures[f"{p}.{f}"] for p, _, f in split if f and p == part}
        if of_part:
            texts = (f"{own} ({metric.meaning})" for own, metric in of_part.items())
            raise InputError(
                f"--vary {quoted(name)}: {part} has no such figure; allowed: {', '.join(texts)}"
            )
        others = [*variables, *hardware]
        names = ", ".join(dict.fromkeys(figure for _, _, figure in split if figure))
        others += [f"where FIGURE is {names}"] if names else []
        raise InputError(
            f"--vary {quoted(name)} is unknown; allowed: {'loops ' * (loops == (*nest.sizes,))}"
            f"{', '.join(loops)}; limits {', '.join(known)} "
            f"(or {LIMIT}EXPRESSION); {', '.join(others)}"
            f"{meant(name, (*loops, *metrics, *variables, *figures))}"
        )
    if is_limit and plain == name and goes_both_ways(name, metrics):
        raise InputError(
            f"--vary {quoted(name)} is better the more there is; allowed: {LIMIT}{name} "
            f"for upper limits, or questions with --limit '{name}>=VALUE'"
        )
    if plain in fixed:
        raise InputError(
            f"--vary {quoted(name)} is fixed by another option, too; allowed: one of them"
        )
    with errors_at(f"--vary {quoted(name)}"):
        if is_loop:
            return Variation(own[plain](parts), None)
        if name in figures:
            return _figure(name, parts, figures[name])
        if is_limit:
            return _limit(plain, parts, metrics)
        return _variable(name, parts, nest, variables[name])


def _size(loop: str, nest: LoopNest) -> ReadAxis:
    def read(parts: Sequence[Any]) -> StudyAxis:
        extents = tuple(parse_extent(loop, part) for part in parts)
        for extent in extents:
            nest.with_sizes({loop: extent})
        return StudyAxis(loop, extents, unit="iterations", meaning=f"extent of loop {loop}")

    return read


def _limit(metric: str, parts: Sequence[Any], metrics: Mapping[str, Metric]) -> Variation:
    unit = unit_of(metric, metrics)
    bounds = tuple(parse_upper(metric, part, unit=unit) for part in parts)
    parse_expression(metric, where="limit", allowed=metrics)
    axis = limit_axis(metric, bounds, unit)
    return Variation(axis, lambda r, bound: replace(r, bounds={**r.bounds, metric: bound}))


def limit_axis(metric: str, bounds: Sequence[Bound], unit: str) -> StudyAxis:
    """An axis of upper limits.

    Parameters
    ----------
    metric : str
        What is limited.
    bounds : sequence of Fraction or Share or None
        The limits, as they are put into a question; None lifts it.
    unit : str
        The unit of the metric.
    """
    labels = tuple(
        json_number(bound) if isinstance(bound, Fraction) else str(bound or NO_LIMIT)
        for bound in bounds
    )
    return StudyAxis(f"{metric}{LIMITS}", tuple(bounds), labels, unit, f"upper limit of {metric}")


def _figure(name: str, parts: Sequence[Any], figure: Metric) -> Variation:
    """A figure of a memory hierarchy; `with_figure` refuses what it cannot be, as the point is
    posed."""
    values = tuple(parse_upper(name, part) for part in parts)
    if any(isinstance(value, Share) for value in values):
        raise InputError("a share is no figure; allowed: numbers")
    labels = tuple(
        NO_LIMIT if value is None else json_number(value)
        for value in values
        if not isinstance(value, Share)
    )
    axis = StudyAxis(name, values, labels, figure.unit, figure.meaning)
    return Variation(
        axis,
        lambda r, value: r.with_figure(name, value),
        late=True,
    )


def _variable(name: str, parts: Sequence[Any], nest: LoopNest, variable: Variable) -> Variation:
    values = tuple(variable.read(nest, part) for part in parts)
    labels = tuple(map(variable.label, values))
    return Variation(
        StudyAxis(name, values, labels, meaning=variable.meaning or name), variable.change
    )
