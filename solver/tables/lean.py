"""Rows of a loop that waste nothing, where columns prove that no other is worth its while.

A loop is cut into tiles by two factors (`ithaca.formulations.cut`). Whether one of them may always
be the least for its number of tiles is read off the columns: each must prefer less of it, alone and
in the size of a tile, and the rules of the axis must let it be less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isqrt

import numpy as np

from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    Minimum,
    Product,
    Symbol,
    walk,
)
from ithaca.formulations.algebra.monotonicity import never_falls
from ithaca.formulations.cut import Cut
from ithaca.formulations.space import Axis, Link, QuantityKind, Relation, Role, Rows, Sieve
from ithaca.solver.tables.column import Column


@dataclass(frozen=True)
class Lean:
    """A way to leave rows of an axis out that others are never worse than."""

    axis: Axis
    """The axis."""
    cut: Cut
    """Its loop."""
    factors: tuple[str, ...]
    """The factors that may be the least: one or both."""
    widths: tuple[int, ...]
    """Powers of two that rules may want tiles, or a factor, to be multiples of."""
    keep: int
    """Values of the inner factor up to which columns prefer more of it, too; 0: none."""

    def rows(self, left: Sieve | None = None) -> Iterator[Rows]:
        """The rows that are left, also by a sieve, in chunks (at least one, perhaps empty)."""
        axis, cut = self.axis, self.cut
        for factor in self.factors:
            fixed = axis.options(cut.other(factor))
            if len(self.factors) > 1:  # one of both is no larger than the root of their product
                fixed = fixed[fixed <= isqrt(self._most)]
            keep = self.keep if factor == cut.inner else 0
            for first, second in cut.least(fixed, self._most, self.widths, keep):
                pairs = {cut.other(factor): first, factor: second}
                if len(self.factors) > 1:
                    spare = cut.wasteful(pairs[cut.inner], pairs[cut.outer], self.widths, self.keep)
                    pairs = {name: values[~spare] for name, values in pairs.items()}
                yield from self._extended(pairs, left)

    def like(self, rows: Rows, left: Sieve | None = None) -> Iterator[Rows]:
        """All rows that some of those that are left stand for, and perhaps more, in chunks: with as
        many tiles, and where one factor alone is the least, with the same other; or those of them
        that a sieve leaves."""
        cut, factor = self.cut, self.factors[-1]
        other = cut.other(factor)
        if len(self.factors) > 1:
            pairs = cut.counted(self.axis.options(other), rows[cut.count], self._most)
        else:
            fixed, count = np.unique(np.stack([rows[other], rows[cut.count]]), axis=1)
            pairs = cut.like(fixed, count, self._most)
        for first, second in pairs:
            yield from self._extended({other: first, factor: second}, left)

    @property
    def _most(self) -> int:
        return self.axis.ranges[self.cut.size][1]

    def _extended(self, pairs: Rows, left: Sieve | None) -> Iterator[Rows]:
        """The rows with some pairs of factors."""
        axis, cut = self.axis, self.cut
        order = np.lexsort((pairs[cut.outer], pairs[cut.inner]))
        rows = {q.name: pairs[q.name][order] for q in axis.quantities[:2]}
        legal = np.ones(order.size, bool)
        for quantity in axis.quantities[:2]:
            legal &= quantity.allows(rows)
        for link in axis.links:
            if link.symbols <= rows.keys():
                legal &= link.holds(rows)
        rows = {name: values[legal] for name, values in rows.items()}
        yield from axis.extended(rows, left)


def lean(axis: Axis, columns: Sequence[Column]) -> Lean | None:
    """The way to leave out rows of an axis that waste something by all columns; None where columns
    or rules do not prove that they do."""
    cut = axis.cut
    if cut is None:
        return None
    keep = max((_kept(column, cut) for column in columns), default=0)
    factors = tuple(
        name
        for name in _factors(axis)
        if all(
            (name == cut.inner and _kept(column, cut)) or _prefers(column, name, cut.size)
            for column in columns
        )
    )
    if not factors:
        return None
    packed = (
        str(link.left)
        for link in axis.links
        if any(_packs(link, axis, cut, name) for name in factors)
    )
    widest = max((axis.powers[name] for name in packed), default=1)
    widths = tuple(1 << power for power in range(widest.bit_length()))
    return Lean(axis, cut, factors, widths, keep)


def lessened(axis: Axis) -> frozenset[str]:
    """The quantities of an axis of which less may do as far as its rules go: factors of tiles, and
    with them their sizes."""
    names = _factors(axis)
    return frozenset((*names, axis.cut.size)) if axis.cut is not None and names else frozenset()


def _factors(axis: Axis) -> tuple[str, ...]:
    """The factors of tiles that the rules of an axis let be less."""
    cut = axis.cut
    if cut is None or {q.name for q in axis.quantities[:2]} != {cut.inner, cut.outer}:
        return ()
    return tuple(
        name
        for name in (cut.inner, cut.outer)
        if _free(axis, name) and all(_allows(link, axis, cut, name) for link in axis.links)
    )


def _free(axis: Axis, name: str) -> bool:
    """Whether a factor is a choice among all integers of its range that no hardware shares, and
    those after it may be as many for less of it."""
    quantity = next(q for q in axis.quantities if q.name == name)
    highs = (q.high for q in axis.quantities if isinstance(q.high, Expression))
    return (
        quantity.role is Role.MAPPING
        and quantity.kind is QuantityKind.INTEGER
        and not quantity.values
        and quantity.low == 1
        and all(never_falls(high, frozenset((name,)), -1) for high in highs)
    )


def _allows(link: Link, axis: Axis, cut: Cut, name: str) -> bool:
    """Whether a rule that a cut of the loop keeps is kept by one of less of a factor, and as many
    tiles of the same width."""
    if link.defined in (cut.size, cut.count) or not link.symbols & {name, cut.size}:
        return True
    if link.relation is Relation.AT_MOST:
        names = frozenset((name, cut.size))
        return never_falls(link.left, names) and never_falls(link.right, names, -1)
    return _packs(link, axis, cut, name)


def _packs(link: Link, axis: Axis, cut: Cut, name: str) -> bool:
    """Whether a rule is that a power of two divides a factor or the size of a tile, or a multiple
    of one of them that does not depend on both."""
    if link.relation is not Relation.DIVIDES or str(link.left) not in axis.powers:
        return False
    factors = link.right.factors if isinstance(link.right, Product) else ((link.right, 1),)
    whole = not isinstance(link.right, Product) or link.right.coefficient.denominator == 1
    return (
        whole
        and all(isinstance(base, Symbol) and exponent == 1 for base, exponent in factors)
        and len(link.right.symbols & {name, cut.size}) == 1
        and (cut.size not in link.right.symbols or cut.other(name) not in link.right.symbols)
    )


def _kept(column: Column, cut: Cut) -> int:
    """The value of the inner factor from which on a column takes no more notice of it: least values
    of it and of numbers are all that the column knows; 0 for all other columns."""
    node, factor = column.expression, Symbol(cut.inner)
    capped = [part for part in walk(node) if isinstance(part, Minimum) and factor in part.arguments]
    caps = [n.value for part in capped for n in part.arguments if isinstance(n, Constant)]
    if len(caps) != len(capped) or any(len(part.arguments) > 2 for part in capped):
        return 0
    if not _knows(node, {cut.inner, cut.size}, frozenset(capped)):
        return max((ceil(cap) for cap in caps), default=0)
    return 0


def _knows(node: Expression, names: set[str], closed: frozenset[Expression]) -> bool:
    """Whether an expression knows quantities beside what some of its parts tell it."""
    if node in closed:
        return False
    if isinstance(node, Symbol):
        return node.name in names
    return any(_knows(child, names, closed) for child in node.children)


def _prefers(column: Column, *names: str) -> bool:
    """Whether a column, as bounds use it, is never worse for less of quantities."""
    return (not column.low or never_falls(column.expression, frozenset(names))) and (
        not column.high or never_falls(column.expression, frozenset(names), -1)
    )
