"""How to split a device among systolic arrays: `ithaca.codesign` of a space of their shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from ithaca.commands.api.answers import NetworkResult
from ithaca.commands.api.live_line import LiveLine
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.files.signals import Interrupt
from ithaca.formulations.data_types import data_type
from ithaca.formulations.hardware.space import HardwareSpace
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.accelerator import DIVIDED, SystolicArrays
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.options import Budget, SolveOptions
from ithaca.studies.network.modes import MULTI_ARRAY, mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.runner import RunOptions, RunState
from ithaca.workloads.networks.find import find_network


def split_device(
    space: HardwareSpace,
    workloads: Sequence[object],
    layers: Sequence[str],
    objective: str,
    search: SolveOptions,
) -> NetworkResult:
    """The shares of each array and the layers that run on it, proven, and what one more share of
    each resource would buy."""
    accelerator = space.accelerator
    assert isinstance(accelerator, SystolicArrays)
    if len(workloads) != 1 or not isinstance(workloads[0], str):
        raise InputError(f"space {space.name} takes one network; allowed: --workload NAME, once")
    sizes = accelerator.sizes(space)
    request = ArrayQuestion(
        data=data_type(accelerator.dtype),
        platform=replace(load_platform(accelerator.platform), resources={}),
        bounds={
            metric: size * (accelerator.shares if metric in DIVIDED else 1)
            for metric, size in sizes.items()
        },
        objective=parse_objective(objective),
        edition=Edition(accelerator.edition),
        dataflow=accelerator.dataflow,
        arrays=accelerator.arrays,
        minimise=Minimise(accelerator.minimise),
        shares=sizes,
    )
    network = only_layers(find_network(workloads[0]), layers)
    with Interrupt() as interrupt, LiveLine(f"splitting {accelerator.platform}") as line:
        budget = Budget(replace(search, stop=interrupt))

        def report(state: RunState) -> None:
            line.show(space.name, state.progress)

        def solve(question: ArrayQuestion) -> NetworkResult:
            run = RunOptions(search=budget.share(), report=report)
            return NetworkResult.of(mode(MULTI_ARRAY)(network, question, run))

        result = solve(request)
        return replace(result, remarks=tuple(_remarks(accelerator, sizes, request, result, solve)))


def _remarks(
    accelerator: SystolicArrays,
    sizes: Mapping[str, Fraction],
    request: ArrayQuestion,
    result: NetworkResult,
    solve: Callable[[ArrayQuestion], NetworkResult],
) -> list[str]:
    """The shares of every array, and what one more of each resource would buy."""
    if result.value is None:
        return []
    lines = []
    for place, array in enumerate(result.arrays):
        taken = (f"{ceil(array.resources[m] / sizes[m])} shares of {m}" for m in DIVIDED)
        lines.append(f"array {place}: {' and '.join(taken)}, of {accelerator.shares}")
    if result.status != Status.OPTIMAL.value:
        return lines
    for metric in DIVIDED:
        more = solve(
            replace(
                request,
                bounds={
                    x.metric: x.bound + (sizes[metric] if x.metric == metric else 0)
                    for x in request.limits
                },
            )
        )
        if more.status == Status.OPTIMAL.value and more.value is not None:
            gain = "nothing"
            if more.value != result.value:
                share = (
                    f" ({float(1 - more.value / result.value):.2%} less)"
                    if result.value > 0
                    else ""
                )
                gain = f"{number(more.value)} instead of {number(result.value)}{share}"
            lines.append(
                f"one more share of {metric} ({number(sizes[metric])}) would buy {gain}, proven"
            )
    return lines
