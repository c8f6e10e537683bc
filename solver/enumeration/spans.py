"""Ends of expressions over boxes, by interval arithmetic on arrays of doubles.

An expression is compiled once into operations on arrays, each for one end, the lower or the upper,
of one of its parts; only ends that are needed are computed. Nothing is rounded to nearest: an
operation is exact, where all numbers are multiples of a power of two and small enough for doubles
to hold, or its result is moved outwards by a double or two.

Columns are parts of costs that one axis alone contributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, prod
from typing import Any, NamedTuple

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    multiply,
    power,
    split_coefficient,
)
from ithaca.formulations.algebra.rounding import EXACT, beyond, largest_double, least_double
from ithaca.formulations.space import Axis, Rows, Space
from ithaca.solver.engines import NotExpressibleError

#: What one end of each symbol is, by its number.
Values = Sequence[Any]
Operation = Callable[[list[Any]], Any]


class Reach(NamedTuple):
    """All that an expression may be, and perhaps more."""

    low: float
    """No value is below it."""
    high: float
    """No value is above it."""
    grain: int
    """Values are multiples of the reciprocal of this power of two; 0: perhaps not."""
    power: bool = False
    """Whether values are powers of two, `high` the largest of them."""

    @property
    def size(self) -> float:
        """The largest magnitude, at least 1."""
        return max(1.0, -self.low, self.high)


@dataclass(frozen=True)
class Program:
    """Operations that compute ends of some expressions."""

    operations: tuple[Operation, ...]
    """Each computes a register from those before it; the first registers are the symbols' ends."""
    results: tuple[int, ...]
    """The registers of the ends that were asked for."""

    def run(self, ends: Sequence[Any]) -> list[Any]:
        """The ends that were asked for, from the ends of symbols: the lower and the upper of each,
        one after the other."""
        registers = list(ends)
        for operation in self.operations:
            registers.append(operation(registers))
        return [registers[place] for place in self.results]


