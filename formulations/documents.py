"""Documents that Ithaca writes and reads: their model, and the types of their fields."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

from ithaca.files.documents import Alone, InputDocument
from ithaca.files.numbers import fraction, json_number


def number(value: object) -> Fraction:
    """The exact value of a JSON number; a `ValueError` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
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
