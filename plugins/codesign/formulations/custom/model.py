"""A cost model that a user states: named factors, each an expression over others, over figures of
the hardware, facts of a layer and what a layer may choose.

It is the bottleneck model of S. Dave, T. Nowatzki, A. Shrivastava, "Explainable-DSE" (ASPLOS 2023):
a graph whose inner nodes are cost factors, the figures that a factor follows from, and the values
that these should have where it binds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.formulations.algebra.domains import ALLOWED, within
from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import POSITIVE, WHOLE, bounds, trends
from ithaca.formulations.algebra.parsing import FUNCTIONS, expression_text, parse_expression
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import ALONE, Document, Formula, Name
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.workloads.nest import LoopNest, footprints

#: What begins the names of a layer's facts.
LAYER = "layer."

#: The largest value that a layer may choose: all of them are looked at.
LARGEST = 10**7

#: What mitigations may speak of beside the model's names: the figure as it is; s, the part that
#: binds over the next one; f, the share of the factor in that part.
SCALES = "now", "s", "f"


class FactorDocument(Document):
    """A factor of the costs: a metric."""

    of: Formula
    unit: Annotated[str, Field(max_length=40)] = ""


class LayerChoiceDocument(Document):
    """A choice that each layer makes: an integer, or a power of two, between two formulas of its
    facts."""

    range: Annotated[list[Formula], Field(min_length=2, max_length=2)] | None = None
    powers_of_two: Annotated[list[Formula], Field(min_length=2, max_length=2)] | None = None


class ModelDocument(Document):
    """The fields of a stated model."""

    metrics: Annotated[
        dict[Name, Annotated[FactorDocument, ALONE]],
        Field(min_length=1, max_length=1000),
    ]
    choices: dict[Name, LayerChoiceDocument] = Field(default_factory=dict)
    conditions: list[str] = Field(default_factory=list)
    mitigations: dict[Name, dict[str, Formula | None]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """An integer that each layer chooses by itself."""

    name: str
    """Its name."""
    low: Expression
    """Its least value, over facts of the layer."""
    high: Expression
    """Its largest one."""
    powers: bool = False
    """Whether it is a power of two."""


@dataclass(frozen=True)
class Model:
    """Factors in an order in which each follows from earlier ones."""

    factors: tuple[tuple[str, Expression], ...]
    """Expression by name, over earlier factors, figures, choices and facts of layers."""
    units: tuple[str, ...]
    """The unit of each."""
    figures: tuple[str, ...]
    """The figures of the hardware."""
    choices: tuple[Choice, ...] = ()
    """The choices of a layer."""
    conditions: tuple[tuple[str, Expression, Expression], ...] = ()
    """As written, with the left side, which must not exceed the right one."""
    mitigations: tuple[tuple[str, tuple[tuple[str, Expression | None], ...]], ...] = ()
    """By factor the figures to raise where it binds, with the value each should have; None: the
    next one of the space."""
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The document that states it."""
    divisors: Mapping[str, tuple[Expression, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """All that its texts divide by, by place in the document, also what expressions cancel."""

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The factors as metrics."""
        return {
            name: Metric(name, unit, expression_text(expression))
            for (name, expression), unit in zip(self.factors, self.units, strict=True)
        }

    @cached_property
    def trends(self) -> dict[str, Trend]:
        """The trend of all factors, by figure: the effect of a larger figure, whatever a layer
        chooses.

        With a choice held fixed a factor that never rises with a figure is never larger for more
        of it, and a condition that never gets tighter stays met; so is the least over all choices.
        """
        moves = [self._moves(whole, 1) for whole in self.wholes.values()]
        for text, *sides in self.conditions:
            left, right = (_substituted(side, self.wholes, quoted(text)) for side in sides)
            moves += [self._moves(left, 1), self._moves(right, -1)]
        meaning = {(): Trend.IDLE, (-1,): Trend.HELPS, (1,): Trend.HURTS}
        return {
            figure: meaning.get(tuple({way[figure] for way in moves if figure in way}), Trend.MIXED)
            for figure in self.figures
        }

    @cached_property
    def wholes(self) -> dict[str, Expression]:
        """Every factor over figures, choices and facts alone."""
        known: dict[str, Expression] = {}
        for name, expression in self.factors:
            known[name] = _substituted(expression, known, f"metrics.{name}")
        return known

    @cached_property
    def ranges(self) -> dict[str, Interval]:
        """All that figures, facts of layers and choices may be."""
        known = dict.fromkeys(self.figures, POSITIVE) | dict.fromkeys(self.facts, WHOLE)
        for choice in self.choices:
            low, high = (bounds(end, known) or WHOLE for end in (choice.low, choice.high))
            least = max(low.low, 1)
            known[choice.name] = Interval(least, max(least, min(high.high, LARGEST)))
        return known

    def check(self, figures: Mapping[str, Interval]) -> None:
        """Refuse what divides by what may be 0, and metrics that may be negative: totals of metrics
        are compared with products and shares of them.

        Parameters
        ----------
        figures : mapping of str to Interval
            All that the figures of the hardware may be.
        """
        ranges = self.ranges | dict(figures)
        guard = within(ranges)
        for where, under in self.divisors.items():
            guard.check((divisor.substitute(self.wholes) for divisor in under), where)
        for name, whole in self.wholes.items():
            span = bounds(whole, ranges)
            if span is None or span.low < 0:
                raise InputError(
                    f"metrics.{name} may be negative; allowed: max(0, …) around differences"
                )

    @cached_property
    def facts(self) -> frozenset[str]:
        """The facts of layers that it speaks of."""
        sides = (side for _, *pair in self.conditions for side in pair)
        ends = (end for choice in self.choices for end in (choice.low, choice.high))
        under = (divisor for each in self.divisors.values() for divisor in each)
        spoken = (each.symbols for each in (*self.wholes.values(), *sides, *ends, *under))
        return frozenset(name for names in spoken for name in names if name.startswith(LAYER))

    def _moves(self, expression: Expression, way: int) -> dict[str, int]:
        known = trends(expression, self.ranges)
        return {name: way * known.get(Symbol(name), 0) for name in expression.symbols}


def facts(nest: LoopNest) -> dict[str, Fraction]:
    """The facts of a layer by name: its operations, the extent of every loop, words of every
    tensor, also as ``input1``, ``input2``, … and ``output``."""
    words = footprints(nest)
    roles = {f"input{place}": words[each.tensor] for place, each in enumerate(nest.inputs, 1)}
    roles |= {"output": words[nest.output.tensor], "operations": nest.operations}
    own = {**nest.sizes, **words, **roles}
    return {f"{LAYER}{name}": Fraction(value) for name, value in own.items()}


def read_model(document: ModelDocument, hardware: Collection[str]) -> Model:
    """The model of a document.

    Parameters
    ----------
    document : ModelDocument
        Metrics, choices, conditions and mitigations.
    hardware : Collection of str
        The figures of the hardware that expressions may speak of.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    InputError
        If an expression is none over these names, or metrics follow from each other in a circle.
    """
    for kind, names in (("metrics", document.metrics), ("choices", document.choices)):
        for name in names:
            if name in {*hardware, *FUNCTIONS} or (kind == "choices" and name in document.metrics):
                raise InputError(
                    f"{kind} has {quoted(name)}, a name that is taken; allowed: others"
                )
    if facts_too := [name for name in hardware if name.startswith(LAYER)]:
        raise InputError(f"figures.{facts_too[0]} is named like a fact of layers; allowed: others")
    known = [*hardware, *document.choices, *document.metrics]
    divisors: dict[str, list[Expression]] = {}

    def parsed(text: str, where: str, names: Collection[str] = known) -> Expression:
        return _parsed(text, where, names, divisors.setdefault(where, []))

    stated = {n: parsed(m.of, f"metrics.{n}") for n, m in document.metrics.items()}
    graph = {name: expression.symbols & stated.keys() for name, expression in stated.items()}
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        raise InputError(
            f"metrics follow from each other: {' → '.join(circle.args[1])}; allowed: no circle"
        ) from None
    conditions = tuple(
        _condition(text, f"conditions[{place}]", parsed)
        for place, text in enumerate(document.conditions)
    )
    mitigations = []
    for factor, wanted in document.mitigations.items():
        check_name(factor, f"mitigations.{factor}", stated)
        values = []
        for figure, text in wanted.items():
            where = f"mitigations.{factor}.{figure}"
            check_name(figure, where, hardware)
            value = None if text is None else _parsed(text, where, [*SCALES, *known], [])
            values.append((figure, value))
        mitigations.append((factor, tuple(values)))
    choices = tuple(_choice(name, each, parsed) for name, each in document.choices.items())
    return Model(
        tuple((name, stated[name]) for name in order),
        tuple(document.metrics[name].unit for name in order),
        tuple(hardware),
        choices,
        conditions,
        tuple(mitigations),
        document.model_dump(include={*ModelDocument.model_fields}, exclude_defaults=True),
        {where: tuple(under) for where, under in divisors.items()},
    )


def check_name(name: str, where: str, known: Collection[str]) -> None:
    """Refuse a name that is none of the known ones, and no fact of a layer.

    Parameters
    ----------
    name : str
        The name.
    where : str
        Where it stands, for the message.
    known : collection of str
        Names that are allowed.
    """
    if name not in known:
        raise InputError(
            f"{where} is unknown{among(name, known, f' (and facts of layers, {LAYER}…)')}"
        )


def _substituted(expression: Expression, known: Mapping[str, Expression], where: str) -> Expression:
    try:
        return expression.substitute(known)
    except ZeroDivisionError:
        raise InputError(f"{where} divides by what is always 0; allowed: {ALLOWED}") from None


def _parsed(text: str, where: str, known: Collection[str], under: list[Expression]) -> Expression:
    expression = parse_expression(text, where=where, allowed=None, under=under)
    for name in sorted(expression.symbols.union(*(divisor.symbols for divisor in under))):
        if not name.startswith(LAYER):
            check_name(name, f"{where}: {quoted(text)}: {quoted(name)}", known)
    return expression


def _condition(
    text: str, where: str, parsed: Callable[[str, str], Expression]
) -> tuple[str, Expression, Expression]:
    parts = re.split(r"(<=|>=)", text)
    if len(parts) != 3:
        raise InputError(
            f"{where} is {quoted(text)}; allowed: two expressions with <= or >= between them"
        )
    left, right = (parsed(parts[place], where) for place in (0, 2))
    return (text, left, right) if parts[1] == "<=" else (text, right, left)


def _choice(
    name: str,
    read: LayerChoiceDocument,
    parsed: Callable[[str, str, Collection[str]], Expression],
) -> Choice:
    ends = [each for each in (read.range, read.powers_of_two) if each is not None]
    if len(ends) != 1:
        has = "both" if ends else "neither"
        raise InputError(f"choices.{name} has {has}; allowed: one of range and powers_of_two")
    low, high = (parsed(text, f"choices.{name}", ()) for text in ends[0])
    return Choice(name, low, high, read.powers_of_two is not None)