class Compiler:
    """The compiler of expressions over symbols of known reach into a program."""

    def __init__(self, reaches: Mapping[str, Reach]) -> None:
        self._symbols = {name: (2 * n, reach) for n, (name, reach) in enumerate(reaches.items())}
        self._count = 2 * len(reaches)
        self._operations: list[Operation] = []
        self._places: dict[tuple[Expression, bool], int] = {}
        self._reaches: dict[Expression, Reach] = {}

    def program(self, *wanted: tuple[Expression, bool]) -> Program:
        """A program for ends of expressions: the upper where true, else the lower."""
        results = tuple(self._end(*each) for each in wanted)
        return Program(tuple(self._operations), results)

    # -- reaches -----------------------------------------------------------------------

    def reach(self, node: Expression) -> Reach:
        """The range of an expression anywhere."""
        if node not in self._reaches:
            self._reaches[node] = self._reach_of(node)
        return self._reaches[node]

    def _reach_of(self, node: Expression) -> Reach:
        if isinstance(node, Symbol):
            return self._symbols[node.name][1]
        if isinstance(node, Constant):
            bottom = node.value.denominator
            return Reach(*_around(node.value), bottom if bottom & (bottom - 1) == 0 else 0)
        parts = [self.reach(part) for part in node.children]
        grain = 0 if any(not part.grain for part in parts) else max(part.grain for part in parts)
        if isinstance(node, Sum):
            low, high = sum(part.low for part in parts), sum(part.high for part in parts)
            size = sum(part.size for part in parts)
            return _reach(low, high, grain, size, cancels=any(part.low < 0 for part in parts))
        if isinstance(node, Maximum | Minimum):
            pick = max if isinstance(node, Maximum) else min
            return Reach(pick(p.low for p in parts), pick(p.high for p in parts), grain)
        if isinstance(node, CeilingDivision):
            top, under = parts
            _check_divisor(under)
            quotients = _corners((top.low, top.high), (1 / under.high, 1 / under.low))
            # what is no less than 0 rounds up to no less
            least = 1.0 if top.low > 0 else floor(min(quotients)) - 1.0 if top.low < 0 else 0.0
            return Reach(least, ceil(max(quotients)) + 1.0, 1)
        assert isinstance(node, Product)
        low, high = _around(node.coefficient)
        bottom = node.coefficient.denominator
        grain, size = bottom if bottom & (bottom - 1) == 0 else 0, max(1.0, abs(low), abs(high))
        for (_, exponent), part in zip(node.factors, parts, strict=True):
            ends, own = (part.low, part.high), part.grain
            if exponent < 0:
                _check_divisor(part)
                ends, own = (1 / part.high, 1 / part.low), int(part.high) if part.power else 0
            for _ in range(abs(exponent)):
                corners = _corners((low, high), ends)
                low, high = min(corners), max(corners)
                grain, size = grain * own, size * max(1.0, *map(abs, ends))
        return _reach(low, high, grain, size)

    # -- ends --------------------------------------------------------------------------

    def _end(self, node: Expression, high: bool) -> int:
        """The register of an end of an expression."""
        if (node, high) not in self._places:
            if isinstance(node, Symbol):
                place = self._symbols[node.name][0] + high
            else:
                place = self._add(self._operation(node, high))
            self._places[node, high] = place
        return self._places[node, high]

    def _add(self, operation: Operation) -> int:
        self._operations.append(operation)
        self._count += 1
        return self._count - 1

    def _operation(self, node: Expression, high: bool) -> Operation:
        if isinstance(node, Constant):
            value = _around(node.value)[high]
            return lambda r: value
        up = None if self._exact(node) else high
        if isinstance(node, Sum):
            return _folded(np.add, [self._end(term, high) for term in node.terms], up)
        if isinstance(node, Maximum | Minimum):
            pick = np.maximum if isinstance(node, Maximum) else np.minimum
            return _folded(pick, [self._end(a, high) for a in node.arguments], None)
        if isinstance(node, CeilingDivision):
            return self._ceiling(node, high)
        assert isinstance(node, Product)
        return self._product(node, high, up)

    def _exact(self, node: Expression) -> bool:
        """Whether doubles hold all values of an expression, and of what leads to them."""
        parts, own = [self.reach(part) for part in node.children], self.reach(node)
        sizes = [part.size for part in parts]
        if isinstance(node, Product):
            powers = zip(sizes, node.factors, strict=True)
            size = prod((s ** abs(e) for s, (_, e) in powers), start=abs(node.coefficient))
        else:
            size = sum(sizes)
        return bool(own.grain) and size * own.grain < EXACT and all(map(self._held, node.children))

    def _held(self, node: Expression) -> bool:
        """Whether doubles hold all values of an expression."""
        reach = self.reach(node)
        return bool(reach.grain) and reach.size * reach.grain < EXACT

    def _ceiling(self, node: CeilingDivision, high: bool) -> Operation:
        top = self.reach(node.numerator)
        # of whole numbers a and b a quotient that is not whole is 1/b from the next whole one, more
        # than rounding moves it where a + b is below 2**53
        parts = [self.reach(part) for part in node.children]
        grain = min(part.grain for part in parts) and max(part.grain for part in parts)
        whole = bool(grain) and sum(part.size for part in parts) * grain < EXACT
        over = self._end(node.numerator, high)
        if top.low >= 0:
            under = self._end(node.denominator, not high)

            def quotient(r: list[Any]) -> Any:
                return np.divide(r[over], r[under])
        else:
            unders = [self._end(node.denominator, end) for end in (False, True)]
            pick = np.maximum if high else np.minimum

            def quotient(r: list[Any]) -> Any:
                return pick(*(np.divide(r[over], r[under]) for under in unders))

        if whole:
            return lambda r: np.ceil(quotient(r))
        return lambda r: np.ceil(beyond(quotient(r), up=high))

    def _product(self, node: Product, high: bool, up: bool | None) -> Operation:
        reaches = [self.reach(base) for base, _ in node.factors]
        if all(reach.low >= 0 for reach in reaches):
            # of a negative coefficient the other ends count
            rises = node.coefficient > 0
            end, away = high == rises, None if up is None else up != rises
            over = [self._end(b, end) for b, e in node.factors for _ in range(e)]
            under = [self._end(b, not end) for b, e in node.factors for _ in range(-e)]
            if node.coefficient != 1 or not over:
                over.insert(0, self._end(Constant(node.coefficient), high))
            if not under:
                return _folded(np.multiply, over, up)
            top = self._add(_folded(np.multiply, over, up))
            bottom = self._add(_folded(np.multiply, under, away))
            return _folded(np.divide, [top, bottom], up)
        ends = [self._end(Constant(node.coefficient), end) for end in (False, True)]
        for base, exponent in node.factors:
            own = [self._end(base, end) for end in (False, True)]
            for _ in range(abs(exponent)):
                ends = [self._corner(ends, own, exponent < 0, end) for end in (False, True)]
        return _folded(np.add, [ends[high]], None)

    def _corner(self, one: list[int], other: list[int], divides: bool, high: bool) -> int:
        """The register of an end of a product of two factors, or of a quotient."""
        pick = np.maximum if high else np.minimum
        combine: Any = np.divide if divides else np.multiply

        def corner(r: list[Any]) -> Any:
            least = combine(r[one[0]], r[other[0]])
            for a, b in ((0, 1), (1, 0), (1, 1)):
                least = pick(least, combine(r[one[a]], r[other[b]]))
            return beyond(least, up=high)

        return self._add(corner)


