"""Accelerators of stated costs, as hardware spaces state them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import POSITIVE
from ithaca.formulations.design import Metric
from ithaca.formulations.hardware.accelerator import Accelerator, Trend, Work
from ithaca.formulations.hardware.kind import About, AcceleratorKind, Figure
from ithaca.formulations.problem import Objective, Problem
from ithaca.plugins.codesign.formulations.custom.design import CustomDesign
from ithaca.plugins.codesign.formulations.custom.model import Model, ModelDocument, read_model
from ithaca.plugins.codesign.formulations.custom.question import CustomQuestion


@dataclass(frozen=True)
class CustomAccelerator(Accelerator):
    """Hardware of which a model says what layers cost."""

    family: ClassVar[str] = "custom"
    model: Model
    """The model."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name: the factors of the model."""
        return self.model.metrics

    @property
    def trends(self) -> Mapping[str, Trend]:
        """The trends that follow from the model's expressions."""
        return self.model.trends

    def problems(
        self, work: Work, figures: Mapping[str, Fraction], objective: Objective
    ) -> tuple[Problem, ...]:
        # there is one design
        return (
            Problem(CustomDesign(work.nest, self.model, tuple(figures.items())), (), objective),
        )


class CustomDocument(ModelDocument):
    """The accelerator of a hardware space whose costs are stated as formulas."""

    family: Literal["custom"]


class Custom(AcceleratorKind):
    """The kind of accelerator whose spaces state costs (see
    `ithaca.formulations.hardware.kind.AcceleratorKind`)."""

    document = CustomDocument

    def read(self, document: Any, where: object) -> CustomAccelerator:
        """The accelerator of a document. Quantities are figures, too, by their own names."""
        if twice := min(document.figures.keys() & document.quantities.keys(), default=None):
            raise InputError(
                f"figures.{twice} is the name of a quantity; allowed: other names, as "
                "a quantity is a figure by itself"
            )
        return CustomAccelerator(read_model(document, [*document.quantities, *document.figures]))

    def fields(self, accelerator: CustomAccelerator) -> dict[str, Any]:
        return dict(accelerator.model.fields)

    def completed(
        self, accelerator: CustomAccelerator, figures: Mapping[str, Figure]
    ) -> tuple[CustomAccelerator, Mapping[str, Figure]]:
        own = (name for name in accelerator.model.figures if name not in figures)
        return accelerator, {name: Figure(Symbol(name)) for name in own} | dict(figures)

    def check_ranges(self, accelerator: CustomAccelerator, spans: Mapping[str, Interval]) -> None:
        """Trends are known of positive figures only."""
        for figure, span in spans.items():
            if span.low not in POSITIVE or span.high not in POSITIVE:
                raise InputError(
                    f"figures.{figure} may be {number(span.low)} to {number(span.high)}; "
                    "allowed: positive numbers, whatever the rules exclude"
                )
        accelerator.model.check(spans)

    def alone(
        self, accelerator: CustomAccelerator, figures: Mapping[str, Fraction], about: About
    ) -> str:
        return f"{about.name}: {about.text}"

    def request(
        self, accelerator: CustomAccelerator, alone: str, problems: tuple[Problem, ...]
    ) -> CustomQuestion:
        return CustomQuestion(hardware=alone, objective=problems[0].objective, layers=problems)


#: How spaces state them.
CUSTOM = Custom()
