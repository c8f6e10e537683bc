"""The designs of a system of recurrences: one for each choice of space loops."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from ithaca.files.clock import StoppedError, ending
from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem, exactly
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.space import Axis, Quantity, Role, Space, make_space
from ithaca.formulations.technology import DEFAULT_CLOCK_MHZ
from ithaca.plugins.recurrences.formulations.array import DEFAULT_TIMING, RecurrenceArray, Timing
from ithaca.plugins.recurrences.formulations.cycles import cycles
from ithaca.plugins.recurrences.workloads.recurrence import Recurrence

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("latency", "cycles", "from the first word read to the last one written"),
        Metric("time", "ms", "latency at the platform's clock"),
        Metric("pes", "PEs", "processing elements"),
        Metric("dsp", "blocks", "DSP blocks of all operators of all PEs"),
        Metric("bram18k", "blocks", "18-kbit block RAMs of all buffers"),
        Metric("off_chip_words", "words", "words moved between the array and DRAM"),
    )
}


@dataclass(frozen=True)
class RecurrenceDesign(Design):
    """An array; nothing is left to choose, as it has no tiles: it is as large as the recurrences
    are along its space loops."""

    nest: Recurrence
    """The recurrences, with parameters."""
    dataflow: tuple[str, ...]
    """The loops mapped to space."""
    timing: Timing = DEFAULT_TIMING
    """Cycles of what it consists of."""
    clock_mhz: Fraction = DEFAULT_CLOCK_MHZ
    """The clock."""
    family, vocabulary = "recurrence", METRICS

    @property
    def name(self) -> str:
        return ",".join(self.dataflow)

    @cached_property
    def array(self) -> RecurrenceArray:
        """The array derived from nest, dataflow and timing."""
        return RecurrenceArray(self.nest, self.dataflow, self.timing)

    @cached_property
    def space(self) -> Space:
        pes = len(self.array.pes)
        return make_space((Axis("array", (Quantity("size", pes, pes, role=Role.HARDWARE),)),), ())

    @property
    def latency(self) -> int | None:
        """The cycles of the array; None where it hangs."""
        return _latency(self.nest, self.dataflow, self.timing)

    @property
    def hangs(self) -> bool:
        """Whether the array is known to hang: not where the call's time is over before that is."""
        with ending(), suppress(StoppedError):
            return self.latency is None
        return False

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        """All figures; where time is over before, what needs no array: each element is moved once,
        and those of an output one after the other."""
        with ending(), suppress(StoppedError):
            return self.figures
        outputs = [len(self.nest.tensors[access.tensor]) for access in self.nest.outputs.values()]
        latency = max(outputs) * self.timing.interval
        return exactly(
            {
                "latency": latency,
                "time": latency / self.clock_mhz / 1000,
                "pes": 1,
                "off_chip_words": sum(map(len, self.nest.tensors.values())),
            }
        )

    @cached_property
    def figures(self) -> Mapping[str, Fraction]:
        """Every metric, of an array that does not hang."""
        array, latency = self.array, self.latency
        if latency is None:  # as nobody knew in time
            raise StoppedError
        figures: dict[str, int | Fraction] = {
            "latency": latency,
            "time": latency / self.clock_mhz / 1000,
            "pes": len(array.pes),
            "dsp": array.dsp,
            "bram18k": array.bram18k,
            "off_chip_words": sum(
                sum(chain.moved.values()) for chain in (*array.inputs, *array.outputs)
            ),
        }
        return exactly(figures)

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        pes = self.figures["pes"]  # what is stated of so many PEs has the shape of the values
        return {
            name: values["size"] * numbers.number(value / pes)
            for name, value in self.figures.items()
            if names is None or name in names
        }

    def preferences(self, values: NumbersByName, numbers: NumberSystem) -> tuple[Any, ...]:
        own = self.metrics(values, numbers)
        return own["dsp"], own["bram18k"]


@lru_cache(maxsize=64)
def _latency(nest: Recurrence, dataflow: tuple[str, ...], timing: Timing) -> int | None:
    """Cycles of an array, which take long to count."""
    return cycles(RecurrenceArray(nest, dataflow, timing))
