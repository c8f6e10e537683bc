"""The parameters of a published design description, and its expressions in Ithaca's quantities.

A description names the extent, ``t1`` and ``t2`` of a loop as it likes (``i``, ``i_t1``,
``i_t2``) and links them in its ``params``. `Vocabulary` follows these links and rewrites
expressions: ``ceil(i/i_t1)`` is ``tiles.i``, and ``(i_t1/i_t2-1)*i_t2 + i_t2`` is ``t1.i``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Operand,
    Product,
    Sum,
    Symbol,
    add,
    ceiling_division,
    maximum,
    minimum,
    multiply,
    power,
    walk,
)
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import SHOWN, parse_expression
from ithaca.formulations.documents import Field, shortened
from ithaca.formulations.systolic.quantities import extent, lanes, t1, t2, tiles
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

_LOOP, _T1, _T2, _SIMD, _PACK = (
    "loop_ub",
    "array_part_tiling_factor",
    "latency_tiling_factor",
    "SIMD_tiling_factor",
    "data_pack_factor",
)


@dataclass(frozen=True, slots=True)
class PackParameter:
    """The legal values of a data packing factor, as the description bounds them.

    Attributes
    ----------
    multiple_of : Expression
        It is a multiple of this.
    last : Expression
        It divides this.
    max_words : int
        It is at most this (words), unless ``multiple_of`` is larger.
    """

    multiple_of: Expression
    last: Expression
    max_words: int


@dataclass(frozen=True)
class Vocabulary:
    """What the names of a description mean.

    Attributes
    ----------
    symbols : mapping of str to Symbol
        Quantity by the description's name for it.
    packs : mapping of str to PackParameter
        Data packing factors by name.
    """

    symbols: Mapping[str, Symbol]
    packs: Mapping[str, PackParameter] = field(default_factory=dict)
    _read: dict[str, Expression] = field(default_factory=dict, repr=False, compare=False)

    def expression(self, field: Field) -> Expression:
        """Read a size, count or number of trips; lanes stay ``t1/t2`` so that they cancel.

        Raises
        ------
        InputError
            If it is no expression over the description's names, or not positive in every array.
        """
        text = field.text()
        if text not in self._read:
            parsed = parse_expression(text, where=field.path, allowed=self.symbols)
            self._read[text] = _simplified(parsed, self.symbols)
            if not _always_positive(with_lanes(self._read[text])):
                field.refuse("what is positive and grows with loop bounds, tiling factors, t1/t2 and ceil(bound/t1)")
        return self._read[text]

    def pack(self, field: Field) -> tuple[str, PackParameter]:
        """Name and parameter of the data packing factor a field names."""
        name = field.text()
        if name not in self.packs:
            field.refuse(f"a parameter with attr {_PACK}: {_listed(self.packs)}")
        return name, self.packs[name]


def read_parameters(parameters: Field, nest: LoopNest) -> Vocabulary:
    """Read the section ``params``.

    Parameters
    ----------
    parameters : Field
        The section.
    nest : LoopNest
        The loop nest the description must belong to.

    Raises
    ------
    InputError
        If it is malformed, or its loops, untiled loops or SIMD loop are not the nest's.
    """
    by_kind: dict[str, dict[str, Field]] = {kind: {} for kind in (_LOOP, _T1, _T2, _SIMD, _PACK)}
    seen: set[str] = set()
    for parameter in parameters:
        kind, name = parameter["attr"].text(), parameter["name"].text()
        if kind not in by_kind:
            parameter["attr"].refuse(", ".join(by_kind))
        if not name.isidentifier() or len(name) > SHOWN:
            parameter["name"].refuse("letters, digits and underscores")
        if name in seen:
            parameter["name"].refuse("a name of its own")
        seen.add(name)
        by_kind[kind][name] = parameter
    loops, inner = by_kind[_LOOP], {**by_kind[_T2], **by_kind[_SIMD]}
    if sorted(loops) != sorted(nest.loops):
        raise InputError(f"{parameters.path}: loops {_listed(loops)} do not match {nest.name}, which has {_listed(nest.loops)}")
    symbols: dict[str, Symbol] = {}
    tiled: dict[str, str] = {}
    for loop, parameter in loops.items():
        symbols[loop] = extent(loop)
        if (outer := parameter.find("split_by")) is None:
            continue
        outer_parameter = _linked(outer, by_kind[_T1], _T1)
        link = outer_parameter["split_by"]
        _linked(link, inner, f"{_T2} or {_SIMD}")
        symbols[outer.text()], symbols[link.text()] = t1(loop), t2(loop)
        tiled[loop] = link.text()
    if sorted(tiled) != sorted(nest.band):
        raise InputError(
            f"{parameters.path}: tiled loops {_listed(tiled)} do not match {nest.name}, which tiles {_listed(nest.band)}"
        )
    if len(symbols) < len(loops) + 2 * len(tiled):
        raise InputError(f"{parameters.path}: two loops share a tiling factor")
    simd = [loop for loop, name in tiled.items() if name in by_kind[_SIMD]]
    if simd != [nest.simd]:
        raise InputError(f"{parameters.path}: SIMD loops {_listed(simd)} do not match {nest.name}, which has {nest.simd}")
    names = Vocabulary(symbols)
    return Vocabulary(symbols, {name: _pack(parameter, names) for name, parameter in by_kind[_PACK].items()})


def product(*factors: Operand) -> Expression:
    """A product with its factors in a fixed order, so that equal products are equal expressions."""
    flat = multiply(*factors)
    if not isinstance(flat, Product):
        return flat
    return multiply(flat.coefficient, *(power(b, e) for b, e in sorted(flat.factors, key=lambda factor: str(factor[0]))))


def with_lanes(expression: Expression) -> Expression:
    """Write ratios ``t1.x/t2.x`` as ``lanes.x``."""
    match expression:
        case Sum():
            return add(*map(with_lanes, expression.terms))
        case Product():
            powers = dict(expression.factors)
            for base in expression.children:
                part, _, loop = base.name.partition(".") if isinstance(base, Symbol) else ("", "", "")
                if part == "t1" and (shared := min(powers[t1(loop)], -powers.get(t2(loop), 0))) > 0:
                    powers[t1(loop)] -= shared
                    powers[t2(loop)] += shared
                    powers[lanes(loop)] = shared
            return product(expression.coefficient, *(power(with_lanes(b), e) for b, e in powers.items() if e))
        case CeilingDivision():
            return ceiling_division(with_lanes(expression.numerator), with_lanes(expression.denominator))
        case Maximum():
            return maximum(*map(with_lanes, expression.arguments))
        case Minimum():
            return minimum(*map(with_lanes, expression.arguments))
    return expression


def _simplified(node: Expression, symbols: Mapping[str, Symbol]) -> Expression:
    """Rename, cancel and order, so that equal sizes and counts become equal expressions."""
    parts = [_simplified(child, symbols) for child in node.children]
    match node:
        case Symbol():
            return symbols[node.name]
        case Sum():
            return _sum(parts)
        case Product():
            powers = (power(part, exponent) for part, (_, exponent) in zip(parts, node.factors, strict=True))
            return _distributed(product(node.coefficient, *powers))
        case CeilingDivision():
            over, under = parts
            for symbol in symbols.values():
                kind, _, loop = symbol.name.partition(".")
                if kind == "extent" and (over, under) == (symbol, t1(loop)):
                    return tiles(loop)
            return ceiling_division(over, under)
        case Maximum():
            return maximum(*parts)
        case Minimum():
            return minimum(*parts)
    return node


def _sum(terms: Iterable[Expression]) -> Expression:
    return add(*sorted(terms, key=str))


def _distributed(node: Expression) -> Expression:
    """Multiply a sum over ratios out; sizes such as ``(t1.r + extent.p - 1)*t1.i`` stay products."""
    if not isinstance(node, Product):
        return node
    sums = [base for base, _ in node.factors if isinstance(base, Sum)]
    if len(sums) != 1 or (sums[0], 1) not in node.factors or not _has_ratio(sums[0]):
        return node
    rest = multiply(node, power(sums[0], -1))
    return _sum(product(term, rest) for term in sums[0].terms)


def _has_ratio(expression: Expression) -> bool:
    return any(exponent < 0 for node in walk(expression) if isinstance(node, Product) for _, exponent in node.factors)


def _always_positive(expression: Expression) -> bool:
    """Whether an expression grows with every quantity and is positive where all are 1.

    All quantities are at least 1, so the cost model then never divides by zero.
    """
    for node in walk(expression):
        if isinstance(node, CeilingDivision):
            return False
        if isinstance(node, Product) and (node.coefficient <= 0 or any(exponent < 0 for _, exponent in node.factors)):
            return False
        if (node is expression or isinstance(node, Sum)) and _at_one(node) <= 0:
            return False
    return True


def _at_one(expression: Expression) -> Fraction:
    result: Fraction = expression.evaluate({name: Fraction(1) for name in expression.symbols}, FRACTION)
    return result


def _linked(link: Field, parameters: Mapping[str, Field], kind: str) -> Field:
    if link.text() not in parameters:
        link.refuse(f"a parameter with attr {kind}: {_listed(parameters)}")
    return parameters[link.text()]


def _pack(parameter: Field, names: Vocabulary) -> PackParameter:
    """Read ``bounds: [_, max(min(last, words), lower)]``, ``divisors: [last]`` and ``multiples: [lower]``."""
    multiples = parameter.find("multiples")
    lower = [Constant(Fraction(1))] if multiples is None else [names.expression(m) for m in multiples]
    last = [names.expression(d) for d in parameter["divisors"]]
    if len(lower) != 1 or len(last) != 1:
        parameter.refuse("one divisor and at most one multiple")
    bounds = list(parameter["bounds"])
    if len(bounds) != 2:
        parameter["bounds"].refuse("two bounds")
    limits = [
        argument.value
        for node in walk(names.expression(bounds[1]))
        if isinstance(node, Minimum)
        for argument in node.arguments
        if isinstance(argument, Constant)
    ]
    if len(limits) != 1 or limits[0].denominator != 1 or not 1 <= limits[0] <= 4096:
        bounds[1].refuse("max(min(LAST, WORDS), LOWER) with 1 to 4096 words")
    return PackParameter(lower[0], last[0], int(limits[0]))


def _listed(names: Iterable[str]) -> str:
    return shortened(", ".join(sorted(names))) or "none"
