"""A problem as a page of LaTeX: variables with domains, rules, limits, objective, and every formula
in steps."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ithaca.exports.programs.steps import Language, formulas, steps
from ithaca.exports.templates import templates_of
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Link, QuantityKind, Relation


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
