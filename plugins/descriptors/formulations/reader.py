"""The fields, names, expressions and loop trees of a published design description.

A description names the extent, ``t1`` and ``t2`` of a loop as it likes (``i``, ``i_t1``, ``i_t2``)
and links them in its ``params``. Its modules state their schedules as trees of loops, marks (such
as ``array``, below which one array tile is handled), conditionals, blocks, calls and transfers of
array tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import NoReturn

from ithaca.files.messages import SHOWN, quoted, refuse
from ithaca.files.reading import location, parse_json, read_text
from ithaca.formulations.algebra.domains import within
from ithaca.formulations.algebra.expression import (
    ONE,
    Constant,
    Expression,
    Minimum,
    add,
    maximum,
    minimum,
    multiply,
    walk,
)
from ithaca.formulations.algebra.monotonicity import WHOLE
from ithaca.formulations.algebra.number_systems import FRACTION, exactly
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.systolic.quantities import extent, lanes, t1, t2, tiles
from ithaca.formulations.systolic.systolic_array import Packing
from ithaca.workloads.nest import LoopNest

#: Largest description (bytes); those published take some 100 kB.
MAX_BYTES = 20_000_000

#: Most levels of a loop tree; no published one comes near.
MAX_DEPTH = 100

#: At how many random points expressions are compared; two different ones hardly agree at the first.
POINTS = 8

_LOOP, _T1, _T2, _SIMD, _PACK = (
    "loop_ub",
    "array_part_tiling_factor",
    "latency_tiling_factor",
    "SIMD_tiling_factor",
    "data_pack_factor",
)


def read_json(path: Path) -> object:
    """Read a JSON file."""
    document: object = parse_json(read_text(path, MAX_BYTES), path)
    return document


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a document, the document's name for messages, and the keys and indices that lead
    to the value."""

    value: object
    document: str
    steps: tuple[str | int, ...] = ()

    @property
    def path(self) -> str:
        """The place of the field in its document, for messages: ``document: key.key[index]``."""
        return f"{self.document}: {location(self.steps)}" if self.steps else self.document

    def refuse(self, expected: str) -> NoReturn:
        """Raise `InputError`: the value is not what it must be."""
        raise refuse(self.path, f"{quoted(self.value)} is not allowed; allowed: {expected}")

    def members(self) -> dict[str, Field]:
        """The fields of an object, in order."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for key in self.value:
            if not isinstance(key, str):
                self.refuse("an object with text keys")
        return {key: self._below(key, value) for key, value in self.value.items()}

    def find(self, key: str) -> Field | None:
        """A field of an object; None where it is missing."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self._below(key, self.value[key]) if key in self.value else None

    def __getitem__(self, key: str) -> Field:
        value = self.find(key)
        if value is None:
            raise refuse(self.path, f"misses {quoted(key)}")
        return value

    def __iter__(self) -> Iterator[Field]:
        if not isinstance(self.value, list):
            self.refuse("a list")
        return (self._below(index, value) for index, value in enumerate(self.value))

    def text(self) -> str:
        """The value of a text field."""
        if not isinstance(self.value, str):
            self.refuse("text")
        return self.value

    def positive(self) -> int:
        """The value of a field that is a positive integer."""
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, int)
            or not 0 < self.value < 2**31
        ):
            self.refuse("a positive integer")
        return self.value

    def flag(self) -> bool:
        """The value of a field that is 0 or 1."""
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, int)
            or self.value not in (0, 1)
        ):
            self.refuse("0 or 1")
        return self.value == 1

    def _below(self, step: str | int, value: object) -> Field:
        return Field(value, self.document, (*self.steps, step))


