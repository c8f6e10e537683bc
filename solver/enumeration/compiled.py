"""Programs of bounds over the columns of a space, shared by the problems that speak of the same
expressions, whichever of them is the objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ithaca.formulations.algebra.expression import Expression, Maximum
from ithaca.formulations.remembered import latest, remembered
from ithaca.formulations.space import Space
from ithaca.solver.enumeration.spans import Columns, Compiler, Program, Reach, Regrouped


@dataclass(frozen=True)
class Compiled:
    """Columns of all axes, and programs over them."""

    columns: tuple[Columns, ...]
    """The columns of each axis."""
    regrouped: Callable[[Expression], Expression]
    """Gives expressions over quantities as ones over columns."""
    reaches: Mapping[str, Reach]
    """The range of each column."""

    @remembered
    def program(self, expression: Expression) -> Program:
        """The program for the lower end of one of the expressions, over quantities."""
        forms = tuple(map(self.regrouped, _parts(expression)))
        form = forms[0] if len(forms) == 1 else Maximum(forms)
        return Compiler(self.reaches).program((form, False))


def compiled(space: Space, expressions: Sequence[Expression]) -> Compiled:
    """The programs of expressions over quantities of a space, once for all its problems."""
    # a limit on what is largest is one on each, an objective is not
    parts = dict.fromkeys(part for each in expressions for part in _parts(each))
    return latest(space, ("columns", frozenset(parts)), lambda: _compiled(space, [*parts]))


def _compiled(space: Space, parts: Sequence[Expression]) -> Compiled:
    regrouped = Regrouped(space)
    for part in parts:
        regrouped(part)
    axes = zip(space.axes, regrouped.columns, strict=True)
    columns = tuple(Columns.of(axis, own) for axis, own in axes)
    reaches = {name: reach for each in columns for name, reach in each.reaches.items()}
    return Compiled(columns, regrouped, reaches)


def _parts(expression: Expression) -> tuple[Expression, ...]:
    return expression.arguments if isinstance(expression, Maximum) else (expression,)
