"""Stated costs of layers in documents and words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.expression import ZERO, Expression
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import Document, Number
from ithaca.formulations.family import Family, Profile, Remedies
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.formulations.hardware.remedies import Remedy
from ithaca.formulations.schema import NestDocument, ObjectiveDocument, PlatformDocument
from ithaca.plugins.codesign.formulations.custom.design import CustomDesign
from ithaca.plugins.codesign.formulations.custom.model import Model, ModelDocument, read_model
from ithaca.workloads.library import workload_document
from ithaca.workloads.nest import LoopNest


class LayerHeadDocument(Document):
    """The question that a result file of stated costs begins with."""

    problem: NestDocument
    model: ModelDocument
    figures: dict[str, Number]
    platform: PlatformDocument
    objective: ObjectiveDocument


class LayerDesignDocument(Document):
    """The design of a layer, of which there is one: without fields."""


class CustomProfile(Profile[CustomDesign]):
    """A layer with stated costs in words."""

    @property
    def attributes(self) -> Mapping[str, str | float]:
        nest = self.design.nest
        return {"workload": nest.name, "statement": str(nest), "edition": "custom"}

    @property
    def title(self) -> str:
        return f"{self.design.nest.name} ({self.design.nest.shown_sizes}), costs as stated"

    @property
    def nest(self) -> LoopNest:
        return self.design.nest

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        chosen = (choice.name for choice in self.design.model.choices)
        return tuple(f"{name} = {configuration[name]}" for name in chosen)

    def multipliers(self, metrics: Mapping[str, Fraction]) -> Fraction | None:
        return None

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        """Remedies by factor, as mitigations state them; of factors without any, every figure that
        the factor itself speaks of and that only helps, s times as large."""
        model, values = self.design.model, self.design.exactly(configuration)
        remedies = {
            name: tuple(
                Remedy(figure)
                for figure in sorted(factor.symbols & set(model.figures))
                if model.trends[figure] is not Trend.HURTS
            )
            for name, factor in model.factors
        }
        for name, wanted in model.mitigations:
            remedies[name] = tuple(
                Remedy(figure, stated=_stated(of, values)) for figure, of in wanted
            )
        return remedies


def _stated(of: Expression | None, values: Mapping[str, Fraction]) -> Expression:
    """The value that a mitigation states, over its scales; 0, which has no end, where it states
    none, or divides by 0."""
    try:
        return ZERO if of is None else of.substitute(values)
    except ZeroDivisionError:
        return ZERO


class CustomFamily(Family[CustomDesign]):
    """Documents of stated costs."""

    document, profile = "custom", CustomProfile
    head, choice, tiling = LayerHeadDocument, LayerDesignDocument, dict[str, int]

    def head_fields(self, design: CustomDesign) -> Mapping[str, Any]:
        return {
            "problem": workload_document(design.nest),
            "model": design.model.fields,
            "figures": dict(design.figures),
        }

    def setting(self, head: LayerHeadDocument) -> tuple[LoopNest, Model, dict[str, Fraction]]:
        model = read_model(head.model, head.figures)
        model.check({name: Interval(value, value) for name, value in head.figures.items()})
        return head.problem.nest(), model, head.figures

    def vocabulary(self, setting: Any) -> Mapping[str, Metric]:
        _, model, _ = setting
        return dict(model.metrics)

    def design(self, setting: Any, choice: LayerDesignDocument) -> CustomDesign:
        nest, model, figures = setting
        return CustomDesign(nest, model, tuple(figures.items()))


#: The family, for the registry.
STATED = CustomFamily()
