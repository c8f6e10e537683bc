"""Systolic arrays that share a device, as hardware spaces state them: shares of its resources are
what is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.words import parse_choice
from ithaca.formulations.algebra.expression import Constant, Symbol, add
from ithaca.formulations.data_types import data_type
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import Document, Text
from ithaca.formulations.hardware.accelerator import Accelerator, Trend, Work
from ithaca.formulations.hardware.kind import AcceleratorKind
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.space import Link, Relation
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.codesign.formulations.space import HardwareSpace

#: What is divided among arrays, each of which takes its own shares; a space may leave the bandwidth
#: as it is.
DIVIDED = "dsp", "bram18k", "bandwidth"


@dataclass(frozen=True)
class SystolicArrays(Accelerator):
    """Up to so many arrays on a device, each for consecutive layers, with its shares of what the
    device has."""

    family: ClassVar[str] = "systolic"
    platform: str
    """Name of the device, or its file."""
    dtype: str
    """The type of all tensors."""
    edition: str
    """Edition of the model."""
    arrays: int
    """How many arrays there may be."""
    shares: int
    """Into how many shares each resource is divided."""
    minimise: str = "slowest"
    """The aggregate over the arrays that counts: the slowest, for a stream of inputs, or the total
    of one input."""
    dataflow: tuple[str, ...] | None = None
    """The dataflow of every array; None: whichever is best."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics of every layer."""
        return METRICS

    @property
    def trends(self) -> Mapping[str, Trend]:
        """Shares of each array: more never hurts."""
        names = (f"array{n}.{m}" for m in DIVIDED for n in range(1, self.arrays + 1))
        return dict.fromkeys(names, Trend.HELPS)

    def problems(
        self, work: Work, figures: Mapping[str, Fraction], objective: Objective
    ) -> tuple[Problem, ...]:
        # layers of one array share its hardware: none is a problem of its own
        raise InputError(
            "arrays that share a device are chosen for all layers together; "
            "allowed: one network, by --method proof"
        )

    def sizes(self, space: HardwareSpace) -> dict[str, Fraction]:
        """The size of a share of each resource that is divided.

        Raises `InputError` if the space is not one of all ways to give shares to arrays.
        """
        limits = load_platform(self.platform).bounds({})
        kept = set() if any(n.endswith(".bandwidth") for n in space.figures) else {"bandwidth"}
        divided = [metric for metric in DIVIDED if metric not in kept]
        if lacking := ", ".join(metric for metric in divided if metric not in limits):
            raise InputError(
                f"platform is {quoted(self.platform)}, which states no {lacking}; "
                f"allowed: one with all that is divided, {', '.join(divided)}"
            )
        for metric in divided:
            symbols = []
            for name in (f"array{n}.{metric}" for n in range(1, self.arrays + 1)):
                figure = space.figures.get(name)
                quantity = next(
                    (
                        q
                        for q in space.quantities
                        if figure is not None and figure.expression == Symbol(q.name)
                    ),
                    None,
                )
                if quantity is None or quantity.values != tuple(range(1, self.shares + 1)):
                    raise InputError(
                        f"figures.{name} is not free; allowed: a quantity of its "
                        f"own, range [1, {self.shares}]"
                    )
                symbols.append(Symbol(quantity.name))
            if (
                Link(add(*symbols), Relation.AT_MOST, Constant(Fraction(self.shares)))
                not in space.rules
            ):
                text = " + ".join(symbol.name for symbol in symbols)
                raise InputError(
                    f"rules do not divide {metric}; allowed: {text} <= "
                    f"{self.shares}, beside no others"
                )
        if len(space.rules) > len(divided):
            raise InputError(
                f"rules has {len(space.rules)}; allowed: one for each of {', '.join(divided)}"
            )
        return {metric: limits[metric] / self.shares for metric in divided}


class ArraysDocument(Document):
    """The accelerator of a hardware space of systolic arrays on one device."""

    family: Literal["systolic"]
    platform: Text
    dtype: Text = "fp32"
    edition: Text = Edition.CYCLE.value
    arrays: Annotated[int, Field(ge=1, le=64)]
    shares: Annotated[int, Field(ge=1, le=4096)]
    minimise: Literal["slowest", "total"] = "slowest"
    dataflow: list[Text] | None = None


class Arrays(AcceleratorKind):
    """The kind of accelerator that is arrays on a device (see
    `ithaca.formulations.hardware.kind.AcceleratorKind`)."""

    document = ArraysDocument

    def read(self, document: ArraysDocument, where: object) -> SystolicArrays:
        """Device and data type are names, the edition one of the family's."""
        load_platform(document.platform)
        data_type(document.dtype)
        parse_choice("edition", document.edition, [edition.value for edition in Edition])
        dataflow = None if document.dataflow is None else tuple(document.dataflow)
        own = document.platform, document.dtype, document.edition, document.arrays, document.shares
        return SystolicArrays(*own, document.minimise, dataflow)

    def fields(self, accelerator: SystolicArrays) -> dict[str, Any]:
        own = {
            name: getattr(accelerator, name)
            for name in ("platform", "dtype", "edition", "arrays", "shares", "minimise")
        }
        own |= {} if accelerator.dataflow is None else {"dataflow": list(accelerator.dataflow)}
        return own


ARRAYS = Arrays()