@dataclass(frozen=True, slots=True)
class Spine:
    """The loops of a tree above and below its mark ``array`` (trips, outermost first), and what
    they end in."""

    above: tuple[Expression, ...]
    below: tuple[Expression, ...]
    leaf: Field

    @property
    def trips(self) -> Expression:
        """The number of times that the leaf is reached."""
        return multiply(*self.above, *self.below)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads expressions and trees of one description."""

    names: Mapping[str, str]
    """Quantity by the description's name for it."""
    packs: Mapping[str, Field]
    """Parameters that are data packing factors, by name."""
    points: tuple[Mapping[str, Fraction], ...]
    """Values of these names and of all quantities."""

    def expression(self, field: Field) -> Expression:
        """An expression over the description's names."""
        under: list[Expression] = []
        read = parse_expression(field.text(), where=field.path, allowed=self.names, under=under)
        what = f"{field.path}: {quoted(field.text())}"
        within(dict.fromkeys(self.names, WHOLE)).check(under, what)
        return read

    def agree(self, described: Expression, derived: Expression) -> bool:
        """Whether two expressions have the same values, exactly."""
        try:
            return all(
                described.evaluate(point, FRACTION) == derived.evaluate(point, FRACTION)
                for point in self.points
            )
        except ZeroDivisionError:
            return False

    def expect(self, field: Field, derived: Expression, meaning: str) -> None:
        """Refuse a field that does not state what was derived.

        Parameters
        ----------
        field : Field
            A field that states an expression.
        derived : Expression
            What the nest says that it is.
        meaning : str
            What the field is to state, for the message.

        Raises
        ------
        InputError
            If they differ.
        """
        if not self.agree(self.expression(field), derived):
            field.refuse(f"{meaning}, {derived}")

    def max_words(self, pack: Field, packing: Packing) -> int:
        """The limit of a pack: ``bounds: [_, max(min(last, words), lower)]``, ``divisors: [last]``,
        ``multiples: [lower]``."""
        parameter = _linked(pack, self.packs, _PACK)
        last, lower = list(parameter["divisors"]), list(parameter.find("multiples") or ())
        if len(last) != 1 or len(lower) > 1:
            parameter.refuse("one divisor and at most one multiple")
        self.expect(last[0], packing.last, "the last dimension of the tile")
        if not self.agree(self.expression(lower[0]) if lower else ONE, packing.multiple_of):
            parameter.refuse(f"multiples of {packing.multiple_of}")
        bounds = list(parameter["bounds"])
        if len(bounds) != 2:
            parameter["bounds"].refuse("two bounds")
        bound = self.expression(bounds[1])
        smallest = [
            argument
            for node in walk(bound)
            if isinstance(node, Minimum)
            for argument in node.arguments
        ]
        words = next(
            (argument.value for argument in smallest if isinstance(argument, Constant)), Fraction(0)
        )
        derived = maximum(minimum(packing.last, words), packing.multiple_of)
        if words.denominator != 1 or not 1 <= words <= 4096 or not self.agree(bound, derived):
            bounds[1].refuse("max(min(LAST, WORDS), LOWER) with 1 to 4096 words")
        return int(words)

    def spine(self, field: Field) -> Spine:
        """Take a tree apart down to its first block, leaf or mark ``simd``, below which everything
        happens at once.

        Of a conditional, the first alternative states the cost.
        """
        above: list[Expression] = []
        trips: list[Expression] = []
        node = field
        for _ in range(MAX_DEPTH):
            match node["type"].text():
                case "for":
                    trips.append(self._trips(node))
                    node = node["child"]
                case "mark" if (mark := node["content"].text()) != "simd":
                    if mark == "array":
                        above, trips = [*above, *trips], []
                    node = node["child"]
                case "if":
                    node = children(node)[0]
                case _:
                    return Spine(tuple(above), tuple(trips), node)
        return field.refuse(f"a tree of at most {MAX_DEPTH} levels")

    def steps(self, node: Field, depth: int = 0) -> Expression | None:
        """Cycles of a tree, one per innermost iteration and per loopless part beside a loop; None
        without loops."""
        if depth > MAX_DEPTH:
            node.refuse(f"a tree of at most {MAX_DEPTH} levels")
        match node["type"].text():
            case "for":
                return self._trips(node) * (self.steps(node["child"], depth + 1) or ONE)
            case "mark":
                return (
                    None
                    if node["content"].text() == "simd"
                    else self.steps(node["child"], depth + 1)
                )
            case "if":
                return self.steps(children(node)[0], depth + 1)
            case "block":
                parts = [self.steps(child, depth + 1) for child in children(node)]
                return (
                    None
                    if all(part is None for part in parts)
                    else add(*(part or ONE for part in parts))
                )
            case "user" | "array_tile":
                return None
        return node["type"].refuse("for, mark, if, block, user, array_tile")

    def _trips(self, node: Field) -> Expression:
        bounds = list(node["bounds"])
        if len(bounds) != 2:
            node["bounds"].refuse("two bounds")
        if bounds[0].text().strip() != "0":
            bounds[0].refuse("'0'")
        return self.expression(bounds[1])


def children(node: Field) -> list[Field]:
    """The nodes of a block or conditional."""
    return list(node["child"]) or node["child"].refuse("a list of one or more nodes")


def read_parameters(parameters: Field, nest: LoopNest) -> Reader:
    """Read the section ``params``.

    Raises `InputError` if it is malformed, or its loops, untiled loops or SIMD loop are not the
    nest's.
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
        raise refuse(
            parameters.path,
            f"loops {_listed(loops)} do not match {nest.name}, which has {_listed(nest.loops)}",
        )
    names = {loop: extent(loop).name for loop in loops}
    tiled: dict[str, str] = {}
    for loop, parameter in loops.items():
        if (outer := parameter.find("split_by")) is None:
            continue
        link = _linked(outer, by_kind[_T1], _T1)["split_by"]
        _linked(link, inner, f"{_T2} or {_SIMD}")
        names[outer.text()], names[link.text()] = t1(loop).name, t2(loop).name
        tiled[loop] = link.text()
    if sorted(tiled) != sorted(nest.band):
        raise refuse(
            parameters.path,
            f"tiled loops {_listed(tiled)} do not match {nest.name}, "
            f"which tiles {_listed(nest.band)}",
        )
    if len(names) < len(loops) + 2 * len(tiled):
        raise refuse(parameters.path, "two loops share a tiling factor")
    simd = [loop for loop, name in tiled.items() if name in by_kind[_SIMD]]
    if simd != [nest.simd]:
        raise refuse(
            parameters.path,
            f"SIMD loops {_listed(simd)} do not match {nest.name}, which has {nest.simd}",
        )
    dice = Random(POINTS)
    return Reader(names, by_kind[_PACK], tuple(_point(nest, names, dice) for _ in range(POINTS)))


def _point(nest: LoopNest, names: Mapping[str, str], dice: Random) -> dict[str, Fraction]:
    values: dict[str, int] = {}
    for loop in nest.loops:
        inner, across, bound = dice.randint(1, 99), dice.randint(1, 99), dice.randint(1, 10**6)
        outer = inner * across
        values |= {t2(loop).name: inner, lanes(loop).name: across, t1(loop).name: outer}
        values |= {extent(loop).name: bound, tiles(loop).name: -(-bound // outer)}
    values |= {name: values[meaning] for name, meaning in names.items()}
    return exactly(values)


def _linked(link: Field, parameters: Mapping[str, Field], kind: str) -> Field:
    if link.text() not in parameters:
        link.refuse(f"a parameter with attr {kind}: {_listed(parameters)}")
    return parameters[link.text()]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