def _folded(combine: Any, places: Sequence[int], up: bool | None) -> Operation:
    """An operation that combines registers one after the other, and moves each result up or
    down."""
    first, *rest = places

    def fold(r: list[Any]) -> Any:
        value = r[first]
        for place in rest:
            value = combine(value, r[place])
            if up is not None:
                value = beyond(value, up=up)
        return value

    return fold


def _around(value: Fraction) -> tuple[float, float]:
    """The doubles next to a number, on both sides; itself where it is one."""
    return largest_double(value), least_double(value)


def _corners(one: tuple[float, float], other: tuple[float, float]) -> list[float]:
    return [a * b for a in one for b in other]


def _reach(low: float, high: float, grain: int, size: float, *, cancels: bool = False) -> Reach:
    """A reach whose ends were computed in doubles, with room for some roundings unless there were
    none, as all that led to them was small."""
    if grain and size * grain < EXACT:
        return Reach(low, high, grain)
    room = 2.0**-40
    one, other = (size, size) if cancels else (abs(low), abs(high))
    return Reach(low - room * one, high + room * other, grain)


def _check_divisor(reach: Reach) -> None:
    if reach.low <= 0:
        raise NotExpressibleError("enumeration: a divisor may be 0 or less; use another method")


class Regrouped:
    """Expressions over *columns*, each what one axis alone contributes."""

    def __init__(self, space: Space) -> None:
        self._axis_of = {name: n for n, axis in enumerate(space.axes) for name in axis.symbols}
        self.columns: list[dict[Expression, Symbol]] = [{} for _ in space.axes]
        self._known: dict[Expression, Expression] = {}
        self._axes: dict[Expression, frozenset[int]] = {}

    def __call__(self, node: Expression) -> Expression:
        """An expression over columns that equals one over quantities."""
        if node not in self._known:
            self._known[node] = self._of(node)
        return self._known[node]

    def axes(self, node: Expression) -> frozenset[int]:
        """The axes that an expression depends on."""
        if node not in self._axes:
            self._axes[node] = (
                frozenset((self._axis_of[node.name],))
                if isinstance(node, Symbol)
                else frozenset().union(*map(self.axes, node.children))
            )
        return self._axes[node]

    def _of(self, node: Expression) -> Expression:
        axes = self.axes(node)
        if not axes:
            return node
        if len(axes) == 1:
            coefficient, monic = split_coefficient(node)
            (axis,) = axes
            own = self.columns[axis]
            if monic not in own:
                own[monic] = Symbol(f"{axis}.{len(own)}")
            return own[monic] if coefficient == 1 else Product(coefficient, ((own[monic], 1),))
        if isinstance(node, Sum):
            groups, rest = self._grouped(node.terms)
            parts = [self(add(*(node.terms[n] for n in places))) for places in groups]
            return Sum((*parts, *(self(node.terms[n]) for n in rest)))
        if isinstance(node, Product):
            bases = [base for base, _ in node.factors]
            groups, rest = self._grouped(bases)
            powers = [power(*factor) for factor in node.factors]
            singles = [(self(multiply(*(powers[n] for n in places))), 1) for places in groups]
            others = [(self(node.factors[n][0]), node.factors[n][1]) for n in rest]
            return Product(node.coefficient, (*singles, *others))
        if isinstance(node, CeilingDivision):
            return CeilingDivision(self(node.numerator), self(node.denominator))
        assert isinstance(node, Maximum | Minimum)
        return type(node)(tuple(map(self, node.arguments)))

    def _grouped(self, parts: Sequence[Expression]) -> tuple[list[list[int]], list[int]]:
        """The places of parts by the one axis that they depend on, and of all others."""
        single: dict[frozenset[int], list[int]] = {}
        rest = []
        for place, part in enumerate(parts):
            axes = self.axes(part)
            if len(axes) == 1:
                single.setdefault(axes, []).append(place)
            else:
                rest.append(place)
        return list(single.values()), rest


