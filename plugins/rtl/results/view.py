"""The view of a run of a systolic array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ithaca.files.numbers import number
from ithaca.formulations.machine import LETTERS
from ithaca.plugins.rtl.formulations.activity import FifoWait, ModuleShare, SimulatedRun
from ithaca.plugins.rtl.formulations.compared import Simulation
from ithaca.plugins.rtl.formulations.values import Values
from ithaca.results.view import Table, tabled


def simulation_view(simulation: Simulation) -> Iterator[str | Table]:
    """The view of a simulation: the question, its cycles or hang, and the activity of modules."""
    design, run = simulation.design, simulation.run
    machine = ", ".join(
        f"{letter} {getattr(simulation.machine, name)}" for letter, name in LETTERS.items()
    )
    memory = ", ".join(
        f"{name.replace('_', ' ')} {n}" for name, n in asdict(simulation.memory).items() if n
    )
    what = (
        f"{design.nest.name} ({design.nest.shown_sizes}) {design.data.name}; "
        f"design {design.name}; machine {machine}"
    )
    yield f"{what}{f'; memory: {memory}' if memory else ''}"
    if simulation.cycles is None:
        yield (
            f"hangs after {number(run.cycles)} cycles, waiting "
            f"{'; '.join(map(_shown_wait, run.hanging[:5]))}"
        )
        if len(run.hanging) > 5:
            yield f"and {len(run.hanging) - 5} more processes"
    else:
        yield f"{number(run.cycles)} cycles"
        for edition, latency in simulation.models.items():
            error = float(latency / run.cycles - 1)
            yield f"{edition} model edition: {number(latency)} cycles ({error:+.2%})"
        busiest = max(run.modules, key=lambda module: module.working + module.entering)
        share = busiest.working + busiest.entering
        yield f"{busiest.module} is busiest: it works {share:.1%} of the time"
    yield tabled([_row(module) for module in run.modules], {"module"})
    for module in run.modules:
        if module.cause is not None:
            yield (
                f"{module.module} waits longest "
                f"{_shown_wait(module.cause)}{_shown_root(run, module)}"
            )
    if simulation.values is not None:
        yield _shown_values(simulation.values, design.nest.output.tensor)


def _shown_values(values: Values, tensor: str) -> str:
    every = f"{number(values.result.size)} values of {tensor}"
    if values.wrong:
        return (
            f"{number(values.wrong)} of {every} are wrong: they differ from "
            f"NumPy's by up to {values.error:.3g}"
        )
    if values.exact:
        return f"all {every} equal NumPy's"
    bound = f"at most {float(values.allowed.max()):.1e} is allowed, as for any order of additions"
    return (
        f"all {every} equal NumPy's up to rounding: they differ by "
        f"{values.error:.1e} at most; {bound}"
    )


def _row(module: ModuleShare) -> list[tuple[str, str]]:
    shares = {
        "works": module.working, "enters loops": module.entering, "no word": module.starved,
        "no room": module.held_up, "swaps": module.meeting, "idle": module.idle,
    }  # fmt: skip
    return [
        ("module", module.module),
        ("instances", str(module.processes)),
        *((name, f"{share:.1%}") for name, share in shares.items()),
    ]


def _shown_root(run: SimulatedRun, module: ModuleShare) -> str:
    """The process that a chain of waits ends at, where it is not the first."""
    if module.cause is None or module.root in (None, module.cause.neighbour):
        return ""
    root = run.by_name[str(module.root)]
    if root.busy < root.starved + root.held_up + root.meeting:
        return f", in the end for each other, {root.process} among them"
    return (
        f", in the end for {root.process}, which is busy "
        f"{root.busy / max(run.cycles, 1):.1%} of the time"
    )


def _shown_wait(wait: FifoWait) -> str:
    what = f"for a word from {wait.neighbour}" if wait.starved else f"for room at {wait.neighbour}"
    return f"{what} (FIFO '{wait.fifo}'{f', {number(wait.cycles)} cycles' if wait.cycles else ''})"
