"""A problem as a Python module that needs nothing else: its quantities, rules, metrics, limits and
objective, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

from ithaca.exports.programs.steps import Language, formulas, steps
from ithaca.exports.templates import templates_of
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import QuantityKind, Relation


def _number(value: Fraction) -> str:
    whole = value.denominator == 1
    return str(value.numerator) if whole else f"Fraction({value.numerator}, {value.denominator})"


def _identifier(name: str) -> str:
    return name.replace(".", "_")


def _power(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}**{exponent}"


PYTHON = Language(
    symbol=_identifier,
    number=_number,
    times=" * ",
    quotient=lambda over, under: f"{over} / ({under})",
    power=_power,
    ceiling=lambda over, under: f"_ceiling({over}, {under})",
    extreme=lambda name, arguments: f"Fraction({name}({', '.join(arguments)}))",
)

#: How relations are spelled of two sides.
_RELATIONS = {
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
        limits=[(name, spell(f), _number(bound)) for name, (f, bound) in limits.items()],
        conditions=[(spell(f), _number(bound)) for f, bound in conditions],
        rules=[
            (
                f"{link.left} {link.relation.value} {link.right}",
                _RELATIONS[link.relation].format(plain(link.left), plain(link.right)),
            )
            for link in links
        ],
        objective=spell(objective),
    )


def _form(problem: Problem, expression: Expression) -> Expression:
    return expression.substitute(formulas(problem, expression.symbols))
