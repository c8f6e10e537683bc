"""Normalised objectives: ``norm(comm) - norm(comp)``, each divided by its own proven optimum."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import add

from ithaca.commands.api.live_line import note, searching
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import number
from ithaca.files.words import split_values
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.monotonicity import POSITIVE, trends
from ithaca.formulations.problem import Problem, read_objective
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.options import Budget, SolveOptions
from ithaca.studies.best import solve_best

_NORM = re.compile(r"(?<![\w.])norm\s*\(")

#: Names that stand for what is normalised while the objective is read.
_PLACE = "normalised.part"


def is_normalised(objective: object) -> bool:
    """Whether an objective's text normalises something."""
    return isinstance(objective, str) and _NORM.search(objective) is not None


#: The value and the proof of the best answer to a question with another objective, in some time.
Optimum = Callable[[str, SolveOptions], tuple[Fraction | None, Certificate]]


def of_designs(problems_of: Callable[[str], Sequence[Problem]], method: str) -> Optimum:
    """The optimum of the best of some designs, whose problems depend on the objective."""

    def optimum(objective: str, options: SolveOptions) -> tuple[Fraction | None, Certificate]:
        problems = problems_of(objective)
        names = [problem.design.name for problem in problems]
        with searching(f"norm({objective})", options, names) as (search, line):
            answer = solve_best(problems, search, method=method, report=line.show)
        return answer.value, answer.certificate

    return optimum


def normalised(text: str, optimum: Optimum, budget: Budget) -> str:
    """An objective's text in which every ``norm(x)`` is x over its least value by itself, or over
    its largest where the objective falls with it.

    Parameters
    ----------
    text : str
        The objective.
    optimum : callable
        The optimum of the question with another objective.
    budget : Budget
        The time of all searches, and of the one that follows.

    Raises
    ------
    InputError
        If the objective may do either with x, or an optimum is not proven in time, or is 0.
    """
    pieces, inner = _split(text)
    names = {each: f"{_PLACE}{place}" for place, each in enumerate(dict.fromkeys(inner))}
    objective = read_objective(_joined(pieces, inner, names), "--objective", None)
    scaled: dict[str, str] = {}
    for left, (each, name) in enumerate(names.items()):
        moves = set[int]()
        for part in objective.order:
            symbols = part.expression.symbols
            if name in symbols:
                moves.add(trends(part.expression, dict.fromkeys(symbols, POSITIVE))[Symbol(name)])
        if moves != {1} and moves != {-1}:
            raise InputError(
                f"--objective: {quoted(text)} neither grows nor falls with norm({each}) in any "
                "case; allowed: a normalised part that it does one of"
            )
        sign = moves.pop()
        alone = each if sign > 0 else f"-({each})"
        value, proof = optimum(alone, budget.share(len(names) + 1 - left))
        if proof.status is Status.INFEASIBLE:
            return _joined(pieces, inner, {part: f"({part})" for part in inner})
        if proof.status is not Status.OPTIMAL or not value:
            why = "is 0" if value == 0 else "was not proven in time"
            raise InputError(
                f"--objective: the optimum of norm({each}) {why}; allowed: one that is proven, "
                "and not 0"
            )
        least = abs(Fraction(value))
        note(f"norm({each}): over {number(least)}, its {'least' if sign > 0 else 'most'}")
        over = each if each.isidentifier() else f"({each})"
        over += f"*{least.denominator}" if least.denominator > 1 else ""
        scaled[each] = f"({over}/{least.numerator})"
    return _joined(pieces, inner, scaled)


def _joined(pieces: Sequence[str], inner: Sequence[str], texts: Mapping[str, str]) -> str:
    """The pieces with texts between them."""
    return "".join(map(add, pieces, [*(texts[each] for each in inner), ""]))


def _split(text: str) -> tuple[list[str], list[str]]:
    """The pieces around what is normalised, and what that is."""
    pieces, inner, rest = [], [], text
    while (match := _NORM.search(rest)) is not None:
        pieces.append(rest[: match.start()])
        depth, end = 1, match.end()
        while end < len(rest) and depth:
            depth += (rest[end] == "(") - (rest[end] == ")")
            end += 1
        part = rest[match.end() : end - 1].strip()
        if depth or not part or is_normalised(part) or len(split_values(part)) > 1:
            raise InputError(
                f"--objective: {quoted(text)} has a norm( that is not closed, empty, inside "
                "another, or of several; allowed: norm(EXPRESSION)"
            )
        inner.append(part)
        rest = rest[end:]
    return [*pieces, rest], inner
