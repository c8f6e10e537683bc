"""Problems as programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import Expression
from ithaca.solver.tables.column import Column
from ithaca.solver.tables.program import Program

#: Signs of the least values of expressions over the rows of axes, on which a lowered form depends.
Signs = Mapping[tuple[str, Expression], float]


@dataclass(frozen=True)
class LoweredProblem:
    """A problem as programs."""

    bounds: Program
    """Computes bounds of the objective, of each constraint, and of what else was asked for, from
    column statistics."""
    values: Program
    """Computes objective and constraints from quantities."""
    limits: Floats
    """Bounds of the constraints, loosened by the rounding of floats."""
    step: Fraction
    """All objective values are multiples of it; 0 if unknown."""
    objective: Expression
    """The objective's bound over column statistics, as no rounding has touched it."""
    columns: Mapping[str, Sequence[Column]]
    """The columns whose statistics the bounds use, by axis."""

    @cached_property
    def constraints(self) -> Program:
        """Computes the bounds of the constraints alone."""
        return self.bounds.part(slice(1, None))
