"""A layer on an accelerator whose costs are stated: what it may choose, and the metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.formulations.algebra.number_systems import (
    FRACTION,
    NumbersByName,
    NumberSystem,
    exactly,
)
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.space import Axis, Quantity, QuantityKind, Space, make_space
from ithaca.plugins.codesign.formulations.custom.model import LARGEST, LAYER, Model, facts
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class CustomDesign(Design):
    """A layer on hardware with given figures."""

    nest: LoopNest
    """The layer; the model reads its facts alone."""
    model: Model
    """The model of its costs."""
    figures: tuple[tuple[str, Fraction], ...]
    """The hardware, figure by figure."""
    family = "custom"

    def __post_init__(self) -> None:
        """Raises `InputError` if the model speaks of what the layer does not have."""
        if wrong := min(self.model.facts - self._known.keys(), default=None):
            own = ", ".join(each for each in self._known if each.startswith(LAYER))
            raise InputError(f"the model's {wrong} is no fact of {self.nest.name}; allowed: {own}")

    @property
    def name(self) -> str:
        return "custom"

    @cached_property
    def vocabulary(self) -> Mapping[str, Metric]:
        return self.model.metrics

    @cached_property
    def _known(self) -> dict[str, Fraction]:
        return facts(self.nest) | dict(self.figures)

    @cached_property
    def space(self) -> Space:
        axes = []
        for choice in self.model.choices:
            ends = [
                Fraction(end.evaluate(self._known, FRACTION)) for end in (choice.low, choice.high)
            ]
            low, high = ceil(ends[0]), floor(ends[1])
            kind = QuantityKind.POWER_OF_TWO if choice.powers else QuantityKind.INTEGER
            if choice.powers:  # the next one inside
                low, high = 1 << max(low - 1, 0).bit_length(), 1 << max(high, 1).bit_length() - 1
            if not (ends[0] >= 1 and low <= high <= LARGEST):
                spans = "powers of two " if choice.powers else ""
                raise InputError(
                    f"choices.{choice.name} of {self.nest.name} is {spans}from {number(ends[0])} "
                    f"to {number(ends[1])}; allowed: from 1 to {number(LARGEST)}, one at least"
                )
            quantity = Quantity(choice.name, low, high, kind)
            axes.append(Axis(choice.name, (quantity,)))
        # without choices there is one configuration all the same
        return make_space(axes or [Axis("run", (Quantity("run", 1, 1),))], ())

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        known = self._at(values, numbers)
        return {name: known[name] for name in self.vocabulary if names is None or name in names}

    def conditions(
        self, values: NumbersByName, numbers: NumberSystem
    ) -> tuple[tuple[Any, Fraction], ...]:
        known = self._at(values, numbers)
        return tuple(
            (left.evaluate(known, numbers) - right.evaluate(known, numbers), Fraction(0))
            for _, left, right in self.model.conditions
        )

    def _at(self, values: NumbersByName, numbers: NumberSystem) -> dict[str, Any]:
        """Figures, facts, choices and factors by name."""
        known = {name: numbers.number(value) for name, value in self._known.items()}
        chosen = {name: values[name] for name in self.space.quantities}
        known |= chosen
        for name, expression in self.model.factors:
            known[name] = expression.evaluate(known, numbers)
            if not self.model.wholes[name].symbols & chosen.keys():
                # what no choice decides has the shape of the choices all the same
                known[name] += 0 * next(iter(chosen.values()))
        return known

    def exactly(self, configuration: Mapping[str, int]) -> dict[str, Fraction]:
        """The value of every name of the model, by the exact reference."""
        return self._at(exactly(configuration), FRACTION)
