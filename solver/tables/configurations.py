"""Evaluate the configurations of a table directly, thousands at a time.

The program that bounds boxes can value single configurations, too, but it is many times as long: it
regroups every product by axis. Local search needs values only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.space import Link, Relation, Space
from ithaca.solver.tables.program import Program, Sources
from ithaca.solver.tables.table import CandidateTable

Rows = NDArray[np.signedinteger]


@dataclass(frozen=True)
class Configurations:
    """Objective and excess of configurations given as rows of the tables.

    The excess is by how much they exceed limits and break rules across axes, relative to these, in
    all; 0 where all hold. What such rules define is computed, whatever row of its own axis is
    given.
    """

    program: Program
    """Computes the objective, then every constraint's expression."""
    quantities: Mapping[str, tuple[int, Floats]]
    """For each symbol of the program, and of rules across axes, its axis, and its value on each row
    of the axis' table."""
    limits: Floats
    """Bounds of the constraints."""
    space: Space
    """Has the rules."""

    @cached_property
    def _sources(self) -> Sources:
        """The values of the program's symbols, but for those that rules define."""
        return Sources(self.quantities[name] for name in self.program.symbols)

    def rows(self, rows: Rows) -> tuple[Floats, Floats]:
        """Objective and excess of configurations, ``rows`` of shape (axes, configurations)."""
        count = rows.shape[1]
        excess, own = np.zeros(count), self._sources
        if self.space.entangled:
            sources = dict(self.quantities)
            values: dict[str, Any] = {name: own.take(rows[a]) for name, (a, own) in sources.items()}
            for name, expression in self.space.definitions.items():
                values[name] = expression.evaluate(values, NUMPY)
                quantity = self.space.quantities[name]
                excess += np.maximum(values[name] / quantity.most(values) - 1, 0) + np.maximum(
                    quantity.low / values[name] - 1, 0
                )
                sources[name] = len(rows), np.broadcast_to(values[name], (count,))
            rows = np.concatenate([rows, [np.arange(count)]])
            for link in self.space.links:
                if link.relation is not Relation.AT_MOST:  # the program has the inequalities
                    excess += _strain(link, values)
            own = Sources(sources[name] for name in self.program.symbols)
        objective, *used = self.program.gather(own, rows)
        for value, limit in zip(used, self.limits, strict=True):
            excess += np.maximum(value - limit, 0) / max(abs(float(limit)), 1.0)
        return np.broadcast_to(objective, (count,)), excess

    def line(self, rows: Sequence[int], axis: int, count: int) -> tuple[Floats, Floats]:
        """Objective and excess of configurations that differ in one axis only: all its rows, one of
        each other.

        Parameters
        ----------
        rows : sequence of int
            A row of every axis; that of ``axis`` is not looked at.
        axis : int
            The number of the axis whose rows differ.
        count : int
            How many rows that has.

        Returns
        -------
        tuple of Floats
            Objectives, and excess over the limits, shape (count) each.
        """
        boxes = np.repeat(np.array(rows)[:, None], count, axis=1)
        boxes[axis] = np.arange(count)
        return self.rows(boxes)


def _strain(link: Link, values: Mapping[str, Any]) -> Any:
    """The amount by which values break a rule, relative to its sides; 0 where it holds."""
    left, right = link.left.evaluate(values, NUMPY), link.right.evaluate(values, NUMPY)
    if link.relation is Relation.DIVIDES:
        return right % left / left
    return np.abs(left - right) / np.maximum(np.abs(right), 1.0)


def configuration_of(
    space: Space, tables: Sequence[CandidateTable], rows: Sequence[int]
) -> Configuration:
    """The configuration of one row per axis; what rules across axes define follows from the
    others.

    Parameters
    ----------
    space : Space
        The design space.
    tables : sequence of CandidateTable
        The rows of its axes.
    rows : sequence of int
        One row of each.
    """
    values: dict[str, int] = {}
    for table, row in zip(tables, rows, strict=True):
        values |= table.row(row)
    return (
        space.configuration({q.name: values[q.name] for q in space.free})
        if space.definitions
        else Configuration(values)
    )


def exact_quantities(
    space: Space, tables: Sequence[CandidateTable], rows: NDArray[np.signedinteger]
) -> dict[str, Rationals]:
    """The quantities of many configurations in exact arithmetic; what rules across axes define
    follows from the others.

    Parameters
    ----------
    space : Space
        The design space.
    tables : sequence of CandidateTable
        The rows of its axes.
    rows : NDArray[np.signedinteger]
        A row of each table, shape (axes, configurations).
    """
    exact = {
        name: Rationals(values[own].astype(object))
        for table, own in zip(tables, rows, strict=True)
        for name, values in table.rows.items()
    }
    for name, expression in space.definitions.items():
        exact[name] = expression.evaluate(exact, RATIONAL_ARRAYS)
    return exact


def configurations_of(
    program: Program, space: Space, tables: Sequence[CandidateTable], limits: Floats
) -> Configurations:
    """The configurations of some tables, with the program that values them.

    Parameters
    ----------
    program : Program
        Computes objective and constraints of configurations.
    space : Space
        The design space.
    tables : sequence of CandidateTable
        The rows of its axes, which may be part of them.
    limits : Floats
        What the constraints must not exceed, shape (constraints).
    """
    axis_of = {name: number for number, table in enumerate(tables) for name in table.rows}
    named = dict.fromkeys((*program.symbols, *sorted(space.entangled)))
    quantities = {
        name: (axis_of[name], tables[axis_of[name]].rows[name].astype(np.float64)) for name in named
    }
    return Configurations(program, quantities, limits, space)
