"""Formulas in steps: what stands in several places, or is no polynomial, gets a name first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.algebra.expression import (
    SYMBOLIC,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    Symbols,
    split_coefficient,
)
from ithaca.formulations.problem import Problem

#: Prefix of the names of steps.
STEP = "z"


@dataclass(frozen=True)
class Language:
    """The spelling of formulas."""

    symbol: Callable[[str], str]
    number: Callable[[Fraction], str]
    times: str
    quotient: Callable[[str, str], str]
    power: Callable[[str, int], str]
    ceiling: Callable[[str, str], str]
    extreme: Callable[[str, list[str]], str]
    """The name, ``max`` or ``min``, and the arguments."""

    def text(self, node: Expression, names: Mapping[Expression, str], *, top: bool = False) -> str:
        """A formula in which steps have names.

        Parameters
        ----------
        node : Expression
            The formula.
        names : mapping of Expression to str
            The names of steps.
        top : bool, optional
            Whether it is spelled out though it has a name.
        """

        def part(inner: Expression) -> str:
            return self.text(inner, names)

        if node in names and not top:
            return self.symbol(names[node])
        match node:
            case Constant():
                return self.number(node.value)
            case Symbol():
                return self.symbol(node.name)
            case Sum():
                text = part(node.terms[0])
                for term in node.terms[1:]:
                    less = term not in names and split_coefficient(term)[0] < 0
                    own = -term if less else term
                    inner = part(own)
                    if isinstance(own, Sum) and own not in names:  # a whole sum is subtracted
                        inner = f"({inner})"
                    text += f" - {inner}" if less else f" + {inner}"
                return text
            case CeilingDivision():
                return self.ceiling(part(node.numerator), part(node.denominator))
            case Maximum() | Minimum():
                name = "max" if isinstance(node, Maximum) else "min"
                return self.extreme(name, [part(each) for each in node.arguments])
        assert isinstance(node, Product)
        over, under = (self._factors(node, names, sign) for sign in (1, -1))
        if node.coefficient != 1 or not over:
            over.insert(0, self.number(node.coefficient))
        if over[0] == "-1" and len(over) > 1:
            over[:2] = [f"-{over[1]}"]
        top_text = self.times.join(over)
        return self.quotient(top_text, self.times.join(under)) if under else top_text

    def _factors(self, node: Product, names: Mapping[Expression, str], sign: int) -> list[str]:
        """The factors above the line, or below it with -1."""
        texts = []
        for base, exponent in node.factors:
            text = self.text(base, names)
            bare = base in names or not isinstance(base, Sum)
            if exponent * sign > 0:
                texts.append(self.power(text if bare else f"({text})", abs(exponent)))
        return texts


def formulas(problem: Problem, metrics: Iterable[str]) -> dict[str, Expression]:
    """Metrics, and parts of them, over quantities."""
    return problem.design.lookup(Symbols(), SYMBOLIC, [*metrics])


def steps(expressions: Iterable[Expression]) -> dict[Expression, str]:
    """The names of the steps of some formulas, in an order in which each follows from those before:
    extrema, ceilings, and sums that stand in several places."""
    uses, order = Counter[Expression](), dict[Expression, None]()

    def visit(node: Expression) -> None:
        uses[node] += 1
        if uses[node] == 1:
            for child in node.children:
                visit(child)
            order[node] = None

    for expression in expressions:
        visit(expression)
    named = (
        node
        for node in order
        if isinstance(node, Maximum | Minimum | CeilingDivision)
        or (isinstance(node, Sum) and uses[node] > 1)
    )
    return {node: f"{STEP}.{place}" for place, node in enumerate(named, 1)}
