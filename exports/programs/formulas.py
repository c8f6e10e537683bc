"""A problem as formulas: a page of LaTeX, and a Python module that needs nothing else.

Formulas are in steps: what stands in several places, or is no polynomial, gets a name first. The
page has variables with domains, rules, limits, objective and every formula; the module has the same
in exact fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.exports.templates import templates_of
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
from ithaca.formulations.space import Link, QuantityKind, Relation

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


def _symbol(name: str) -> str:
    kind, _, owner = (part.replace("_", r"\_") for part in name.partition("."))
    letter = kind if len(kind) == 1 else rf"\mathrm{{{kind}}}"
    return rf"{letter}_{{\mathrm{{{owner}}}}}" if owner else letter


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"


LATEX = Language(
    symbol=_symbol,
    number=_number,
    times=r" \, ",
    quotient=lambda over, under: rf"\frac{{{over}}}{{{under}}}",
    power=lambda base, exponent: base if exponent == 1 else f"{base}^{{{exponent}}}",
    ceiling=lambda over, under: rf"\left\lceil \frac{{{over}}}{{{under}}} \right\rceil",
    extreme=lambda name, arguments: rf"\{name}\left( {', '.join(arguments)} \right)",
)

_RELATIONS = {Relation.AT_MOST: r"\le", Relation.EQUAL: "=", Relation.DIVIDES: r"\mid"}


def latex_text(problem: Problem) -> str:
    """The page, a document of its own."""
    design, space = problem.design, problem.space
    used = [name for name in problem.used_metrics if name in design.vocabulary]
    metrics = formulas(problem, sorted(used))
    names = steps(metrics.values())

    def spell(node: Expression, *, top: bool = False) -> str:
        return LATEX.text(node, names, top=top)

    def rule(link: Link) -> str:
        left, right = (LATEX.text(side, {}) for side in (link.left, link.right))
        return f"{left} {_RELATIONS[link.relation]} {right}"

    def domains() -> Iterator[str]:
        for q in space.quantities.values():
            low, high = space.ranges[q.name]
            numbers = f"{low}, \\dots, {high}"
            if q.kind is QuantityKind.POWER_OF_TWO:
                numbers = ", ".join(str(1 << n) for n in range(high.bit_length()) if 1 << n >= low)
            yield rf"{_symbol(q.name)} \in \{{{numbers}\}}"

    links = [link for axis in space.axes for link in axis.links] + [*space.links]
    limits = [
        rf"{LATEX.text(limit.expression, {})} \le {_number(limit.bound)}"
        for limit in problem.limits
    ]
    limits += [rf"{spell(f)} \le {_number(b)}" for f, b in problem.symbolic().conditions]
    return templates_of("ithaca.exports")(
        "programs/model.tex.txt",
        design=_escaped(design.name),
        objective=LATEX.text(problem.objective.expression, {}),
        domains=[*domains()],
        rules=[rule(link) for link in links],
        limits=limits,
        steps=[(_symbol(name), spell(node, top=True)) for node, name in names.items()],
        metrics=[(_symbol(name), spell(node)) for name, node in metrics.items()],
    )


def _escaped(text: str) -> str:
    return text.replace("_", r"\_")


def _exact(value: Fraction) -> str:
    whole = value.denominator == 1
    return str(value.numerator) if whole else f"Fraction({value.numerator}, {value.denominator})"


def _identifier(name: str) -> str:
    return name.replace(".", "_")


def _power(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}**{exponent}"


PYTHON = Language(
    symbol=_identifier,
    number=_exact,
    times=" * ",
    quotient=lambda over, under: f"{over} / ({under})",
    power=_power,
    ceiling=lambda over, under: f"_ceiling({over}, {under})",
    extreme=lambda name, arguments: f"Fraction({name}({', '.join(arguments)}))",
)

#: How relations are spelled of two sides.
_CONDITIONS = {
    Relation.AT_MOST: "{0} <= {1}",
    Relation.EQUAL: "{0} == {1}",
    Relation.DIVIDES: "({1}) % ({0}) == 0",
}


def functions_text(problem: Problem) -> str:
    """The module."""
    design, space = problem.design, problem.space
    metrics = formulas(problem, [*design.vocabulary])
    limits = {
        limit.metric: (_form(problem, limit.expression), limit.bound) for limit in problem.limits
    }
    objective = _form(problem, problem.objective.expression)
    conditions = problem.symbolic().conditions
    names = steps([*metrics.values(), *(f for f, _ in limits.values()), objective])
    names |= {f: f"y.{n}" for n, (f, _) in enumerate(conditions) if f not in names}
    links = [link for axis in space.axes for link in axis.links] + [*space.links]

    def spell(node: Expression, *, top: bool = False) -> str:
        return PYTHON.text(node, names, top=top)

    def plain(node: Expression) -> str:
        return PYTHON.text(node, {})

    kinds = {QuantityKind.INTEGER: 1, QuantityKind.POWER_OF_TWO: 2}
    return templates_of("ithaca.exports")(
        "programs/functions.py.txt",
        design=design.name,
        nest=str(problem.design),
        text=problem.objective.text,
        quantities=[
            (q.name, _identifier(q.name), q.low, space.ranges[q.name][1], kinds[q.kind] == 2)
            for q in space.quantities.values()
        ],
        steps=[(PYTHON.symbol(name), spell(node, top=True)) for node, name in names.items()],
        metrics=[(name, spell(node)) for name, node in metrics.items()],
        limits=[(name, spell(f), _exact(bound)) for name, (f, bound) in limits.items()],
        conditions=[(spell(f), _exact(bound)) for f, bound in conditions],
        rules=[
            (
                f"{link.left} {link.relation.value} {link.right}",
                _CONDITIONS[link.relation].format(plain(link.left), plain(link.right)),
            )
            for link in links
        ],
        objective=spell(objective),
    )


def _form(problem: Problem, expression: Expression) -> Expression:
    return expression.substitute(formulas(problem, expression.symbols))
