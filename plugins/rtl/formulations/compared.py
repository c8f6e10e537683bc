"""A simulated configuration: its run beside what each model edition says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ithaca.files.answer import Answer
from ithaca.files.errors import InputError
from ithaca.files.numbers import json_ready, number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.formats import PUBLISHED
from ithaca.formulations.machine import IDEAL, Machine, MemoryTiming
from ithaca.formulations.systolic.buffering import has_cycles
from ithaca.formulations.systolic.derivation import in_edition
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.systolic_array import SERIALIZED, Edition
from ithaca.plugins.rtl.formulations.activity import (
    FifoWait,
    ModuleShare,
    SimulatedRun,
    simulate_network,
)
from ithaca.plugins.rtl.formulations.arrays import array_network, check_buildable
from ithaca.plugins.rtl.formulations.values import Values, check_moves
from ithaca.plugins.rtl.formulations.values import check_values as carry_values

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class Simulation(Answer):
    """The answer of `ithaca.simulate`: a run of a configuration, beside the cycles of every
    edition.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> run = ithaca.simulate(r)
    >>> run.cycles, run
    (58, <Simulation: mm (i=4, j=4, k=4) fp32, design [i,j] C, simulated: 58 cycles>)
    """

    again = "simulated again"

    design: SystolicDesign
    """The design, in the exact edition."""
    configuration: Configuration
    """The configuration."""
    machine: Machine
    """On what machine."""
    memory: MemoryTiming
    """With what memory."""
    run: SimulatedRun
    """The run of the array."""
    models: Mapping[str, Fraction]
    """The latency by each model edition that has the design's packs (cycles)."""
    values: Values | None = None
    """The results on random data, if they were asked for and it does not hang."""
    question: Mapping[str, Any] = field(default_factory=dict)
    """The question and its configuration, as documents state them."""

    @property
    def cycles(self) -> int | None:
        """Cycles of the whole run; None where the array hangs."""
        return self.run.cycles if self.run.finished else None

    @property
    def document(self) -> dict[str, Any]:
        """Ready for JSON; shares of cycles are averages over the processes of a module."""
        return {
            "schema": SCHEMA,
            "simulation": {
                "workload": {
                    "name": self.design.nest.name,
                    "sizes": dict(self.design.nest.sizes),
                    **self.design.nest.labels,
                    "dtype": self.design.data.stated,
                },
                "design": self.design.name,
                "machine": {
                    name: value
                    for name, value in json_ready(asdict(self.machine)).items()
                    if name != "fitted_fifos" or value
                },
                "memory": {
                    name: value
                    for name, value in asdict(self.memory).items()
                    if name not in ("port", "channels") or value
                },
                "cycles": self.cycles,
                "models": json_ready(self.models),
                **({} if self.values is None else {"values": self.values.document}),
                "hanging": [_wait_document(wait) for wait in self.run.hanging],
                "modules": [
                    asdict(module)
                    | {
                        "cause": None if module.cause is None else _wait_document(module.cause),
                        "chain": [_wait_document(wait) for wait in module.chain],
                    }
                    for module in self.run.modules
                ],
            },
            **self.question,
        }

    @property
    def view(self) -> Any:
        return tuple(super().view)

    @property
    def headline(self) -> str:
        took = "hangs" if self.cycles is None else f"{number(self.cycles)} cycles"
        nest = self.design.nest
        return (
            f"{nest.name} ({nest.shown_sizes}) {self.design.data.name}, design "
            f"{self.design.name}, simulated: {took}"
        )

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw when modules work, as a chart and to a file like other answers.

        Raises `InputError` if the run hangs or is too long to be drawn.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> ithaca.simulate(r).plot("run.svg")
        <Plot: mm (i=4, j=4, k=4) fp32, design [i,j] C, simulated: 58 cycles: when modules work>
        """
        title = f"{self.headline}: when modules work"
        return self.drawn(replace(self.made("chart"), title=title), path)

    def to_xarray(self) -> xr.Dataset:
        """The activity of each module as labelled arrays: shares of the run, on average over its
        processes.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> sorted(ithaca.simulate(r).to_xarray())[:2]
        ['entering', 'held_up']
        """
        import xarray as xr

        modules = self.run.modules
        columns = {
            field.name: ("module", [getattr(module, field.name) for module in modules])
            for field in fields(ModuleShare)
            if isinstance(getattr(modules[0], field.name), int | float)
        }
        return xr.Dataset(
            columns, {"module": [module.module for module in modules]}, {"title": self.headline}
        )


def _wait_document(wait: FifoWait) -> dict[str, Any]:
    return {
        "fifo": wait.fifo,
        "for": "a word" if wait.starved else "room",
        "neighbour": wait.neighbour,
        "cycles": wait.cycles,
    }


#: Most PEs and modules of an array that is run before an answer is chosen.
MOST_RUN = 20_000


def cycles_of(
    design: SystolicDesign, configuration: Mapping[str, int], checkpoint: Callable[[], None]
) -> int | None:
    """The cycles of a configuration on its platform; None where it waits for ever.

    Raises `InputError` if the array is too large.

    Parameters
    ----------
    design : SystolicDesign
        The design.
    configuration : mapping of str to int
        Value of each of its quantities.
    checkpoint : callable
        Called now and then; it may raise to end the run.
    """
    technology = design.technology
    network = array_network(design, configuration, technology.machine, technology.memory, MOST_RUN)
    run = simulate_network(network, checkpoint)
    return run.cycles if run.finished else None


def simulate_configuration(
    design: SystolicDesign,
    configuration: Configuration,
    machine: Machine,
    memory: MemoryTiming = IDEAL,
    checkpoint: Callable[[], None] | None = None,
    *,
    check_values: bool = False,
    stretches: int = 0,
) -> Simulation:
    """Run a configuration of a design, whatever edition that is stated in.

    Parameters
    ----------
    design : SystolicDesign
        The design.
    configuration : mapping of str to int
        Value of each of its quantities.
    machine : Machine
        Cycles of swaps, loop entries, hops and the MAC pipeline; depth of FIFOs.
    memory : MemoryTiming, optional
        Latency, bandwidth and refresh of DRAM; by default none of them costs anything.
    checkpoint : callable, optional
        Called now and then; it may raise to end the run.
    check_values : bool, optional
        Whether to run with random data, too, and compare with NumPy.
    stretches : int, optional
        Into how many stretches of time the run is likely to be cut, by its timeline.

    Returns
    -------
    Simulation
        Cycles, shares of time, and the cycles by every edition of the cost model.

    Raises
    ------
    InputError
        If the array cannot be built or has too many values to check.
    """
    check_buildable(design)
    tiling = design.tiling(configuration)
    models, simulated = {}, None
    for edition in Edition:
        unpublished = (
            design.array.dram != SERIALIZED or design.nest.sparse is not None or design.nest.formats
        )
        if unpublished and edition is Edition.ODYSSEY:
            continue
        array = in_edition(design.nest, design.array, edition)
        if edition is Edition.CYCLE and not has_cycles(array):
            continue
        stated = replace(
            design,
            array=array,
            data=design.data.published,
            technology=replace(design.technology, machine=machine, memory=memory),
        )
        names = {group.name for group in array.packed_groups}
        if names <= tiling.pack.keys():
            own = stated.configuration(
                replace(tiling, pack={name: tiling.pack[name] for name in names})
            )
            models[edition.value] = stated.costs(own).latency
            if edition is Edition.EXACT:
                simulated = stated, own
    if simulated is None:
        raise InputError(
            f"design {design.name} in the {design.array.edition.value} "
            "model edition states no packs for "
            "all modules; allowed: results of the exact model edition"
        )
    network = array_network(*simulated, machine, memory)
    if check_values and not design.data.plain:
        words = design.nest.labels.get("format", design.data.name)
        raise InputError(
            f"--check-values: format {words} is none that values are carried in; allowed: one "
            f"type of all tensors, of {', '.join(PUBLISHED)}"
        )
    if check_values:
        check_moves(simulated[0], network)
    likely = models.get(Edition.CYCLE.value, models[Edition.EXACT.value])
    stretch = -(-ceil(likely) // stretches) if stretches else 0
    run = simulate_network(network, checkpoint, stretch=stretch, cycles=stretch * stretches)
    values = (
        carry_values(*simulated, network, machine.sums) if check_values and run.finished else None
    )
    return Simulation(*simulated, machine, memory, run, models, values)
