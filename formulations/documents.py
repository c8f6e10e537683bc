"""Documents that Ithaca writes and reads: their model, and the types of their fields."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ithaca.files.documents import InputDocument
from ithaca.files.numbers import fraction, json_number


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


class Document(InputDocument):
    """A document that Ithaca writes, too."""

    def as_json(self) -> dict[str, Any]:
        """The document as JSON values, without what is as it is by default."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
