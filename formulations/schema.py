"""Documents as pydantic models: what those of all families share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

from ithaca.files.documents import Alone
from ithaca.files.documents import InputDocument as InputDocument
from ithaca.files.messages import errors_at
from ithaca.files.numbers import fraction, json_number
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Limit
from ithaca.workloads.densities import read_densities
from ithaca.workloads.kernel_files import with_sparsity
from ithaca.workloads.library import documented_workload
from ithaca.workloads.nest import LoopNest


def number(value: object) -> Fraction:
    """The exact value of a JSON number; a `ValueError` if it is none."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    return fraction(value)


def _positive(value: object) -> Fraction:
    read = number(value)
    if read < 0:
        raise ValueError("a number that is not negative")
    return read


_WRITTEN = PlainSerializer(json_number)
Number = Annotated[Fraction, PlainValidator(number), _WRITTEN, WithJsonSchema({"type": "number"})]
Positive = Annotated[
    Fraction, PlainValidator(_positive), _WRITTEN, WithJsonSchema({"type": "number", "minimum": 0})
]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]
Note = Annotated[str, Field(max_length=500)]
Count = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


#: The schema of an expression; numbers are some, too.
FORMULA = {"type": ["string", "number"]}
Formula = Annotated[str, BeforeValidator(_text), Field(max_length=10_000), WithJsonSchema(FORMULA)]

#: Stands for a document that only says what it is of, by an expression alone.
ALONE = Alone(str | int | float, "of", FORMULA)


class Document(InputDocument):
    """A document that Ithaca writes, too."""

    def as_json(self) -> dict[str, Any]:
        """The document as JSON values, without what is as it is by default."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


class PlatformDocument(Document):
    """The device and its limits."""

    name: Text
    limits: dict[str, Number]

    def upper_limits(self, metrics: Collection[str]) -> tuple[Limit, ...]:
        """The limits; refused if one is not of these metrics."""
        with errors_at("platform.limits"):
            for metric in self.limits:
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
    densities: dict[str, DensityDocument] = Field(default_factory=dict)

    def nest(self) -> LoopNest:
        """The nest these fields describe. Raises `InputError` if there is no such nest."""
        kernel = None if self.kernel is None else self.kernel.model_dump()
        nest = documented_workload(self.name, self.sizes, self.parameters, kernel)
        own = {tensor: dict(each) for tensor, each in self.densities.items()}
        densities = read_densities({"densities": own}, own, "problem")
        nest = replace(nest, densities=densities)
        return with_sparsity(nest, self.block_sparse, "block_sparse")
