"""Questions about arrays of recurrences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ithaca.files.errors import InputError
from ithaca.files.words import parse_choice, parse_loops
from ithaca.formulations.design import Metric
from ithaca.formulations.platform import Platform
from ithaca.formulations.platform_files import platform_names, read_platform
from ithaca.formulations.problem import Limit, Objective
from ithaca.formulations.question import Question, Variable
from ithaca.plugins.recurrences.formulations.array import Timing, dataflows
from ithaca.plugins.recurrences.formulations.choice import HANGS, choose_designs
from ithaca.plugins.recurrences.formulations.design import METRICS, RecurrenceDesign
from ithaca.plugins.recurrences.formulations.options import RecurrenceOptions
from ithaca.plugins.recurrences.workloads.kind import find_recurrence
from ithaca.plugins.recurrences.workloads.recurrence import Recurrence
from ithaca.workloads.nest import LoopNest, Stored


@dataclass(frozen=True, kw_only=True)
class RecurrenceQuestion(Question):
    """A question about arrays of recurrences."""

    platform: Platform
    """The device."""
    dataflow: tuple[str, ...] | None = None
    """The space loops; None for all choices."""
    timing: Timing | None = None
    """Cycles of what arrays consist of; None: with the platform's from module to module."""

    metrics = METRICS

    @classmethod
    def nest(cls, workload: Any, sizes: Mapping[str, int]) -> LoopNest:
        return find_recurrence(workload, sizes)

    @classmethod
    def read(cls, options: RecurrenceOptions, objective: str | Objective | None = None) -> Self:
        parse_choice("--dtype of recurrences", str(options.dtype), ("fp32",))
        minimised, bounds, own = cls.stated(options, objective)
        return cls(
            platform=read_platform(options.platform),
            bounds=bounds,
            own=own,
            objective=minimised,
            dataflow=parse_loops(options.dataflow),
        )

    @classmethod
    def named(cls, option: str, nest: LoopNest | None = None) -> Sequence[str]:
        return platform_names() if option == "platform" and nest is None else ()

    def designs(self, nest: LoopNest, memory: Stored = ()) -> tuple[RecurrenceDesign, ...]:
        if not isinstance(nest, Recurrence):
            raise InputError(f"{nest.name} is a loop nest; allowed: a system of recurrences")
        technology = self.platform.technology
        timing = self.timing or Timing(hop=technology.machine.hop)
        return choose_designs(nest, self.dataflow, timing, technology.clock_mhz, "--dataflow")

    @property
    def limits(self) -> tuple[Limit, ...]:
        bounds = self.platform.bounds(self.bounds).items()
        return tuple(Limit(x, n) for x, n in bounds if x in self.bounds or x in METRICS)

    @property
    def facts(self) -> Mapping[str, str]:
        return {"dtype": "fp32", "platform": self.platform.name, "edition": "cycle"}

    def remarks(self, nest: LoopNest | None) -> Iterator[str]:
        """Lines that name the choices of space loops left out, as their arrays hang."""
        if isinstance(nest, Recurrence) and self.dataflow is None:
            running = self.designs(nest)
            every = (replace(running[0], dataflow=each) for each in dataflows(nest))
            if hanging := [each.name for each in every if each.hangs]:
                yield f"left out: {'; '.join(hanging)}: {HANGS}"

    def vocabulary(self, nest: LoopNest) -> Mapping[str, Metric]:
        return METRICS

    @property
    def variables(self) -> Mapping[str, Variable]:
        return {
            "platform": Variable(
                lambda _, name: read_platform(name),
                lambda question, platform: replace(question, platform=platform),
                lambda platform: platform.name,
            )
        }
