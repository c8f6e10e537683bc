"""The parts of a design's number: a tree of maxima, sums and products, and what binds in it.

The tree follows from the model, run on numbers that remember how they came about; the design only
says which numbers inside have names (`Design.parts`). Whatever has no name and nothing named inside
is one part.

Unlike expressions, these numbers keep the order in which the model computes, so that a number
inside (a level's cycles, say) is met again where it was used, as the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from ithaca.files.numbers import json_number, number, percent
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION, NumberSystem
from ithaca.formulations.design import Design
from ithaca.formulations.remembered import remembered

Operand: TypeAlias = "Traced | int | Fraction"


class How(Enum):
    """The operation by which a number came about."""

    GIVEN = "given"
    """An input, or the result of a division or a minimum, whose parts do not add up."""
    SUM = "sum"
    """The sum of its parts."""
    MAX = "max"
    """The largest of its parts."""
    PRODUCT = "product"
    """The product of its parts."""


@dataclass(frozen=True, eq=False, slots=True)
class Traced:
    """A number with those it was made of; equal only to itself as an object."""

    value: Fraction
    """The number."""
    how: How = How.GIVEN
    """How it came about."""
    parts: tuple[Traced, ...] = ()
    """From what."""

    def __add__(self, other: Operand) -> Traced:
        right = traced(other)
        return Traced(
            self.value + right.value, How.SUM, tuple(part for part in (self, right) if part.value)
        )

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Traced:
        return self + -1 * traced(other)

    def __rsub__(self, other: Operand) -> Traced:
        return traced(other) + -1 * self

    def __neg__(self) -> Traced:
        return -1 * self

    def __mul__(self, other: Operand) -> Traced:
        right = traced(other)
        return Traced(self.value * right.value, How.PRODUCT, (self, right))

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Traced:
        return self * (1 / traced(other).value)

    def __rtruediv__(self, other: Operand) -> Traced:
        return traced(other) / self


def traced(value: Operand) -> Traced:
    """A number without a past; those that have one stay as they are."""
    return value if isinstance(value, Traced) else Traced(Fraction(value))


def traced_values(values: Mapping[str, int]) -> dict[str, Traced]:
    """The values of a configuration as traced numbers."""
    return {name: traced(value) for name, value in values.items()}


def _ceil_div(top: Operand, bottom: Operand) -> Traced:
    """The rounding counts as a factor: each part is rounded as the whole is."""
    exact, by = traced(top), traced(bottom)
    rounded = FRACTION.ceil_div(exact.value, by.value)
    return exact * (rounded / exact.value) if exact.value else traced(rounded)


def _maximum(*values: Operand) -> Traced:
    parts = tuple(traced(value) for value in values)
    return Traced(
        max(part.value for part in parts), How.MAX, tuple(part for part in parts if part.value > 0)
    )


def _minimum(*values: Operand) -> Traced:
    least = min((traced(value) for value in values), key=lambda part: part.value)
    return Traced(least.value, How.MAX, (least,))


TRACED = NumberSystem("traced", traced, _ceil_div, _maximum, _minimum)


#: What is added up, or compared, without a name.
REST = "the rest"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a whole: parts of a sum add up to it, the largest of a maximum is it, each factor
    of a product counts whole."""

    name: str
    """Its name; empty where it has none."""
    how: How
    """The operation on its own parts that makes it."""
    value: Fraction
    """The contribution, in the unit of the whole."""
    share: Fraction
    """The contribution over that of the whole."""
    parts: tuple[Part, ...] = ()
    """The parts that it is made of, the largest first; none where nothing inside has a name."""

    @property
    def document(self) -> dict[str, Any]:
        """The tree ready for JSON."""
        own: dict[str, Any] = {
            "name": self.name,
            "value": json_number(self.value),
            "share": json_number(self.share),
        }
        return (
            {**own, self.how.value: [part.document for part in self.parts]} if self.parts else own
        )

    def within(self, whole: str) -> str:
        """The part's name inside a whole: what the whole's name does not say already."""
        return " ".join(word for word in self.name.split() if word not in whole.split()) or REST


@dataclass(frozen=True, slots=True)
class Binding:
    """A part of a number for which it is as large as it is."""

    names: tuple[str, ...]
    """Named parts from the whole to the one that binds."""
    ratio: Fraction | None
    """S: the largest over the next largest where they part; None where there is nothing else."""
    share: Fraction
    """F: the innermost part over the largest there."""


def bottleneck(
    design: Design, configuration: Mapping[str, int], expression: Expression, name: str
) -> Part:
    """The tree of the parts of an expression over a design's metrics.

    Parameters
    ----------
    design : Design
        The design.
    configuration : Mapping of str to int
        The configuration.
    expression : Expression
        Over metrics.
    name : str
        The name of the whole.

    Returns
    -------
    Part
        The whole with its parts, each with its value.
    """
    metrics, named = design.parts(traced_values(configuration), TRACED)
    whole = traced(expression.evaluate(metrics, TRACED))
    names: dict[int, str] = {}
    wanted = {text: metrics[text] for text in sorted(expression.symbols)}
    for text, node in (*named.items(), *wanted.items()):
        if isinstance(node, Traced):
            names.setdefault(id(node), text)
    part = _Tree(names, whole.value).part(whole, Fraction(1))
    return part if part.name else replace(part, name=name)


