"""The space of a design: which configurations are legal. Stated once, here, for every engine.

A design names its *quantities* and groups them in *axes*: what one choice fixes together. The rules
are *links* between expressions over quantities. A link within one axis decides about that axis'
rows; one across axes decides about points. An equality ``quantity = expression`` makes a quantity
*derived*: it follows from the others and is no choice. From quantities, axes and links alone follow
rows, membership, ranges, random points and repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import (
    FRACTION,
    INTERVAL,
    NUMPY,
    NumbersByName,
    NumberSystem,
    exactly,
)
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.cut import Cut, counted_up
from ithaca.formulations.remembered import latest

Values = Integers

#: Rows of an axis by quantity: integer columns of equal length.
Rows = dict[str, Values]

#: What leaves out rows of the first quantities that are not worth extending.
Sieve = Callable[[Rows], Rows]

#: Rows generated at once; bounds the memory of large axes.
CHUNK_ROWS = 1 << 20


class QuantityKind(Enum):
    """The kind of integers that a quantity may take."""

    INTEGER = "integer"
    """Every integer of its range."""
    POWER_OF_TWO = "power of two"
    """The powers of two of its range."""


class Role(Enum):
    """The role of a quantity in a design."""

    MAPPING = "mapping"
    """How the work is laid out: every workload chooses its own."""
    HARDWARE = "hardware"
    """A quantity of what is built: workloads that share hardware share its value."""
    PORT = "port"
    """Hardware, too, but of the second rank: a width that may be chosen once the rest is."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An integer that describes a configuration."""

    name: str
    """Its name, unique in the space."""
    low: int
    """Its smallest value, at least 1."""
    high: int | Expression
    """Its largest value; an expression is over quantities that stand before it in its axis."""
    kind: QuantityKind = QuantityKind.INTEGER
    """Which integers of that range it may be."""
    role: Role = Role.MAPPING
    """The role: mapping or hardware."""
    values: tuple[int, ...] = ()
    """The values that it may have, ascending, where hardware lists them; empty: all of its kind."""
    labels: tuple[str, ...] = ()
    """Names of the values of a choice, which are then 1, 2, …."""
    unit: str = ""
    """Unit of the values."""

    @property
    def symbol(self) -> Symbol:
        """The quantity as an expression."""
        return Symbol(self.name)

    def label(self, value: int) -> str:
        """A value for people."""
        return self.labels[value - 1] if self.labels else str(value)

    def labelled(self, label: object, at: str) -> int:
        """The value that a label is of; an `InputError` that begins with its place if of none."""
        known = {self.label(value): value for value in self.values}
        if str(label) not in known:
            raise InputError(f"{at} is {quoted(label)}{among(label, known)}")
        return known[str(label)]

    def among(self, *values: int) -> Quantity:
        """The quantity with these listed values alone, which bound its range."""
        return replace(self, low=values[0], high=values[-1], values=values)

    def most(self, values: NumbersByName) -> Any:
        """The quantity's largest value, given those before it."""
        return self.high.evaluate(values, NUMPY) if isinstance(self.high, Expression) else self.high

    def allows(self, values: NumbersByName) -> Any:
        """Whether values of the quantity, among those of the others, are in its range and of its
        kind."""
        value = values[self.name]
        inside = (value >= self.low) & (value <= self.most(values))
        return (
            inside & (value & (value - 1) == 0)
            if self.kind is QuantityKind.POWER_OF_TWO
            else inside
        )


class Relation(Enum):
    """The relation between the sides of a link."""

    AT_MOST = "≤"
    """The left side does not exceed the right one."""
    DIVIDES = "divides"
    """The right side is a multiple of the left one; both are positive integers."""
    EQUAL = "="
    """Both sides are equal."""


