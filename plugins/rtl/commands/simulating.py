"""`ithaca.simulate`: the cycles that a configuration takes, word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict
from typer import Argument, Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.opening import one_result
from ithaca.commands.api.options import LayerName, TimeLimit
from ithaca.commands.api.parsing import parse_search
from ithaca.files import signals
from ithaca.files.answer import Answer
from ithaca.files.clock import all_or_nothing, keeping
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import json_number
from ithaca.files.registry import Registry
from ithaca.files.words import REPEATED, parse_choice, parse_counts
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.documents import Document, Number
from ithaca.formulations.machine import (
    IDEAL,
    Machine,
    MachineDocument,
    MemoryTiming,
    WaitsDocument,
)
from ithaca.formulations.processes import ProcessEngine
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.options import changed_machine, machine_changes
from ithaca.formulations.systolic.points import Point
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.compared import Simulation, simulate_configuration
from ithaca.plugins.rtl.formulations.engine import process_ends
from ithaca.results.schema import FirstPart
from ithaca.results.studies import ConfigurationDocument, configuration_document, question_fields
from ithaca.solver import result as results
from ithaca.solver.solution import Solution

STUDY = "simulation"

#: For which there may be no time.
RAN = "the run ended"

#: Simulations of solutions of other families than arrays of loop nests.
RUNS: Registry[Callable[[Solution, ProcessEngine], Answer]] = Registry("runs")


@public
def simulate(
    source: Annotated[
        str | Path | results.Result,
        Argument(metavar="RESULT|WORKLOAD", help="A result file, or with --points a workload."),
    ],
    *,
    layer: LayerName = None,
    design: Annotated[
        str | None,
        Option(
            "--design",
            metavar="'LOOPS TENSOR'",
            help="Design of the result, e.g. 'i,j C'. Default: the best.",
        ),
    ] = None,
    regime: Annotated[
        str | None,
        Option(
            "--regime",
            metavar="rtl|hls",
            help="Timing of modules: rtl, or hls as Vitis HLS schedules loops. "
            "Default: the platform's.",
        ),
    ] = None,
    param: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option(
            "--param",
            help="Latencies in cycles: d buffer swap, e loop entry, h hop, m MAC, e.g. d=1,m=8.",
        ),
        REPEATED,
    ] = None,
    fifo_depth: Annotated[
        int | None,
        Option(
            "--fifo-depth", metavar="N", help="Words that a FIFO holds, beside those in flight."
        ),
    ] = None,
    memory: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option(
            "--memory",
            help="The memory's latency, refresh and refresh_period (cycles), and bandwidth "
            "(bytes per cycle; 0: no limit). Default: the platform's.",
        ),
        REPEATED,
    ] = None,
    sums: Annotated[
        str | None,
        Option(
            "--sums",
            metavar="first|last",
            help="When a PE adds the partial sum it receives: first (as AutoSA), or last.",
        ),
    ] = None,
    check_values: Annotated[
        bool,
        Option(
            "--check-values",
            help="Also compute values, and compare them with NumPy (small arrays).",
        ),
    ] = False,
    time_limit: TimeLimit = None,
) -> Simulation | Answer:
    """Run the best configuration of a result, every word of it, and say where the time went.

    Raises `InputError` if a parameter is out of range, the result has no configuration, the array
    cannot be built or has too many values to check; `NothingFoundError` if time was over before it
    ended, with the cycles that it takes at least.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.simulate(r).cycles
    58
    """
    parse_search(time_limit)
    result = source if isinstance(source, results.Result) else one_result(Path(source), layer)
    chosen = _chosen(result, design)
    family = chosen.problem.design.family
    if (other := RUNS.get(family)) is not None:
        stated = {"regime": regime, "param": param, "fifo-depth": fifo_depth}
        for name, value in (stated | {"memory": memory, "sums": sums}).items():
            if value is not None:
                raise InputError(f"--{name} does not go with family {family}; allowed: without it")
        with all_or_nothing(RAN):
            answer: Answer = other(chosen, process_ends)
        return answer
    platform = systolic(chosen.problem).technology
    machine = changed_machine(platform.machine, machine_changes(regime, param, fifo_depth, sums))
    stores = read_memory(memory, platform.memory)
    with all_or_nothing(RAN):
        return simulated(chosen, result.platform_name, machine, stores, check_values=check_values)


def _chosen(result: results.Result, design: str | None) -> Solution:
    """The solution of a design, by default the best."""
    solutions = [
        s
        for s in result.solutions
        if s.configuration is not None and (design is None or s.profile.answers_to(design))
    ]
    if not solutions:
        names = ", ".join(
            s.problem.design.name for s in result.solutions if s.configuration is not None
        )
        wanted = "" if design is None else f" --design {quoted(design)};"
        raise InputError(
            f"nothing to simulate:{wanted} allowed: a result with a "
            f"configuration ({names or 'this one has none'})"
        )
    return result.best if design is None and result.best is not None else solutions[0]


def simulated(
    chosen: Solution, platform: str, machine: Machine, memory: MemoryTiming, *, check_values: bool
) -> Simulation:
    """The run of a solution, with what was asked.

    Parameters
    ----------
    chosen : Solution
        A solution with a configuration.
    platform : str
        The name of the device.
    machine : Machine
        Cycles of loops, buffers and FIFOs.
    memory : MemoryTiming
        Latency, refresh (cycles) and bandwidth (bytes per cycle) of DRAM.
    check_values : bool
        Whether to run with random data, too, and compare with NumPy.
    """
    assert chosen.configuration is not None
    assert chosen.value is not None
    design, checkpoint = systolic(chosen.problem), signals.check
    run = simulate_configuration(
        design, chosen.configuration, machine, memory, checkpoint, check_values=check_values
    )
    question = {
        "study": STUDY,
        "question": question_fields([chosen.problem], platform),
        "value": json_number(chosen.value),
        "best": configuration_document(chosen),
    }
    return replace(run, question=question)


class SimulatedRunDocument(Document):
    """A run; further fields say what happened."""

    model_config = ConfigDict(extra="allow")

    machine: MachineDocument
    memory: WaitsDocument


class SimulationDocument(FirstPart):
    """A simulation in a file: the question, the configuration that ran, and its run."""

    study: Literal["simulation"]
    question: dict[str, Any]
    value: Number
    best: ConfigurationDocument
    simulation: SimulatedRunDocument


def read_memory(
    memory: Mapping[str, int] | Sequence[str] | None, platform: MemoryTiming = IDEAL
) -> MemoryTiming:
    """The memory that an option describes; what it leaves out is the platform's."""
    words = parse_counts("--memory", memory, "latency=100,bandwidth=64")
    for name in words:
        parse_choice("--memory", name, [field.name for field in fields(MemoryTiming)])
    with errors_at("--memory"):
        return replace(platform, **words)


def simulate_points(
    points: Iterable[Point], memory: Mapping[str, int] | Sequence[str] | None = None
) -> list[int | None]:
    """The cycles of points on the machine of each, with its memory but for what ``memory`` says;
    None where an array hangs."""
    cycles: list[int | None] = []
    with keeping(lambda: cycles):
        for row, (design, configuration) in enumerate(points, start=1):
            with errors_at(f"point {row}"):
                run = simulate_network(
                    array_network(
                        design,
                        configuration,
                        design.technology.machine,
                        read_memory(memory, design.technology.memory),
                    ),
                    signals.check,
                )
            cycles.append(run.cycles if run.finished else None)
    return cycles