class _Tree:
    """Parts of traced numbers; ``names`` by identity."""

    def __init__(self, names: Mapping[int, str], whole: Fraction) -> None:
        self._names, self._whole = names, whole

    def part(self, node: Traced, times: Fraction) -> Part:
        """A number, as often as it counts, as a part of the whole."""
        name, value = self._names.get(id(node), ""), node.value * times
        share = value / self._whole if self._whole else Fraction(0)
        if not self._named_inside(node):
            return Part(name, How.GIVEN, value, share)
        if node.how is How.PRODUCT:
            factors = (
                self.part(each, value / each.value) for each in node.parts if self._matters(each)
            )
            parts = [each for factor in factors for each in _opened(factor, How.PRODUCT)]
        else:
            parts = sorted(self._flat(node, times), key=lambda part: -part.value)
        if len(parts) == 1:
            return replace(parts[0], name=name or parts[0].name, value=value, share=share)
        return Part(name, node.how, value, share, tuple(parts))

    def _flat(self, node: Traced, times: Fraction) -> Iterator[Part]:
        """The parts of a sum or of a maximum, with those of unnamed ones within it; what has one
        name, or none, is one part."""
        merged: dict[object, Part] = {}
        for place, part in enumerate(
            part for each in node.parts for part in _opened(self.part(each, times), node.how)
        ):
            if not part.parts and (known := merged.get(part.name)) is not None:
                value = (
                    known.value + part.value
                    if node.how is How.SUM
                    else max(known.value, part.value)
                )
                part = replace(part, value=value, share=value / self._whole)
            # what has parts of its own stays apart, but that the same maximum may be met twice
            merged[part.name if not part.parts else place if node.how is How.SUM else part] = part
        yield from (part for part in merged.values() if part.value)

    def _matters(self, node: Traced) -> bool:
        return id(node) in self._names or self._named_inside(node)

    @remembered
    def _named_inside(self, node: Traced) -> bool:
        """Whether parts of it have names; what is subtracted from one is none of its parts."""
        named = [part for part in node.parts if self._matters(part)]
        return bool(named and node.value) and all(part.value >= 0 for part in named)


def _opened(part: Part, how: How) -> tuple[Part, ...]:
    """The parts of an unnamed part of some kind; any other by itself."""
    return part.parts if part.how is how and not part.name else (part,)


def bindings(part: Part, able: Callable[[str], bool] = bool) -> tuple[Binding, ...]:
    """The parts that bind: at a maximum its largest part, or several as large, at a sum the largest
    one, at a product every factor.

    Sums may pass over parts that nothing can be done about: ``able`` says of a name whether
    something can. The ratio s is that of the first maximum on the way, or of the first sum where
    there is none.
    """
    return tuple(_bindings(part, (), able, None))


def _bindings(
    part: Part,
    names: tuple[str, ...],
    able: Callable[[str], bool],
    known: tuple[Fraction | None, Fraction] | None,
) -> Iterator[Binding]:
    """``known``: the ratio, and the part that it was found for."""
    names = (*names, part.name) if part.name else names
    if part.how is How.PRODUCT:
        chosen = part.parts
    elif part.how is How.MAX:
        chosen = tuple(each for each in part.parts if each.value == part.parts[0].value)
    else:
        chosen = tuple(each for each in part.parts if _any(each, able))[:1]
    if not chosen:
        ratio, base = known or (None, part.value)
        yield Binding(names, ratio, part.value / base)
    elif (
        part.how is not How.PRODUCT
        and known is None
        and (part.how is How.MAX or not _has_maximum(chosen[0]))
    ):
        value = chosen[0].value
        following = max((each.value for each in part.parts if 0 < each.value < value), default=None)
        known = None if following is None else value / following, value
    for each in chosen:
        yield from _bindings(each, names, able, known)


def _any(part: Part, able: Callable[[str], bool]) -> bool:
    """Whether something can be done about a part, or about one inside it."""
    return able(part.name) or any(_any(each, able) for each in part.parts)


def _has_maximum(part: Part) -> bool:
    """Whether a maximum lies on the way from a part to what binds."""
    return part.how is How.MAX or any(
        map(_has_maximum, part.parts if part.how is How.PRODUCT else part.parts[:1])
    )


def contenders(part: Part) -> tuple[Part, ...]:
    """The parts of the first maximum on the way, the largest first, or the number itself."""
    at = part
    while at.how is not How.MAX and at.parts:
        at = at.parts[0]
    return at.parts if at.how is How.MAX else (part,)


def binding_words(part: Part, unit: str) -> str:
    """The part that binds, and how much everything else would take, in words."""
    first, *others = contenders(part)
    inner = first.parts[0].within(first.name) if first.parts else ""
    rest = ", ".join(f"{other.name or REST} {percent(other.share)}" for other in others)
    most = "" if inner in ("", REST) else f" (mostly {inner})"
    words = f"{first.name or REST}{most}, {number(part.value)} {unit}"
    return words + (f"; meanwhile at work: {rest}" if rest else "")


def shares(part: Part) -> str:
    """Shares of a sum's parts in words; what is below nothing (roundings) is left out."""
    return ", ".join(
        f"{each.name or REST} {percent(each.share)}"
        for each in part.parts or (part,)
        if each.value >= 0
    )
