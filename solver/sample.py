"""Configurations drawn from a space: some that meet limits are mostly among them, so that no search
need look for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.space import Axis, Rows

#: Configurations drawn, and how many of those with the least values are tried exactly.
COUNT, TRIES = 8192, 3

Integers = NDArray[np.int64]


class Sample:
    """Configurations drawn from the space of a problem, always the same ones.

    Half of them have powers of two alone where rows of an axis do, the others any rows.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def least(
        self, limit: Limit | None, limits: Sequence[Limit]
    ) -> tuple[Configuration, Fraction] | None:
        """The configuration that takes up least of a limit among those that meet other limits, with
        how much that is, exactly; None where none is known.

        Parameters
        ----------
        limit : Limit or None
            The limit; None: any configuration will do.
        limits : Sequence of Limit
            The other limits, which are of the problem, too.
        """
        if self._columns is None or self._numbers is None:
            return None
        used, meets = self._numbers
        for other in limits:
            meets = meets & (used[other] <= float(other.bound))
        (places,) = np.nonzero(meets)
        if limit is not None:
            places = places[np.argsort(used[limit][places], kind="stable")]
        problem = replace(self._problem, limits=tuple(limits))
        for place in places[:TRIES]:
            point = Configuration({n: int(x[place]) for n, x in self._columns.items()})
            if problem.feasible_value(point) is not None:
                metrics = problem.metrics(point)
                return point, Fraction(0) if limit is None else limit.used(metrics)
        return None

    @property
    def size(self) -> int:
        """About how many configurations there are, other rules than those of axes aside."""
        return prod(next(iter(rows.values())).size for rows in self._rows)

    @cached_property
    def _rows(self) -> list[Rows]:
        """Rows of every axis, the first of them where they are many."""
        return [next(axis.rows()) for axis in self._problem.space.axes]

    @cached_property
    def _columns(self) -> dict[str, Integers] | None:
        """Values by quantity; None where some axis has no rows."""
        generator, space = np.random.default_rng(0), self._problem.space
        columns: dict[str, Integers] = {}
        for axis, rows in zip(space.axes, self._rows, strict=True):
            choices = _choices(axis, rows, generator)
            if choices is None:
                return None
            columns |= {name: values[choices] for name, values in rows.items()}
        return {name: columns[name] for name in space.quantities}

    @cached_property
    def _numbers(self) -> tuple[dict[Limit, Any], Any] | None:
        """Shares of limits in use, and a mask of legal configurations; None where floats do not
        tell."""
        problem, columns = self._problem, self._columns
        assert columns is not None
        legal: Any = np.ones(COUNT, bool)
        try:
            with np.errstate(all="ignore"):
                for link in problem.space.links:
                    legal = legal & link.holds(columns)
                for taken, bound in problem.design.conditions(columns, NUMPY):
                    legal = legal & (taken <= bound)
                metrics = problem.design.lookup(columns, NUMPY, problem.used_metrics)
                used = {
                    limit: np.broadcast_to(limit.expression.evaluate(metrics, NUMPY), COUNT)
                    for limit in problem.limits
                }
        except (InputError, ArithmeticError):
            return None
        return used, legal


def _choices(axis: Axis, rows: Rows, generator: np.random.Generator) -> Integers | None:
    """Numbers of rows drawn from an axis; None where it has none."""
    size = next(iter(rows.values())).size
    if not size:
        return None
    chosen = generator.integers(size, size=COUNT)
    free = [rows[quantity.name] for quantity in axis.free]
    (rounded,) = np.nonzero(np.logical_and.reduce([x & (x - 1) == 0 for x in free], initial=True))
    if rounded.size and free:
        half = COUNT // 2
        chosen[:half] = rounded[generator.integers(rounded.size, size=half)]
    return chosen