@dataclass(frozen=True)
class Columns:
    """The columns of an axis: how they are computed, and what they may be."""

    axis: Axis
    """The axis."""
    reaches: Mapping[str, Reach]
    """The range of each, by its symbol."""
    program: Program
    """Computes both ends of each from both ends of quantities."""

    @staticmethod
    def of(axis: Axis, columns: Mapping[Expression, Symbol]) -> Columns:
        """The columns of an axis, from expressions over its quantities with their symbols."""
        compiler = Compiler(_quantities(axis))
        program = compiler.program(*((column, end) for column in columns for end in (False, True)))
        reaches = {symbol.name: compiler.reach(column) for column, symbol in columns.items()}
        return Columns(axis, reaches, program)

    @cached_property
    def families(self) -> Axis:
        """The axis up to the last quantity that follows from others: of its rows, all that agree in
        these are a family."""
        names = [quantity.name for quantity in self.axis.quantities]
        last = max(map(names.index, self.axis.definitions), default=len(names) - 1)
        return replace(self.axis, quantities=self.axis.quantities[: last + 1])

    @property
    def whole(self) -> Floats:
        """Both ends of every column on all rows, one after the other, and perhaps more."""
        return np.array([end for reach in self.reaches.values() for end in (reach.low, reach.high)])

    @cached_property
    def _spans(self) -> Sequence[Program]:
        """Programs for both ends of each quantity from those of earlier ones."""
        axis, reaches = self.axis, _quantities(self.axis)
        ends, earlier = [], set[str]()
        for quantity in axis.quantities:
            defined = axis.definitions.get(quantity.name)
            most = quantity.high
            low: Expression = Constant(Fraction(quantity.low))
            high = most if isinstance(most, Expression) else Constant(Fraction(most))
            if defined is not None and defined.symbols <= earlier:
                low = high = defined
            earlier.add(quantity.name)
            ends.append(Compiler(reaches).program((low, False), (high, True)))
        return ends

    def extended(self, rows: Rows) -> Floats:
        """Both ends of every column on all extensions of rows of the first quantities of the axis:
        shape (2·columns, rows)."""
        count, ends = next(iter(rows.values())).size, list[Any]()
        for quantity, program in zip(self.axis.quantities, self._spans, strict=True):
            if quantity.name in rows:
                ends += [rows[quantity.name].astype(np.float64)] * 2
                continue
            low, high = program.run(ends + [None] * (2 * len(self._spans) - len(ends)))
            least, most = self.axis.ranges[quantity.name]
            if quantity.name in self.axis.powers:
                powers = self.axis.options(quantity.name).astype(np.float64)
                last = np.searchsorted(powers, high, "right") - 1
                ends += [powers[:1], powers.take(last.clip(0))] if powers.size else [least, most]
            else:  # values are whole
                ends += [np.clip(end, least, most) for end in (np.ceil(low), np.floor(high))]
        return self._ends(ends, count)

    def values(self, rows: Rows) -> Floats:
        """Both ends of every column, one after the other, on rows: shape (2·columns, rows)."""
        ends = [v for name in self.axis.ranges for v in [rows[name].astype(np.float64)] * 2]
        return self._ends(ends, next(iter(rows.values())).size)

    def _ends(self, ends: Sequence[Any], count: int) -> Floats:
        values = np.empty((2 * len(self.reaches), count))
        for own, value in zip(values, self.program.run(ends), strict=True):
            own[:] = value
        return values


def _quantities(axis: Axis) -> dict[str, Reach]:
    """The reach of each quantity of an axis."""
    return {
        name: Reach(float(low), float(high), 1, name in axis.powers)
        for name, (low, high) in axis.ranges.items()
    }
