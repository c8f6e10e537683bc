"""Objectives and limits: expressions over the names of a design, minimised or kept to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.words import several, split_values
from ithaca.formulations.algebra.expression import Expression, Symbol, maximum
from ithaca.formulations.algebra.number_systems import FRACTION, NumbersByName
from ithaca.formulations.algebra.parsing import parse_expression, quoted
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import goal, to_minimise

#: Comparisons, also those that requirements do not have.
_COMPARISON = re.compile(r"<=|>=|==|=<|=>|!=|<|>|=")

#: The expression of a requirement that must not be above 0, by its comparison.
_EXCESS: dict[str, Callable[[Expression, Expression], Expression]] = {
    "<=": lambda left, right: left - right,
    ">=": lambda left, right: right - left,
    "==": lambda left, right: maximum(left - right, right - left),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """An upper limit on a metric, or on an expression over metrics; or a requirement, which is a
    comparison of two such expressions."""

    metric: str
    """Name of the metric, an expression such as ``latency*dsp``, or a requirement such as
    ``lanes.i == 2*lanes.j``."""
    bound: Fraction
    """Its largest allowed value; of a requirement 0."""
    expression: Expression = field(init=False, compare=False, repr=False)
    """``metric``, read: symbols are named like the metrics. Of a requirement what must not be
    above 0."""
    divisors: tuple[Expression, ...] = field(init=False, compare=False, repr=False)
    """All that it divides by as it was written, also where the expression cancels it."""

    def __post_init__(self) -> None:
        under: list[Expression] = []
        expression = read_limited(self.metric, "limit", None, under)
        object.__setattr__(self, "expression", expression)
        object.__setattr__(self, "divisors", tuple(under))
        if self.required and self.bound:
            raise InputError(
                f"limit {quoted(self.metric)} is {self.bound}; allowed: 0, as it is a requirement"
            )
        if self.bound < 0 and isinstance(self.expression, Symbol):
            raise InputError(
                f"limit {self.metric} is {self.bound}; allowed: a number that is not negative"
            )

    @property
    def required(self) -> bool:
        """Whether it is a requirement."""
        return is_requirement(self.metric)

    @property
    def words(self) -> str:
        """The limit as messages call it."""
        return f"requirement {self.metric}" if self.required else f"limit {self.metric}"

    @property
    def option(self) -> str:
        """The option that states it."""
        return "--require" if self.required else "--limit"

    @property
    def excesses(self) -> tuple[Expression, ...]:
        """Expressions of which none may be above the bound: of an equation the two differences, of
        anything else `expression`."""
        if "==" not in self.metric:
            return (self.expression,)
        return tuple(
            read_limited(self.metric.replace("==", sign), "limit", None) for sign in ("<=", ">=")
        )

    def used(self, metrics: NumbersByName) -> Fraction:
        """The amount of the limit that exact metrics take up."""
        used: Fraction = self.expression.evaluate(metrics, FRACTION)
        return used


class OpenNames(frozenset[str]):
    """Names of metrics, and names with points, of which a design says whether it has them."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or "." in str(name)


def is_requirement(text: str) -> bool:
    """Whether what is limited is a comparison."""
    return _COMPARISON.search(text) is not None


def read_limited(
    text: str,
    where: str,
    allowed: Collection[str] | None,
    under: list[Expression] | None = None,
) -> Expression:
    """Read what a limit is on: an expression, or of a comparison what must not be above 0.

    Parameters
    ----------
    text : str
        An expression, or two with ``<=``, ``>=`` or ``==`` between them.
    where : str
        What error lines begin with.
    allowed : Collection of str or None
        Names that it may use; None: any.
    under : list of Expression, optional
        Takes all that the text divides by.

    Raises
    ------
    InputError
        If it is neither.
    """
    signs = _COMPARISON.findall(text)
    if len(signs) > 1 or not _EXCESS.keys() >= {*signs}:
        raise InputError(
            f"{where}: {quoted(text)} compares by {' and '.join(signs)}; allowed: one of "
            f"{', '.join(_EXCESS)} between two expressions"
        )
    sides = [
        parse_expression(side, where=where, allowed=allowed, under=under)
        for side in (text.split(signs[0]) if signs else [text])
    ]
    return _EXCESS[signs[0]](*sides) if signs else sides[0]


def parse_requirements(words: str | Sequence[str] | None) -> dict[str, Fraction]:
    """Requirements such as ``lanes.i == 2*lanes.j``, several separated by commas, as limits."""
    parts = [part.strip() for text in several(words) for part in split_values(text)]
    for part in parts:
        if not is_requirement(part):
            raise InputError(
                f"--require is {quoted(part)}; allowed: comparisons by {', '.join(_EXCESS)}, such "
                "as lanes.i == 2*lanes.j"
            )
        read_limited(part, "--require", None)
    return dict.fromkeys(parts, Fraction(0))


@dataclass(frozen=True, slots=True)
class Objective:
    """An expression over metrics that is minimised; further ones among its optima, one after the
    other."""

    text: str
    """As the user wrote it, with all that follow."""
    expression: Expression
    """The first, over symbols named like the metrics."""
    then: Objective | None = None
    """The objective that is minimised among its optima."""
    summed: bool = False
    """Whether, of several layers, it is the sum of what each run has, whatever that is:
    ``sum(edp)``."""
    divisors: tuple[Expression, ...] = field(default=(), compare=False, repr=False)
    """All that the first divides by as it was written, also where the expression cancels it."""

    @property
    def order(self) -> tuple[Objective, ...]:
        """The objective and those that break its ties, most important first."""
        return (self,) if self.then is None else (self, *self.then.order)

    @property
    def words(self) -> str:
        """The text of the first alone."""
        return split_values(self.text)[0].strip()

    @property
    def goal(self) -> str:
        """The direction in words: ``minimising latency``."""
        return goal(split_values(self.text), ",")

    def value(self, metrics: NumbersByName) -> Fraction:
        """The objective's exact value for exact metrics."""
        value: Fraction = self.expression.evaluate(metrics, FRACTION)
        return value


def read_objective(
    text: str,
    where: str,
    allowed: Collection[str] | None,
    metrics: Mapping[str, Metric] | None = None,
) -> Objective:
    """Read an objective such as ``latency + 100*dsp``, or several in order: ``latency,energy``.

    Parameters
    ----------
    text, where : str
        The objective, and what error lines begin with.
    allowed : Collection of str or None
        Names of metrics; None: any.
    metrics : mapping of str to Metric, optional
        What is known of metrics: one of which more is better is maximised, by its negative.

    Returns
    -------
    Objective
        The objective.

    Raises
    ------
    InputError
        If one is no expression over these names.
    """
    objective: Objective | None = None
    parts = [to_minimise(part, metrics or {}) for part in split_values(text)]
    for number, part in reversed([*enumerate(parts)]):
        inner = re.fullmatch(r"sum\((.*)\)", part.strip())
        text_of = part.strip() if inner is None else inner[1]
        under: list[Expression] = []
        expression = parse_expression(text_of, where=where, allowed=allowed, under=under)
        if objective is not None and expression in [o.expression for o in objective.order]:
            raise InputError(f"{where} {quoted(text)} repeats {part.strip()}; allowed: each once")
        whole = ",".join(parts[number:]).strip()
        objective = Objective(whole, expression, objective, inner is not None, tuple(under))
    assert objective is not None
    return objective
