"""Arrays of recurrences in documents and words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any, Literal

from ithaca.files.documents import json_schema
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Metric
from ithaca.formulations.documents import Count, Document, Positive
from ithaca.formulations.family import Breakdown, Family, Profile
from ithaca.formulations.schema import ObjectiveDocument, PlatformDocument
from ithaca.plugins.recurrences.formulations.array import Timing
from ithaca.plugins.recurrences.formulations.choice import choose_designs
from ithaca.plugins.recurrences.formulations.design import METRICS, RecurrenceDesign
from ithaca.plugins.recurrences.workloads.recurrence import (
    Recurrence,
    RecurrenceDocument,
    read_recurrence,
)
from ithaca.workloads.nest import LoopNest


class TimingDocument(Document):
    """Cycles of what an array consists of."""

    hop: Count
    multiply: Count
    add: Count
    divide: Count
    interval: Count


class RecurrencesDocument(RecurrenceDocument):
    """The recurrences as a whole, so that files stand alone."""

    dtype: Literal["fp32"]


class RecurrenceHeadDocument(Document):
    """The question that a result file of recurrences begins with."""

    workload: RecurrencesDocument
    edition: Literal["cycle"]
    timing: TimingDocument
    clock_mhz: Positive
    platform: PlatformDocument
    objective: ObjectiveDocument


class SpaceLoopsDocument(Document):
    """The loops mapped to space."""

    dataflow: list[str]


class ArraySizeDocument(Document):
    """The size of the array (PEs)."""

    size: Count


class RecurrenceProfile(Profile[RecurrenceDesign]):
    """An array of recurrences in words."""

    @property
    def attributes(self) -> Mapping[str, str | float]:
        nest = self.design.nest
        return {
            "workload": nest.name,
            "statement": str(nest),
            "sizes": json.dumps(nest.settings),
            "dtype": "fp32",
            "design": self.design.name,
            "edition": "cycle",
            "clock_mhz": float(self.design.clock_mhz),
        }

    @property
    def title(self) -> str:
        nest = self.design.nest
        return f"{nest.name} ({nest.shown_sizes}) fp32, space loops {self.design.name}"

    @property
    def heading(self) -> tuple[tuple[str, str], ...]:
        nest = self.design.nest
        return (
            ("workload", f"{nest.name} ({nest.shown_sizes})"),
            ("statement", str(nest)),
            ("data type", "fp32"),
            ("edition", "cycle"),
        )

    @property
    def nest(self) -> LoopNest:
        return self.design.nest

    def answers_to(self, text: str) -> bool:
        return text.replace(" ", "") == self.design.name

    def meets(self, words: Mapping[str, Any]) -> bool:
        return words.get("dataflow") == self.design.dataflow

    def meaning(self, quantity: str) -> tuple[str, str]:
        return "PEs", "processing elements, as many as iterations along the space loops"

    def breakdown(
        self, configuration: Mapping[str, int], metrics: Mapping[str, Fraction]
    ) -> Breakdown:
        array = self.design.array
        rows: list[tuple[str, int, int | str]] = [
            (f"PE {value}", len(array.pes), words) for value, words in array.registers.items()
        ]
        for chain in (*array.inputs, *array.outputs):
            for level, count in chain.modules.items():
                words = chain.buffer if level == "L1" else "–"
                rows.append((f"{chain.tensor} {level}", count, words))
        heads = "module", "number", "words"
        cells = tuple(tuple(zip(heads, map(str, row), strict=True)) for row in rows)
        return Breakdown(cells, frozenset({"module"}), ("words: what each buffers",))


class RecurrenceFamily(Family[RecurrenceDesign]):
    """Documents of arrays of recurrences."""

    document, profile = "recurrence", RecurrenceProfile
    head, choice = RecurrenceHeadDocument, SpaceLoopsDocument
    tiling = ArraySizeDocument

    @property
    def inputs(self) -> Mapping[str, Callable[[], dict[str, Any]]]:
        return {"recurrences": lambda: json_schema(RecurrenceDocument)}

    def head_fields(self, design: RecurrenceDesign) -> Mapping[str, Any]:
        return {
            "workload": design.nest.document | {"dtype": "fp32"},
            "edition": "cycle",
            "timing": asdict(design.timing),
            "clock_mhz": design.clock_mhz,
        }

    def choice_fields(self, design: RecurrenceDesign) -> Mapping[str, Any]:
        return {"dataflow": list(design.dataflow)}

    def configuration(self, design: RecurrenceDesign, tiling: ArraySizeDocument) -> Configuration:
        return Configuration(dict(tiling))

    def setting(self, head: RecurrenceHeadDocument) -> tuple[Recurrence, Timing, Fraction]:
        nest = read_recurrence(head.workload.model_dump(exclude={"dtype"}), "workload")
        return nest, Timing(**dict(head.timing)), head.clock_mhz

    def vocabulary(self, setting: object) -> Mapping[str, Metric]:
        return METRICS

    def design(
        self, setting: tuple[Recurrence, Timing, Fraction], choice: SpaceLoopsDocument
    ) -> RecurrenceDesign:
        nest, timing, clock = setting
        (design,) = choose_designs(nest, choice.dataflow, timing, clock, "dataflow")
        return design


#: The family, for the registry.
RECURRENCES = RecurrenceFamily()
