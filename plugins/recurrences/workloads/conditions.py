"""Conditions of statements in C: comparisons of affine sums of loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from ithaca.files.messages import quoted, refuse
from ithaca.plugins.recurrences.workloads.c.syntax import Linear, linear, source_of
from ithaca.plugins.recurrences.workloads.sums import Point
from ithaca.workloads.affine import Affine

#: Comparisons, each with its opposite.
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, eq=False)
class Condition:
    """A sum of loops compared with 0."""

    sum: Linear
    sign: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def holds(self, at: Mapping[str, int]) -> bool:
        """Whether it holds in an iteration."""
        value = sum(c * at[name] if name else c for name, c in self.sum.items())
        return {
            "==": value == 0,
            "!=": value != 0,
            "<": value < 0,
            "<=": value <= 0,
            ">": value > 0,
            ">=": value >= 0,
        }[self.sign]

    @property
    def text(self) -> str:
        """The condition as files of recurrences state it: what is added on the left."""
        terms = [(name, c) for name, c in self.sum.items() if name and c]
        more = tuple((name, c) for name, c in terms if c > 0)
        less = tuple((name, -c) for name, c in terms if c < 0)
        constant = self.sum.get("", 0)
        left = Affine(more, max(constant, 0) if more else 0)
        right = Affine(less, -min(constant, 0) if more else -constant)
        return f"{left} {self.sign} {right}"

    def settled(self, names: Sequence[str], points: Sequence[Point], where: str) -> Condition:
        """The condition without ``!=``, which recurrences do not have: one side is larger in all
        iterations.

        Parameters
        ----------
        names : sequence of str
            The loops.
        points : sequence of tuple of int
            All iterations.
        where : str
            What error lines begin with.

        Raises
        ------
        InputError
            If either side may be larger.
        """
        if self.sign != "!=":
            return self
        for sign, never in ((">", "<"), ("<", ">")):
            beyond = Condition(self.sum, never)
            if not any(beyond.holds(dict(zip(names, p, strict=True))) for p in points):
                return Condition(self.sum, sign)
        raise refuse(where, f"{quoted(self.text)} holds on both sides; allowed: on one")


def holding(conditions: Iterable[Condition], at: Mapping[str, int]) -> bool:
    """Whether all conditions hold in an iteration."""
    return all(each.holds(at) for each in conditions)


def conditions_of(
    tests: Sequence[Any], constants: Mapping[str, int], loops: Mapping[str, Any], where: str
) -> list[Condition]:
    """The comparisons that all hold where a statement runs.

    Parameters
    ----------
    tests : sequence of object
        Conditions around it, as syntax trees.
    constants : mapping of str to int
        Values by name.
    loops : mapping of str to object
        The loops by name.
    where : str
        What error lines begin with.

    Raises
    ------
    InputError
        If one is no comparison, or joined by anything but ``&&``.
    """

    def read(node: Any, *, negated: bool) -> list[Condition]:
        match node:
            case c_ast.UnaryOp(op="!", expr=part):
                return read(part, negated=not negated)
            case c_ast.BinaryOp(op="&&" | "||" as sign) if (sign == "&&") != negated:
                return [*read(node.left, negated=negated), *read(node.right, negated=negated)]
            case c_ast.BinaryOp(op=sign, left=left, right=right) if sign in _OPPOSITE:
                one, other = (linear(side, constants, loops, where) for side in (left, right))
                names = dict.fromkeys((*one, *other))
                form = {name: one.get(name, 0) - other.get(name, 0) for name in names}
                return [Condition(form, _OPPOSITE[sign] if negated else sign)]
        raise refuse(
            where,
            f"it depends on {quoted(source_of(node))}; allowed: comparisons of sums of loops, "
            "joined by &&",
        )

    return [each for test in tests for each in read(test, negated=False)]
