"""The answer of `ithaca.simulate` for arrays of recurrences: a run of every word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ithaca.files.answer import Answer
from ithaca.files.numbers import number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.families import profile_of
from ithaca.formulations.processes import ProcessEngine
from ithaca.plugins.recurrences.formulations.design import RecurrenceDesign
from ithaca.plugins.recurrences.formulations.simulation import simulate
from ithaca.solver.solution import Solution

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class SimulatedRecurrence(Answer):
    """The run of an array of recurrences."""

    title: str
    """The name of the recurrence that ran."""
    figures: Mapping[str, int]
    """Figures of the run, by the names of `RecurrenceRun`; ``model``: the cycles that are
    counted."""

    @property
    def headline(self) -> str:
        cycles, elements, wrong, model = map(number, self.figures.values())
        return (
            f"{self.title}, simulated: {cycles} cycles, {model} counted; {elements} elements, "
            f"{wrong} of other words than they need"
        )

    @property
    def view(self) -> tuple[str]:
        return (self.headline,)

    @property
    def document(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "title": self.title, "simulation": {**self.figures}}

    def to_xarray(self) -> xr.Dataset:
        """The figures of the simulation as labelled numbers."""
        import xarray as xr

        return xr.Dataset(self.figures, attrs={"title": self.headline})


def simulated(solution: Solution, engine: ProcessEngine) -> SimulatedRecurrence:
    """The run of a solution by an engine for networks of processes."""
    design = solution.problem.design
    assert isinstance(design, RecurrenceDesign)
    figures = {**asdict(simulate(design.array, engine)), "model": int(design.figures["latency"])}
    return SimulatedRecurrence(profile_of(design).title, figures)
