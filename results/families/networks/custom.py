"""Layers with stated costs on accelerators of hardware spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design
from ithaca.formulations.hardware.space import HardwareSpace
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.workloads.nest import LoopNest, Stored


@dataclass(frozen=True, kw_only=True)
class CustomQuestion(Question):
    """What layers with stated costs were asked; commands ask of spaces alone."""

    hardware: str
    """The accelerator in words."""

    @property
    def facts(self) -> Mapping[str, str]:
        return {"arch": self.hardware, "edition": "stated"}

    def designs(self, nest: LoopNest, memory: Stored = ()) -> Sequence[Design]:
        return tuple(p.design for p in self.layers if p.design.nest == nest)  # type: ignore[attr-defined]


def accelerator(space: HardwareSpace, point: Configuration, text: str) -> str:
    """An accelerator of a space in words."""
    return f"{space.name}: {text}"


def request(accelerator: Any, architecture: str, problems: tuple[Problem, ...]) -> CustomQuestion:
    """The question that layers on an accelerator were asked."""
    return CustomQuestion(hardware=architecture, objective=problems[0].objective, layers=problems)
