"""The options that questions of recurrences read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Annotated

from typer import Option

from ithaca.files.words import REPEATED
from ithaca.formulations.platform import Platform
from ithaca.formulations.question_kind import Limits, Metrics, QuestionKind, Require
from ithaca.plugins.recurrences.workloads.kind import is_recurrence


@dataclass(frozen=True)
class RecurrenceOptions:
    """The options that questions of recurrences read."""

    platform: Annotated[
        str | PathLike[str] | Platform,
        Option(
            "--platform", help="Platform (ithaca list platforms), or a path to a file of your own."
        ),
    ] = "u250"
    dtype: Annotated[str, Option("--dtype", help="Data type; recurrences are fp32 only.")] = "fp32"
    limit: Annotated[
        Limits, Option("--limit", help="Upper limits, e.g. dsp=500,bram18k=50%."), REPEATED
    ] = None
    require: Require = None
    metric: Metrics = None
    dataflow: Annotated[
        str | Sequence[str] | None,
        Option(
            "--dataflow",
            help="Loops of the array's sides, e.g. k,j. Default: best.",
        ),
    ] = None


KIND = QuestionKind(
    "arrays of recurrences",
    RecurrenceOptions,
    takes=is_recurrence,
)
