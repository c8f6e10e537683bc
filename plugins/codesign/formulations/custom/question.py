"""Questions about layers with costs of a user's own; commands ask of spaces alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ithaca.formulations.design import Design
from ithaca.formulations.question import Question
from ithaca.workloads.nest import LoopNest, Stored


@dataclass(frozen=True, kw_only=True)
class CustomQuestion(Question):
    """A question about layers whose problems are known."""

    hardware: str
    """The accelerator in words."""

    @property
    def facts(self) -> Mapping[str, str]:
        return {"arch": self.hardware, "edition": "custom"}

    def designs(self, nest: LoopNest, memory: Stored = ()) -> Sequence[Design]:
        return tuple(problem.design for problem in self.layers)
