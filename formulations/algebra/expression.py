"""Symbolic expressions: the number system that writes the cost model down.

An `Expression` is an immutable tree over named quantities with ``+ − × ÷``, ceiling division,
maximum and minimum. The derivation states sizes, counts and loop trips as expressions; the
cost model evaluated on symbols yields every metric as one. `Expression.evaluate` then turns
it into numbers of any other system. Sums and products are kept flat and with constants folded,
so that equal factors cancel: ``(i2·k1)/k1`` is ``i2``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from ithaca.files.clock import poll
from ithaca.formulations.algebra.number_systems import NumberSystem

Operand: TypeAlias = "Expression | int | Fraction"


class Expression:
    """Base of all expression nodes; supports ordinary arithmetic."""

    __slots__ = ("_hash",)
    """Trees are hashed again and again as keys; a node's hash is computed once. It is no field, so
    pickling leaves it out."""

    _hash: int
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash((type(self).__name__, self._key))
            object.__setattr__(self, "_hash", value)
            return value

    def __eq__(self, other: object) -> bool:
        if self is other or type(self) is not type(other) or hash(self) != hash(other):
            return self is other
        for name in self.__match_args__:
            its = getattr(other, name)
            if getattr(self, name) != its:  # in another order, perhaps
                return bool(self._key == other._key)
            object.__setattr__(self, name, its)  # the next time, it is the same at once
        return True

    @property
    def _key(self) -> Any:
        """The parts of the expression, but for the order of what is added or multiplied."""
        return tuple(_unordered(getattr(self, name)) for name in self.__match_args__)

    def __add__(self, other: Operand) -> Expression:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Expression:
        return add(self, multiply(-1, other))

    def __rsub__(self, other: Operand) -> Expression:
        return add(other, multiply(-1, self))

    def __mul__(self, other: Operand) -> Expression:
        return multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Expression:
        return multiply(self, power(other, -1))

    def __rtruediv__(self, other: Operand) -> Expression:
        return multiply(other, power(self, -1))

    def __neg__(self) -> Expression:
        return multiply(-1, self)

    @property
    def children(self) -> tuple[Expression, ...]:
        """The direct subexpressions, in order."""
        return ()

    @property
    def symbols(self) -> frozenset[str]:
        """Names of all quantities the expression depends on."""
        return frozenset(node.name for node in walk(self) if isinstance(node, Symbol))

    def evaluate(self, values: Mapping[str, Any], numbers: NumberSystem) -> Any:
        """Value in a number system, given a number per symbol; `KeyError` if one is missing."""
        return Evaluation(values, numbers)(self)

    def substitute(self, values: Mapping[str, Operand]) -> Expression:
        """Replace symbols by expressions or numbers."""
        table = {
            name: as_expression(values[name]) if name in values else Symbol(name)
            for name in self.symbols
        }
        result: Expression = self.evaluate(table, SYMBOLIC)
        return result

    def _value(self, at: Evaluation) -> Any:
        raise NotImplementedError


class Evaluation:
    """Values of expressions, each computed once until it is forgotten.

    No closure: one that calls itself is a cycle, which would keep all arrays until Python looks for
    cycles.
    """

    def __init__(self, values: Mapping[str, Any], numbers: NumberSystem) -> None:
        self.values, self.numbers = values, numbers
        self._known: dict[int, Any] = {}

    def __call__(self, node: Expression) -> Any:
        key = id(node)
        if key in self._known:
            return self._known[key]
        if not isinstance(node, Symbol | Constant):
            poll()
        value = self._known[key] = node._value(self)
        return value

    def forget(self, nodes: Iterable[Expression]) -> None:
        """Compute these anew when they are next asked for: values of their symbols have changed."""
        for node in nodes:
            self._known.pop(id(node), None)


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Expression):
    """An exact rational number."""

    value: Fraction

    def _value(self, at: Evaluation) -> Any:
        return at.numbers.number(self.value)

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Symbol(Expression):
    """A quantity, known by its name."""

    name: str

    def _value(self, at: Evaluation) -> Any:
        return at.values[self.name]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Expression):
    """A flat sum of two or more terms."""

    terms: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.terms

    def _value(self, at: Evaluation) -> Any:
        total = at(self.terms[0])
        for term in self.terms[1:]:
            total = total + at(term)
        return total

    def __str__(self) -> str:
        return " + ".join(str(t) for t in self.terms).replace("+ -", "- ")


@dataclass(frozen=True, slots=True, eq=False)
class Product(Expression):
    """A constant times powers of distinct bases, ``coefficient · Π base^exponent``."""

    coefficient: Fraction
    factors: tuple[tuple[Expression, int], ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return tuple(base for base, _ in self.factors)

    def _value(self, at: Evaluation) -> Any:
        over: Any = None if self.coefficient == 1 else at.numbers.number(self.coefficient)
        under: Any = None
        square = at.numbers.square
        for base, exponent in self.factors:
            number, times = at(base), abs(exponent)
            if square and times % 2 == 0 and (squared := square(number)) is not None:
                number, times = squared, times // 2
            for _ in range(times):
                if exponent > 0:
                    over = number if over is None else over * number
                else:
                    under = number if under is None else under * number
        if under is None:
            return over
        return (at.numbers.number(Fraction(1)) if over is None else over) / under

    def __str__(self) -> str:
        def show(base: Expression, exponent: int) -> str:
            text = f"({base})" if isinstance(base, Sum) else str(base)
            return text if exponent == 1 else f"{text}^{exponent}"

        over = [show(b, e) for b, e in self.factors if e > 0]
        under = [show(b, -e) for b, e in self.factors if e < 0]
        if self.coefficient != 1 or not over:
            over.insert(0, str(self.coefficient))
        if over[0] == "-1" and over[1:]:
            over[:2] = [f"-{over[1]}"]
        return "·".join(over) + "".join(f"/{u}" for u in under)


@dataclass(frozen=True, slots=True, eq=False)
class CeilingDivision(Expression):
    """The quotient of two expressions, rounded up: ``ceil(numerator / denominator)``."""

    numerator: Expression
    denominator: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.numerator, self.denominator)

    def _value(self, at: Evaluation) -> Any:
        return at.numbers.ceil_div(at(self.numerator), at(self.denominator))

    def __str__(self) -> str:
        return f"ceil(({self.numerator})/({self.denominator}))"


@dataclass(frozen=True, slots=True, eq=False)
class _Extreme(Expression):
    arguments: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    def _value(self, at: Evaluation) -> Any:
        pick = at.numbers.maximum if isinstance(self, Maximum) else at.numbers.minimum
        return pick(*map(at, self.arguments))

    def __str__(self) -> str:
        name = "max" if isinstance(self, Maximum) else "min"
        return f"{name}({', '.join(str(a) for a in self.arguments)})"


class Maximum(_Extreme):
    """The largest of its arguments."""

    __slots__ = ()


class Minimum(_Extreme):
    """The smallest of its arguments."""

    __slots__ = ()


def _unordered(part: Any) -> Any:
    """A key of several parts that is the same in any order, unless one repeats itself."""
    if not isinstance(part, tuple):
        return part
    own = frozenset(part)
    return own if len(own) == len(part) else part


class Symbols(dict[str, Expression]):
    """Maps every name to its own symbol: the values with which a model writes itself down."""

    def __missing__(self, name: str) -> Expression:
        return Symbol(name)


#: The coefficient of products that have none.
UNIT = Fraction(1)

ZERO = Constant(Fraction(0))
ONE = Constant(UNIT)


def as_expression(value: Operand) -> Expression:
    """Wrap a number; expressions pass through."""
    return value if isinstance(value, Expression) else Constant(Fraction(value))


def add(*values: Operand) -> Expression:
    """Flat sum with constants folded and equal terms collected."""
    poll()
    constant = Fraction(0)
    collected: dict[Expression, Fraction] = {}
    stack = [as_expression(v) for v in reversed(values)]
    while stack:
        node = stack.pop()
        if isinstance(node, Sum):
            stack.extend(reversed(node.terms))
        elif isinstance(node, Constant):
            constant += node.value
        else:
            coefficient, monic = split_coefficient(node)
            before = collected.get(monic)  # most are new; arithmetic on fractions is slow
            collected[monic] = coefficient if before is None else before + coefficient
    terms = [t if c is UNIT or c == 1 else multiply(c, t) for t, c in collected.items() if c]
    if constant or not terms:
        terms.append(Constant(constant))
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def multiply(*values: Operand) -> Expression:
    """Flat product with constants folded and powers of equal bases collected."""
    coefficient = UNIT
    powers: dict[Expression, int] = {}
    for value in values:
        node = as_expression(value)
        own = UNIT
        if isinstance(node, Constant):
            own = node.value
        elif isinstance(node, Product):
            own = node.coefficient
            for base, exponent in node.factors:
                powers[base] = powers.get(base, 0) + exponent
        else:
            powers[node] = powers.get(node, 0) + 1
        if own is not UNIT:  # most are; arithmetic on fractions is slow
            coefficient = own if coefficient is UNIT else coefficient * own
    return _product(coefficient, tuple((b, e) for b, e in powers.items() if e))


def _product(coefficient: Fraction, factors: tuple[tuple[Expression, int], ...]) -> Expression:
    """A product of distinct bases with exponents other than 0."""
    if not coefficient or not factors:
        return Constant(coefficient)
    if coefficient is UNIT or coefficient == 1:
        return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else Product(UNIT, factors)
    return Product(coefficient, factors)


def power(base: Operand, exponent: int) -> Expression:
    """Integer power of an expression; ``exponent`` may be negative."""
    node = as_expression(base)
    if exponent == 1:
        return node
    if isinstance(node, Constant):
        return Constant(node.value**exponent)
    coefficient, factors = (
        (node.coefficient, node.factors) if isinstance(node, Product) else (UNIT, ((node, 1),))
    )
    scaled = tuple((b, e * exponent) for b, e in factors if exponent)
    return _product(UNIT if coefficient is UNIT else coefficient**exponent, scaled)


def ceiling_division(numerator: Operand, denominator: Operand) -> Expression:
    """``ceil(numerator / denominator)``, folded where both are constants."""
    top, bottom = as_expression(numerator), as_expression(denominator)
    if isinstance(top, Constant) and isinstance(bottom, Constant):
        return Constant(Fraction(-((-top.value) // bottom.value)))
    return CeilingDivision(top, bottom)


def maximum(*values: Operand) -> Expression:
    """Largest argument; duplicates dropped, constants folded, nested maxima flattened."""
    kept = _extreme(values, Maximum, max)
    return kept[0] if len(kept) == 1 else Maximum(kept)


def minimum(*values: Operand) -> Expression:
    """Smallest argument; duplicates dropped, constants folded, nested minima flattened."""
    kept = _extreme(values, Minimum, min)
    return kept[0] if len(kept) == 1 else Minimum(kept)


def _extreme(
    values: Iterable[Operand], kind: type[_Extreme], pick: Callable[..., Fraction]
) -> tuple[Expression, ...]:
    kept: dict[Expression, None] = {}
    constant: Fraction | None = None
    for value in values:
        node = as_expression(value)
        for argument in node.children if isinstance(node, kind) else (node,):
            if isinstance(argument, Constant):
                constant = argument.value if constant is None else pick(constant, argument.value)
            else:
                kept[argument] = None
    if constant is not None:
        kept[Constant(constant)] = None
    return tuple(kept)


def split_coefficient(node: Expression) -> tuple[Fraction, Expression]:
    """Separate the constant factor: ``(c, e)`` with ``node = c · e``."""
    if isinstance(node, Constant):
        return node.value, ONE
    if isinstance(node, Product) and node.coefficient is not UNIT:
        return node.coefficient, _product(UNIT, node.factors)
    return UNIT, node


def quotient(node: Expression) -> tuple[tuple[Expression, int], ...]:
    """Factors of a product that divides by some of them; none of others."""
    if isinstance(node, Product) and min(exponent for _, exponent in node.factors) < 0:
        return node.factors
    return ()


def walk(node: Expression) -> Iterable[Expression]:
    """All nodes of the tree, each distinct object once."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        stack.extend(current.children)


#: Expressions as numbers: the metrics are written down.
SYMBOLIC = NumberSystem("symbolic", Constant, ceiling_division, maximum, minimum, add)
