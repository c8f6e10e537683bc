"""The document of studies of co-designs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.results.schema import FirstPart
from ithaca.results.studies import AxisDocument


class CodesignStudyDocument(FirstPart):
    """The best accelerator at every point of a grid: its label, and a result of a co-design."""

    study: Literal["codesign-whatif"]
    axes: list[AxisDocument]
    points: Annotated[list[dict[str, Any]], Field(min_length=1)]
