"""A configuration that is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic.packages import Package, whole_bytes
from ithaca.formulations.systolic.quantities import buffer
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.technology import Technology


class Known(dict[str, Any]):
    """Values of quantities with those of extents and buffers; what neither has comes from the
    former (its own symbol, say)."""

    def __init__(self, values: NumbersByName, extents: NumbersByName) -> None:
        super().__init__(extents)
        self._values = values

    def __missing__(self, name: str) -> Any:
        return self._values[name]


@dataclass(frozen=True, slots=True)
class Point:
    """A point at which costs were evaluated: a design, its quantities, and in what terms."""

    array: SystolicArray
    """The design."""
    values: NumbersByName
    """A number per quantity."""
    data: DataType
    """Word size and DSP cost."""
    numbers: NumberSystem
    """The system the values belong to."""
    technology: Technology
    """Clock and energies."""
    kept: Mapping[str, int]
    """Tensors that stay on chip, with the words of all of each."""

    def value(self, expression: Expression) -> Any:
        """Value of an expression over quantities."""
        return expression.evaluate(self.values, self.numbers)

    def constant(self, number: int | Fraction) -> Any:
        """A number as a constant of the point's number system."""
        return self.numbers.number(Fraction(number))

    @property
    def kept_package(self) -> Package:
        """The words of tensors that stay on chip."""
        kept, type_ = self.data.kept, self.data.format
        return whole_bytes(kept.word_bytes, kept.word_bits / type_.word_bits)

    def held(self, name: str, tile: Expression) -> Any:
        """Words that a buffer holds: a tile, or more where the buffer is a quantity, as layers
        share it."""
        words, quantity = self.value(tile), buffer(name).name
        return (
            self.numbers.maximum(words, self.values[quantity]) if quantity in self.values else words
        )
