"""Space files as pydantic models: what each field may be."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, create_model

from ithaca.files.documents import Alone
from ithaca.files.errors import InputError
from ithaca.formulations.documents import ALONE, Document, Formula, Name, Note, Number, Positive
from ithaca.formulations.region import listed
from ithaca.formulations.space import Quantity
from ithaca.plugins.codesign.formulations.regressions import PARTS

#: Largest space file (bytes); nesting of it, with an architecture inside; most values of a
#: quantity.
MAX_BYTES, MAX_DEPTH, MAX_VALUES = 1 << 20, 48, 4096


Label = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


Value = Annotated[int, Field(ge=1, le=10**12)]


Ends = Annotated[list[Value], Field(min_length=2, max_length=2)]


class QuantityDocument(Document):
    """The values of a quantity, in one of four ways."""

    values: Annotated[list[Value], Field(min_length=1, max_length=MAX_VALUES)] | None = None
    range: Ends | None = None
    step: Value | None = None
    powers_of_two: Ends | None = None
    choices: Annotated[list[Label], Field(min_length=1, max_length=MAX_VALUES)] | None = None
    unit: Annotated[str, Field(max_length=40)] = ""

    def quantity(self, name: str) -> Quantity:
        """The quantity. Raises `InputError` if it has no value."""
        fields = [
            k
            for k in ("values", "range", "powers_of_two", "choices")
            if getattr(self, k) is not None
        ]
        if fields == ["values", "choices"]:  # some of them, as files of results say
            fields = ["choices"]
        if len(fields) != 1 or (self.step is not None and fields != ["range"]):
            present = " and ".join(fields if self.step is None else [*fields, "step"]) or "nothing"
            raise InputError(
                f"has {present}; allowed: one of values, range (with step, "
                "perhaps), powers_of_two, choices"
            )
        if self.choices is not None:
            if len(set(self.choices)) < len(self.choices):
                raise InputError(
                    f"choices are {', '.join(self.choices)}; allowed: names that differ"
                )
            count = len(self.choices)
            places = sorted({*(self.values or range(1, count + 1))})
            if places[-1] > count:
                raise InputError(f"values has {places[-1]}; allowed: 1 to {count}, the choices")
            return listed(name, places, tuple(self.choices), self.unit)
        if self.values is not None:
            return listed(name, sorted(set(self.values)), unit=self.unit)
        low, high = self.range or self.powers_of_two or (1, 0)
        span = (
            range(low, high + 1, self.step or 1)
            if self.range
            else [2**k for k in range(high.bit_length()) if low <= 2**k]
        )
        if not 1 <= len(span) <= MAX_VALUES:
            raise InputError(
                f"{fields[0]} is [{low}, {high}], which holds {len(span)} "
                f"values; allowed: 1 to {MAX_VALUES}"
            )
        return listed(name, span, unit=self.unit)


class FigureDocument(Document):
    """A number that follows from quantities: an expression, perhaps the key of a table."""

    of: Formula
    table: dict[str, Number] = Field(default_factory=dict)


class AccelergyDocument(Document):
    """Files of Accelergy's by values of an expression, and the parts they are read for."""

    of: Formula
    ert: dict[str, str] = Field(default_factory=dict)
    art: dict[str, str] = Field(default_factory=dict)
    parts: list[str] | None = None


class CostDocument(FigureDocument):
    """A metric of the hardware itself."""

    unit: Annotated[str, Field(max_length=40)] = ""


#: A platform with regressions of area and power, and what they are functions of where the
#: accelerator does not say.
_PARTS: Any = dict.fromkeys(PARTS, (Formula | None, None))


TechnologyDocument: Any = create_model(
    "TechnologyDocument", __base__=Document, name=(str, ...), **_PARTS
)


class SpaceDocument(Document):
    """The fields of spaces of all families."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
    description: Note = ""
    source: Annotated[str, Field(max_length=2000)] = ""
    quantities: Annotated[
        dict[
            Name,
            Annotated[
                QuantityDocument,
                Alone(list, "values", {"type": "array", "items": {"type": "integer"}}),
            ],
        ],
        Field(min_length=1),
    ]
    figures: dict[str, Annotated[FigureDocument, ALONE]] = Field(default_factory=dict)
    tables: dict[str, FigureDocument] = Field(default_factory=dict)
    accelergy: list[AccelergyDocument] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list)
    technology: Annotated[TechnologyDocument | None, Alone(str, "name", {"type": "string"})] = None
    costs: dict[Name, Annotated[CostDocument, ALONE]] = Field(default_factory=dict)
    workloads: list[str] = Field(default_factory=list)
    objective: str | None = None
    limits: dict[str, Positive] = Field(default_factory=dict)
