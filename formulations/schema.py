"""Documents as pydantic models: what those of all families share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.documents import Document, Number, Text
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.problem import Limit
from ithaca.workloads.kernel_files import with_sparsity
from ithaca.workloads.library import documented_workload
from ithaca.workloads.nest import LoopNest

#: Units of limits that documents state, as these metrics have several in use.
STATED_UNITS = {"power": "W", "area": "mm²"}


class PlatformDocument(Document):
    """The device and its limits."""

    name: Text
    limits: dict[str, Number]
    units: dict[str, Text] = Field(default_factory=dict)

    def upper_limits(self, metrics: Collection[str]) -> tuple[Limit, ...]:
        """The limits; refused if one is not of these metrics."""
        with errors_at("platform.limits"):
            for metric in self.limits:
                unit = STATED_UNITS.get(metric)
                if self.units.get(metric) != unit:
                    raise InputError(
                        f"{metric} is in {quoted(self.units.get(metric))}; allowed: {unit}"
                    )
                if not is_requirement(metric):
                    parse_expression(metric, where="limit", allowed=metrics)
            return tuple(Limit(metric, bound) for metric, bound in self.limits.items())


class ObjectiveDocument(Document):
    """The expression that was minimised, and the least value found."""

    expression: Text
    value: Number | None


class StatedNestDocument(Document):
    """A nest that is not the library's."""

    statement: Text
    untiled: list[str]
    simd: Annotated[str, Field(max_length=10_000)]  # empty where no loop is vectorised


class DensityDocument(Document):
    """The share of a tensor's words that are not zero."""

    distribution: Literal["hypergeometric", "fixed_structured", "banded"]
    density: Annotated[float, Field(ge=0, le=1)] = 1
    band_width: Annotated[int, Field(ge=0)] = 0


class NestDocument(Document):
    """A nest with its extents."""

    name: Text
    sizes: dict[str, int]
    parameters: dict[str, int] = Field(default_factory=dict)
    kernel: StatedNestDocument | None = None
    block_sparse: Text | None = None
    format: Text | None = None
    densities: dict[str, DensityDocument] = Field(default_factory=dict)

    def nest(self) -> LoopNest:
        """The nest these fields describe. Raises `InputError` if there is no such nest."""
        kernel = None if self.kernel is None else self.kernel.model_dump()
        nest = documented_workload(self.name, self.sizes, self.parameters, kernel)
        own = {tensor: dict(each) for tensor, each in self.densities.items()}
        if own:
            from ithaca.workloads.densities import read_densities

            densities = read_densities({"densities": own}, own, "problem")
            nest = replace(nest, densities=densities)
        nest = with_sparsity(nest, self.block_sparse, "block_sparse")
        if self.format is None:
            return nest
        from ithaca.workloads.formats import with_formats

        return with_formats(nest, self.format, "format")