@dataclass(frozen=True)
class Link:
    """A rule between two integer expressions over quantities."""

    left: Expression
    relation: Relation
    """How the sides are related."""
    right: Expression
    text: str = field(default="", compare=False)
    """As somebody wrote it."""

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The quantities that the rule speaks of."""
        return self.left.symbols | self.right.symbols

    @property
    def defined(self) -> str | None:
        """The quantity that the rule defines by others; None if it defines none."""
        defines = (
            self.relation is Relation.EQUAL
            and isinstance(self.left, Symbol)
            and self.left.name not in self.right.symbols
        )
        return self.left.name if defines and isinstance(self.left, Symbol) else None

    def holds(self, values: NumbersByName, numbers: NumberSystem = NUMPY) -> Any:
        """Whether the rule holds for values of a number system, entrywise for arrays."""
        left, right = self.left.evaluate(values, numbers), self.right.evaluate(values, numbers)
        if self.relation is Relation.AT_MOST:
            return left <= right
        return right % left == 0 if self.relation is Relation.DIVIDES else left == right

    def allows(self, point: Mapping[str, int | Fraction]) -> bool:
        """Whether a point keeps the rule exactly; where it divides by 0 none does."""
        try:
            return bool(self.holds(exactly(point), FRACTION))
        except ZeroDivisionError:
            return False


@dataclass(frozen=True)
class Axis:
    """Quantities that one choice fixes together."""

    name: str
    """Its name, unique in the space."""
    quantities: tuple[Quantity, ...]
    """Its quantities, in the order in which enumeration and repair decide about them."""
    links: tuple[Link, ...] = ()
    """The rules that speak of its quantities alone."""
    runs: tuple[tuple[str, ...], ...] = ()
    """Advice for dominance: quantities such that of rows that agree in them one is often best. The
    first is of rows as they are generated, the others of rows sorted by the next quantity of the
    axis. Advice changes speed, never an answer."""
    cut: Cut | None = None
    """The loop that its first two quantities cut into tiles; None where it is of none."""

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of the quantities its rows fix."""
        return frozenset(quantity.name for quantity in self.quantities)

    @cached_property
    def definitions(self) -> Mapping[str, Expression]:
        """The expression of every derived quantity."""
        return {
            link.defined: link.right for link in reversed(self.links) if link.defined is not None
        }

    @cached_property
    def free(self) -> tuple[Quantity, ...]:
        """The quantities that may be chosen."""
        return tuple(q for q in self.quantities if q.name not in self.definitions)

    @cached_property
    def powers(self) -> Mapping[str, int]:
        """The largest value of every quantity that is a power of two."""
        powers = (q for q in self.quantities if q.kind is QuantityKind.POWER_OF_TWO)
        return {
            quantity.name: int(self.options(quantity.name).max(initial=1)) for quantity in powers
        }

    @cached_property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """Smallest and largest value of every quantity, whatever the others are."""
        extremes: dict[str, tuple[int, int]] = {}
        for quantity in self.quantities:
            high = quantity.high
            if isinstance(high, Expression):
                spans = {
                    name: Interval(Fraction(low), Fraction(most))
                    for name, (low, most) in extremes.items()
                }
                high = int(as_interval(high.evaluate(spans, INTERVAL)).high)
            extremes[quantity.name] = quantity.low, high
        return extremes

    def options(self, name: str) -> Values:
        """All values that a quantity may take, ascending, whatever the others are."""
        low, high = self.ranges[name]
        own = next(q for q in self.quantities if q.name == name)
        if own.kind is QuantityKind.INTEGER:
            return np.arange(low, high + 1, dtype=np.int64)
        powers = 2 ** np.arange(max(high, 0).bit_length(), dtype=np.int64)
        return powers[powers >= low]

    # -- rows --------------------------------------------------------------------------

    def rows(self, left: Sieve | None = None) -> Iterator[Rows]:
        """All legal rows in chunks (at least one, perhaps empty), or those that a sieve leaves."""
        yield from self.extended({}, left)

    def table(self) -> Rows:
        """All legal rows at once."""
        parts = list(self.rows())
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def extended(self, rows: Rows, left: Sieve | None = None) -> Iterator[Rows]:
        """Rows of the first quantities that a sieve leaves, with all further ones."""
        place = len(rows)
        if place == len(self.quantities):
            yield rows
            return
        if left and place:
            rows = left(rows)
        quantity = self.quantities[place]
        for wider in self._with(rows, quantity):
            yield from self.extended(wider, left)

    def _with(self, rows: Rows, quantity: Quantity) -> Iterator[Rows]:
        """Rows of earlier quantities combined with the legal values of the next one."""
        name = quantity.name
        defined = self.definitions.get(name)
        known = set(rows) | {name}
        # rules of numbers alone are held to the first quantity
        links = [
            link
            for link in self.links
            if link.symbols <= known and (name in link.symbols or not (link.symbols or rows))
        ]
        if not rows:
            values = self.options(name) if defined is None else _column(defined, {}, 1)
            yield self._filtered({name: values}, quantity, links)
            return
        count = next(iter(rows.values())).size
        if defined is not None and defined.symbols <= set(rows):
            yield self._filtered({**rows, name: _column(defined, rows, count)}, quantity, links)
        elif quantity.kind is QuantityKind.POWER_OF_TWO:
            options = self.options(name)
            step = max(CHUNK_ROWS // max(options.size, 1), 1)
            for begin in range(0, max(count, 1), step):
                some = {n: values[begin : begin + step] for n, values in rows.items()}
                filled = ({**some, name: np.full(min(step, count - begin), v)} for v in options)
                parts = [self._filtered(part, quantity, links) for part in filled]
                yield {n: np.concatenate([part[n] for part in parts]) for n in (*rows, name)}
        else:
            yield from self._repeated(rows, quantity, links, count)

    def _repeated(
        self, rows: Rows, quantity: Quantity, links: Sequence[Link], count: int
    ) -> Iterator[Rows]:
        """Every row with every integer of the next quantity's range."""
        most = np.broadcast_to(np.asarray(quantity.most(rows), dtype=np.int64), (count,))
        options = np.maximum(most - quantity.low + 1, 0)
        # chunk boundaries by cumulated row count, so that a chunk holds whole runs of one row
        chunk_of = np.cumsum(options) // CHUNK_ROWS
        for chunk in range(int(chunk_of[-1]) + 1 if count else 1):
            mine = chunk_of == chunk
            counts = options[mine]
            if not counts.size and chunk:
                continue
            wider = {name: np.repeat(values[mine], counts) for name, values in rows.items()}
            values = counted_up(counts) + quantity.low
            yield self._filtered({**wider, quantity.name: values}, quantity, links)

    def _filtered(self, rows: Rows, quantity: Quantity, links: Sequence[Link]) -> Rows:
        keep = quantity.allows(rows)
        for link in links:
            keep = link.holds(rows) & keep
        if np.all(keep):
            return rows
        mask = np.broadcast_to(keep, next(iter(rows.values())).shape)
        return {name: values[mask] for name, values in rows.items()}

    def legal(self, values: NumbersByName) -> Any:
        """Whether values of its quantities are a legal row, entrywise for arrays."""
        legal: Any = True
        for quantity in self.quantities:
            legal = quantity.allows(values) & legal
        for link in self.links:
            legal = link.holds(values) & legal
        return legal

    def completed(self, values: NumbersByName) -> dict[str, Any]:
        """Values of free quantities with those that follow from them, in the order of the axis."""
        known = dict(values)
        waiting = dict(self.definitions)
        while waiting:
            ready = [name for name, defined in waiting.items() if defined.symbols <= known.keys()]
            for name in ready:
                known[name] = waiting.pop(name).evaluate(known, NUMPY)
        return {quantity.name: known[quantity.name] for quantity in self.quantities}


@dataclass(frozen=True)
class Space:
    """The legal configurations of a design."""

    axes: tuple[Axis, ...]
    """The axes; no quantity belongs to two."""
    links: tuple[Link, ...] = ()
    """The rules across axes."""

    @cached_property
    def quantities(self) -> Mapping[str, Quantity]:
        """All quantities by name."""
        return {quantity.name: quantity for axis in self.axes for quantity in axis.quantities}

    @cached_property
    def axis_of(self) -> Mapping[str, Axis]:
        """The axis that fixes each quantity."""
        return {quantity.name: axis for axis in self.axes for quantity in axis.quantities}

    @cached_property
    def definitions(self) -> Mapping[str, Expression]:
        """The expression of every quantity that a rule across axes defines."""
        return {link.defined: link.right for link in self.links if link.defined is not None}

    @cached_property
    def free(self) -> tuple[Quantity, ...]:
        """The quantities that may be chosen, axis by axis."""
        return tuple(q for axis in self.axes for q in axis.free if q.name not in self.definitions)

    @cached_property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """Smallest and largest value of every quantity, whatever the others are."""
        return {name: span for axis in self.axes for name, span in axis.ranges.items()}

    @cached_property
    def inequalities(self) -> tuple[Expression, ...]:
        """Expressions that must not exceed 0, of the rules ≤ across axes: constraints like any
        other, monotone in the parts of a bound."""
        return tuple(
            link.left - link.right for link in self.links if link.relation is Relation.AT_MOST
        )

    @cached_property
    def entangled(self) -> frozenset[str]:
        """The quantities that the other rules across axes speak of: these tie rows together in ways
        that bounds do not show."""
        others = (link for link in self.links if link.relation is not Relation.AT_MOST)
        return frozenset().union(*(link.symbols for link in others))

    @cached_property
    def powers(self) -> Mapping[str, int]:
        """The largest value of every quantity that is a power of two."""
        return {name: most for axis in self.axes for name, most in axis.powers.items()}

    def contains(self, values: Mapping[str, int]) -> bool:
        """Whether a configuration is legal: its quantities are those of the space, and every rule
        holds; where one divides by 0, or a number is too large for rows, none does."""
        if values.keys() != self.quantities.keys():
            return False

        def legal(axis: Axis) -> bool:
            row = tuple(values[name] for name in axis.symbols)
            return latest(axis, row, lambda: bool(axis.legal(values)), 64)

        try:
            return all(map(legal, self.axes)) and all(bool(x.holds(values)) for x in self.links)
        except (ZeroDivisionError, OverflowError):
            return False

    def completed(self, values: NumbersByName) -> dict[str, Any]:
        """Values of the free quantities with those of all others that follow from them."""
        known = dict(values)
        for name, expression in self.definitions.items():
            if expression.symbols <= known.keys():
                known[name] = expression.evaluate(known, NUMPY)
        complete: dict[str, Any] = {}
        for axis in self.axes:
            own = {q.name: known[q.name] for q in axis.quantities if q.name in known}
            complete |= axis.completed(own) if all(q.name in own for q in axis.free) else own
        for name, expression in self.definitions.items():
            complete[name] = expression.evaluate(complete, NUMPY)
        return {name: complete[name] for name in self.quantities}

    def adopted(self, configuration: Mapping[str, int]) -> Configuration | None:
        """The configuration of the same choices as one of another space; None if that does not make
        them all."""
        wanted = [quantity.name for quantity in self.free]
        missing = any(name not in configuration for name in wanted)
        return None if missing else self.configuration({n: configuration[n] for n in wanted})

    def configuration(self, values: NumbersByName) -> Configuration:
        """The configuration with these values of its free quantities."""
        return Configuration({name: int(value) for name, value in self.completed(values).items()})


def make_space(axes: Sequence[Axis], links: Sequence[Link]) -> Space:
    """The space of some axes under some rules: each rule within one axis becomes that axis' own."""
    own: dict[str, list[Link]] = {axis.name: [] for axis in axes}
    across: list[Link] = []
    for link in links:
        home = next((axis.name for axis in axes if link.symbols <= axis.symbols), None)
        (across if home is None else own[home]).append(link)
    wholes = (replace(a, links=(*a.links, *own[a.name])) if own[a.name] else a for a in axes)
    return Space(tuple(wholes), tuple(across))


def _column(expression: Expression, rows: Mapping[str, Values], count: int) -> Values:
    return np.broadcast_to(np.asarray(expression.evaluate(rows, NUMPY), dtype=np.int64), (count,))
