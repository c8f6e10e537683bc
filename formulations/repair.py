"""The legal configurations nearest to wanted ones: one rule of repair, for genes, coordinates and
parameters alike.

Axis by axis, and in each quantity by quantity: the largest legal value that does not exceed the one
wanted, else the smallest legal one; a value is legal if some legal row has it beside those decided
before. Then rules across axes, in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Mask
from ithaca.formulations.algebra.number_systems import NUMPY, NumbersByName
from ithaca.formulations.space import Axis, Link, Quantity, QuantityKind, Rows, Space, Values

#: Rows of an axis up to which repair looks into its table; beyond, into ranges, and into the table
#: only where these do not do.
TABULATED = 1 << 17

#: Values of a quantity that are tried at once, at most.
MOST_OPTIONS = 256


class Repair:
    """Repairs configurations of a space.

    ``names`` are the quantities that are wanted, those of an axis in the order they are decided:
    the free ones, unless given. Quantities that follow from others may be among them; free ones
    that are not take their smallest value.
    """

    def __init__(self, space: Space, names: Sequence[str] | None = None) -> None:
        self.space = space
        self.names = tuple(q.name for q in space.free) if names is None else tuple(names)
        axes = (_without(axis, space.definitions.keys()) for axis in space.axes)
        self._axes = [
            _AxisRepair(axis, [n for n in self.names if n in axis.symbols])
            for axis in axes
            if axis.quantities
        ]
        self._across = self._decided_across()
        # what follows across axes may be out of its range
        self._unsure = [axis for axis in space.axes if axis.symbols & space.definitions.keys()]

    @property
    def size(self) -> float:
        """The approximate number of rows of the axes, quantities that stand alone aside."""
        return sum(axis.size for axis in self._axes)

    @cached_property
    def empty(self) -> str | None:
        """The name of an axis without legal rows, if there is one."""
        nothing = {name: np.zeros(1, dtype=np.int64) for name in self.names}
        return next(
            (axis.axis.name for axis in self._axes if not axis.nearest(nothing, 1)[1].all()), None
        )

    def bounds(self, name: str) -> tuple[int, int]:
        """Smallest and largest value of a wanted quantity in legal rows; for large axes, what its
        range tells of it."""
        return next(axis for axis in self._axes if name in axis.axis.symbols).bounds(name)

    def nearest(self, wanted: Values) -> tuple[dict[str, Values], Mask]:
        """The nearest legal configurations to wanted values of `names`, shape (names,
        configurations).

        Returns all quantities, and which configurations are legal: all, unless an axis is empty or
        rules across axes cannot be kept in this way.
        """
        count, wishes = wanted.shape[1], dict(zip(self.names, wanted, strict=True))
        values: dict[str, Any] = {}
        legal = np.ones(count, bool)
        for axis in self._axes:
            rows, fits = axis.nearest(wishes, count)
            values |= rows
            legal &= fits
        for name, links in self._across.items():
            home = self.space.axis_of[name]
            options = home.options(name)
            tried = {**values, name: options[:, None]}
            chosen, some = _pick(
                options, _all(home.legal(tried), links, tried, count), wishes[name]
            )
            values[name] = np.where(some, chosen, values[name])
        if self._unsure:
            values = {
                name: _column(value, count) for name, value in self.space.completed(values).items()
            }
        for axis_ in self._unsure:
            legal &= axis_.legal(values)
        for link in self.space.links:
            legal &= link.holds(values)
        return {name: values[name] for name in self.space.quantities}, legal

    def _decided_across(self) -> dict[str, list[Link]]:
        """The rules across axes whose last quantity stands alone, by that quantity."""
        alone = [name for name in self.names if _stands_alone(self.space.axis_of[name], name)]
        links_by_last: dict[str, list[Link]] = {}
        for link in self.space.links:
            if last := [name for name in alone if name in link.symbols][-1:]:
                links_by_last.setdefault(last[0], []).append(link)
        return {name: links_by_last[name] for name in alone if name in links_by_last}


class _AxisRepair:
    """Repairs rows of one axis.

    Those of its last quantities that stand alone are its *ports*: they are chosen among all their
    values at once, when the others, the *core*, are decided. The core comes from ranges where these
    suffice, else from the table of the core.
    """

    def __init__(self, axis: Axis, names: Sequence[str]) -> None:
        self.axis = axis
        first = len(names)
        while (
            first
            and _stands_alone(axis, names[first - 1])
            and not _linked(axis, names[first - 1], names[first:])
        ):
            first -= 1
        self._ports = {name: axis.options(name) for name in names[first:]}
        self._core = _without(axis, self._ports.keys())
        free = [quantity.name for quantity in self._core.free]
        self._keys = [*names[:first], *(name for name in free if name not in names)]
        self.size = _size(self._core)
        self._ranged = self.size > TABULATED and self._keys == free

    def bounds(self, name: str) -> tuple[int, int]:
        if self._ranged:
            low, high = self.axis.ranges[name]
            return low, 1 << high.bit_length() - 1 if _quantity(
                self.axis, name
            ).kind is QuantityKind.POWER_OF_TWO else high
        taken = self._table.taken[name] if name in self._ports else self._table.rows[name]
        return int(taken.min()), int(taken.max())

    def nearest(self, wanted: Mapping[str, Values], count: int) -> tuple[dict[str, Values], Mask]:
        """Values of all quantities, and which of them are legal: all, or none."""
        if not self._ranged:
            return self._by_table(wanted, count)
        row, legal = self._with_ports(self._by_ranges(wanted, count), wanted, count)
        # the best by fewer rules is the best by all if it keeps them
        legal &= self.axis.legal(row)
        if not legal.all():
            rest = ~legal
            repaired, legal[rest] = self._by_table(
                {name: wanted[name][rest] for name in self._wanted}, int(rest.sum())
            )
            for name, values in repaired.items():
                row[name][rest] = values
        return row, legal

    @property
    def _wanted(self) -> list[str]:
        return [*self._keys, *self._ports]

    def _by_ranges(self, wanted: Mapping[str, Values], count: int) -> dict[str, Values]:
        chosen: dict[str, Any] = {}
        for quantity in self._core.free:
            most = np.maximum(quantity.most(_followed(self._core, chosen)), quantity.low)
            value = np.clip(wanted[quantity.name], quantity.low, most)
            if quantity.kind is QuantityKind.POWER_OF_TWO:
                options = self._core.options(quantity.name)
                value = options[np.maximum(np.searchsorted(options, value, side="right") - 1, 0)]
            chosen[quantity.name] = value
        return {
            name: np.array(_column(values, count))
            for name, values in self._core.completed(chosen).items()
        }

    def _by_table(self, wanted: Mapping[str, Values], count: int) -> tuple[dict[str, Values], Mask]:
        if not self._table.count:
            return {q.name: np.full(count, q.low) for q in self.axis.quantities}, np.zeros(
                count, bool
            )
        nothing = np.zeros(count, dtype=np.int64)
        rows = self._table.nearest([wanted.get(name, nothing) for name in self._keys], count)
        return self._with_ports(rows, wanted, count)

    def _with_ports(
        self, rows: Rows, wanted: Mapping[str, Values], count: int
    ) -> tuple[dict[str, Values], Mask]:
        legal = np.ones(count, bool)
        chosen = dict(rows)
        for name, options in self._ports.items():
            chosen[name], some = _pick(
                options, self._fits(name, options[:, None], rows, count), wanted[name]
            )
            legal &= some
        return chosen, legal

    def _fits(self, name: str, option: Any, rows: Rows, count: int) -> Mask:
        """Whether values of a port are legal beside rows of the core."""
        values = {**rows, name: option}
        links = [link for link in self.axis.links if name in link.symbols]
        return _all(_quantity(self.axis, name).allows(values), links, values, count)

    @cached_property
    def _table(self) -> _RowTable:
        """The rows of the core beside which every port has a legal value."""
        rows = self._core.table()
        count = next(iter(rows.values())).size if rows else 1
        keep = np.ones(count, bool)
        taken = {}
        for name, options in self._ports.items():
            # one option at a time: large axes have many rows
            fits = np.zeros(count, bool)
            reached = []
            for option in options:
                legal = self._fits(name, option, rows, count)
                reached.append(legal.any())
                fits |= legal.reshape(-1)
            keep &= fits
            taken[name] = options[np.array(reached, bool)]
        return _RowTable(
            {name: column[keep] for name, column in rows.items()},
            int(keep.sum()),
            self._keys,
            taken,
        )


class _RowTable:
    """Rows, searched key by key: keys are the quantities that tell them apart, ``taken`` what ports
    take beside them."""

    def __init__(
        self, rows: Rows, count: int, keys: Sequence[str], taken: Mapping[str, Values]
    ) -> None:
        order = np.lexsort([rows[name] for name in reversed(keys)]) if keys else np.arange(count)
        self.rows: Rows = {name: column[order] for name, column in rows.items()}
        self.count, self.taken = count, taken
        self._radix = max((int(self.rows[name].max(initial=0)) for name in keys), default=0) + 1
        self._steps: list[tuple[Values, Values]] = []
        self._starts = np.zeros(1, dtype=np.int64)
        group = np.zeros(count, dtype=np.int64)
        for name in keys:
            key = group * self._radix + self.rows[name]
            new = np.concatenate([[True], key[1:] != key[:-1]])[:count]
            self._starts = np.flatnonzero(new)
            codes = key[self._starts]
            first = np.searchsorted(codes, np.arange(int(group.max(initial=0)) + 1) * self._radix)
            self._steps.append((codes, first))
            group = np.cumsum(new) - 1

    def nearest(self, wanted: Sequence[Values], count: int) -> dict[str, Values]:
        """The row that the rule picks for each of ``count`` wishes, one array per key."""
        group = np.zeros(count, dtype=np.int64)
        for (codes, first), values in zip(self._steps, wanted, strict=True):
            key = group * self._radix + np.clip(values, 0, self._radix - 1)
            group = np.maximum(np.searchsorted(codes, key, side="right") - 1, first[group])
        place = self._starts[group]
        return {name: column[place] for name, column in self.rows.items()}


def _pick(options: Values, legal: Mask, wanted: Values) -> tuple[Values, Mask]:
    """The legal option that the rule picks of ascending ones, and whether there is one; ``legal``
    is (options, wishes)."""
    below = legal & (options[:, None] <= wanted)
    last = len(options) - 1 - below[::-1].argmax(axis=0)
    some: Mask = np.asarray(legal.any(axis=0))
    return options[np.where(below.any(axis=0), last, legal.argmax(axis=0))], some


def _all(legal: Any, links: Sequence[Link], values: NumbersByName, count: int) -> Mask:
    """Whether values are legal and keep some rules, shape (options, wishes)."""
    for link in links:
        legal = legal & link.holds(values)
    options = np.shape(legal)[0] if np.ndim(legal) == 2 else 1
    return np.broadcast_to(legal, (options, count))


def _column(values: Any, count: int) -> Values:
    return np.broadcast_to(np.asarray(values, dtype=np.int64), (count,))


def _quantity(axis: Axis, name: str) -> Quantity:
    return next(quantity for quantity in axis.quantities if quantity.name == name)


def _stands_alone(axis: Axis, name: str) -> bool:
    """Whether a quantity may be chosen, nothing follows from it, no range depends on it, and it has
    few values."""
    quantity = _quantity(axis, name)
    follows = any(name in expression.symbols for expression in axis.definitions.values())
    bounds = any(not isinstance(q.high, int) and name in q.high.symbols for q in axis.quantities)
    low, high = axis.ranges[name]
    few = quantity.kind is QuantityKind.POWER_OF_TWO or high - low < MOST_OPTIONS
    return few and quantity in axis.free and not follows and not bounds


def _linked(axis: Axis, name: str, others: Sequence[str]) -> bool:
    return any(name in link.symbols and link.symbols.intersection(others) for link in axis.links)


def _without(axis: Axis, names: AbstractSet[str]) -> Axis:
    """An axis without some quantities, what follows from them, and the rules about either."""
    gone = set(names) & axis.symbols
    while more := {n for n, e in axis.definitions.items() if n not in gone and e.symbols & gone}:
        gone |= more
    if not gone:
        return axis
    links = tuple(link for link in axis.links if not link.symbols & gone)
    return Axis(axis.name, tuple(q for q in axis.quantities if q.name not in gone), links)


def _followed(axis: Axis, values: NumbersByName) -> dict[str, Any]:
    """Values with those that follow from them by now."""
    known = dict(values)
    for quantity in axis.quantities:
        expression = axis.definitions.get(quantity.name)
        if (
            expression is not None
            and quantity.name not in known
            and expression.symbols <= known.keys()
        ):
            known[quantity.name] = expression.evaluate(known, NUMPY)
    return known


def _size(axis: Axis) -> float:
    """The approximate number of rows of an axis, by ranges alone: exact if only the range of its
    second quantity depends on the first."""
    values: dict[str, Any] = {}
    count: Any = 1.0
    for quantity in axis.free:
        if not values:
            values[quantity.name] = axis.options(quantity.name)
            count = np.ones(values[quantity.name].size)
            continue
        most = np.maximum(quantity.most(_followed(axis, values)), quantity.low)
        options = (
            np.log2(most / quantity.low)
            if quantity.kind is QuantityKind.POWER_OF_TWO
            else most - quantity.low
        )
        count = count * (options + 1)
        values[quantity.name] = most
    return float(np.sum(count))
