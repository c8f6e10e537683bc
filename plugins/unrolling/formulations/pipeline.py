"""Pipelines of layers that all work at a time: how far each is unrolled, and what that costs.

A layer multiplies ``pe`` outputs by ``simd`` inputs in a cycle; its *reuse* is how many cycles a
position takes. The slowest layer sets the interval between images.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.formulations.algebra.expression import Constant, Expression, Symbol, as_expression
from ithaca.formulations.algebra.number_systems import FRACTION, NumbersByName, NumberSystem
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.space import Axis, Link, Quantity, Relation, Space, make_space
from ithaca.plugins.unrolling.formulations.layers import INTERVAL, Freedom, WeightLayer
from ithaca.plugins.unrolling.formulations.stage import pipeline_stage

if TYPE_CHECKING:
    from ithaca.formulations.stage import Stage

MULTIPLIERS, BLOCKS = "multipliers", "bram18k"

METRICS = {
    metric.name: metric
    for metric in (
        Metric(INTERVAL, "cycles", "from one image to the next: those of the slowest layer"),
        Metric(MULTIPLIERS, "multipliers", "of all layers"),
        Metric(BLOCKS, "blocks", "block RAM of 18 Kbit that hold all weights"),
    )
}

#: Words of a block RAM of 18 Kbit, by how many bits each has (AMD UG573, simple dual port).
SHAPES = {1: 16384, 2: 8192, 4: 4096, 9: 2048, 18: 1024, 36: 512}


@dataclass(frozen=True, slots=True)
class Unrolled:
    """The unrolling of a layer: factors of its matrix that work at once."""

    pe: int
    """Outputs side by side; 1 where the layer's freedom is `Freedom.ANY`."""
    simd: int
    """Inputs side by side; there as well."""
    reuse: int
    """Cycles of a position."""


@dataclass(frozen=True)
class Pipeline(Design):
    """Layers side by side, each with its weights on chip."""

    layers: tuple[WeightLayer, ...]
    freedoms: tuple[Freedom, ...]
    weight_bits: int | None = None
    """Bits of a weight; None: block RAM is not counted."""

    family: ClassVar[str] = "pipeline of layers"

    @property
    def name(self) -> str:
        return "pipeline"

    @property
    def vocabulary(self) -> Mapping[str, Metric]:
        return {n: m for n, m in METRICS.items() if n != BLOCKS or self.weight_bits is not None}

    @property
    def space(self) -> Space:
        places = enumerate(zip(self.layers, self.freedoms, strict=True), 1)
        return make_space(tuple(_axis(place, *each) for place, each in places), ())

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        wanted = {*self.vocabulary} if names is None else {*names}
        parts = [self.layer_metrics(place, values, numbers) for place in range(len(self.layers))]
        joined = {
            INTERVAL: numbers.maximum,
            MULTIPLIERS: numbers.total,
            BLOCKS: numbers.total,
        }
        return {name: joined[name](*(part[name] for part in parts)) for name in wanted}

    def layer_metrics(
        self, place: int, values: NumbersByName, numbers: NumberSystem
    ) -> dict[str, Any]:
        """The metrics of a layer alone, by name.

        Parameters
        ----------
        place : int
            Its place in the pipeline, from 0.
        values : Mapping of str to number
            Values of the quantities.
        numbers : NumberSystem
            The number system.
        """
        layer = self.layers[place]
        weights = numbers.number(Fraction(layer.weights))
        positions = numbers.number(Fraction(layer.positions))
        if self.freedoms[place] is Freedom.ANY:
            reuse = values[f"reuse.{place + 1}"]
            lanes = numbers.ceil_div(weights, reuse)
        else:
            lanes = values[f"pe.{place + 1}"] * values[f"simd.{place + 1}"]
            reuse = weights / lanes
        known = {INTERVAL: reuse * positions, MULTIPLIERS: lanes}
        if self.weight_bits is not None:
            bits = lanes * numbers.number(Fraction(self.weight_bits))
            known[BLOCKS] = numbers.minimum(
                *(
                    numbers.ceil_div(bits, numbers.number(Fraction(width)))
                    * numbers.ceil_div(reuse, numbers.number(Fraction(words)))
                    for width, words in SHAPES.items()
                )
            )
        return known

    def stage(self, problem: Any) -> Stage | None:
        return pipeline_stage(self, problem)

    def configuration(self, unrolled: tuple[Unrolled, ...]) -> Configuration:
        """The configuration of layers that are so unrolled."""
        values: dict[str, int] = {}
        for place, (each, freedom) in enumerate(zip(unrolled, self.freedoms, strict=True), 1):
            if freedom is Freedom.ANY:
                values[f"reuse.{place}"] = each.reuse
            else:
                values |= {f"pe.{place}": each.pe, f"simd.{place}": each.simd}
        return Configuration(values)

    def unrolled(self, configuration: Mapping[str, int]) -> tuple[Unrolled, ...]:
        """The unrolling of each layer in a configuration."""
        return tuple(
            Unrolled(1, 1, configuration[f"reuse.{place}"])
            if freedom is Freedom.ANY
            else Unrolled(
                pe := configuration[f"pe.{place}"],
                simd := configuration[f"simd.{place}"],
                layer.weights // (pe * simd),
            )
            for place, (layer, freedom) in enumerate(
                zip(self.layers, self.freedoms, strict=True), 1
            )
        )

    def figures(self, configuration: Mapping[str, int]) -> tuple[dict[str, Fraction], ...]:
        """The metrics of each layer, exactly."""
        exact = {name: Fraction(value) for name, value in configuration.items()}
        places = range(len(self.layers))
        return tuple(self.layer_metrics(place, exact, FRACTION) for place in places)


def _axis(place: int, layer: WeightLayer, freedom: Freedom) -> Axis:
    """The choices of a layer."""
    if freedom is Freedom.ANY:
        return Axis(f"layer.{place}", (Quantity(f"reuse.{place}", 1, layer.weights),))
    pe, simd = Symbol(f"pe.{place}"), Symbol(f"simd.{place}")
    outputs, inputs = (Constant(Fraction(n)) for n in (layer.outputs, layer.inputs))
    links = [Link(pe, Relation.DIVIDES, outputs), Link(simd, Relation.DIVIDES, inputs)]
    if freedom is Freedom.OUTPUTS_FIRST:
        rest: Expression = (simd - 1) * (outputs - pe)
        links.append(Link(rest, Relation.AT_MOST, as_expression(0)))
    quantities = (
        Quantity(f"pe.{place}", 1, layer.outputs),
        Quantity(f"simd.{place}", 1, layer.inputs),
    )
    return Axis(f"layer.{place}", quantities, tuple(links))
