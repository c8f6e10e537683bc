"""Evaluate the configurations of a table directly, thousands at a time.

The program that bounds boxes can value single configurations, too, but it is many times as long: it regroups
every product by axis. Local search needs values only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ithaca.solver.tables.program import Program
from ithaca.solver.tables.table import Table

Rows = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Configurations:
    """Objective and limits of configurations given as rows of the tables.

    Attributes
    ----------
    program : Program
        Computes the objective, then every constraint's expression.
    quantities : tuple of (int, array)
        For each symbol of the program its axis, and its value on each row of the axis' table.
    limits : array, shape (constraints,)
        Bounds of the constraints.
    """

    program: Program
    quantities: tuple[tuple[int, Floats], ...]
    limits: Floats

    def rows(self, rows: Rows) -> tuple[Floats, Floats]:
        """Objective and excess of configurations.

        Parameters
        ----------
        rows : array, shape (axes, configurations)
            Row of each axis' table.

        Returns
        -------
        objective : array, shape (configurations,)
        excess : array, shape (configurations,)
            By how much limits are exceeded, relative to them, in all; 0 where all hold.
        """
        return self._run([values.take(rows[axis]) for axis, values in self.quantities], rows.shape[1])

    def line(self, rows: Sequence[int], axis: int, count: int) -> tuple[Floats, Floats]:
        """The same for configurations that differ in one axis only: all its rows, one of each other."""
        return self._run([values if a == axis else values[rows[a]] for a, values in self.quantities], count)

    def _run(self, loaded: Sequence[Floats], count: int) -> tuple[Floats, Floats]:
        objective, *used = self.program.run(loaded)
        excess = np.zeros(count)
        for value, limit in zip(used, self.limits, strict=True):
            excess += np.maximum(value - limit, 0) / max(abs(float(limit)), 1.0)
        return np.broadcast_to(objective, (count,)), excess


def configurations_of(program: Program, tables: Sequence[Table], limits: Floats) -> Configurations:
    """The configurations of some tables, with the program that values them."""
    axis_of = {name: number for number, table in enumerate(tables) for name in table.rows}
    quantities = ((axis_of[name], tables[axis_of[name]].rows[name].astype(np.float64)) for name in program.symbols)
    return Configurations(program, tuple(quantities), limits)
