"""Splits of a device among systolic arrays: `ithaca.codesign` of a space of their shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ithaca.commands.api.live_line import searching
from ithaca.commands.api.vary import (
    LIMITS,
    check_axes,
    limit_axis,
    named_values,
)
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import number
from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform import Bound
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.codesign.commands.study import at_point, parse_bounds
from ithaca.plugins.codesign.formulations.arrays import SystolicArrays
from ithaca.plugins.codesign.formulations.space import HardwareSpace
from ithaca.plugins.codesign.studies.arrays.arrays import MULTI_ARRAY
from ithaca.plugins.codesign.studies.workloads import Workload, network_of, sized
from ithaca.solver.certificate import Status
from ithaca.solver.options import Budget, SolveOptions
from ithaca.studies.grid import StudyAxis, indices
from ithaca.studies.network.modes import mode
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import NetworkProgress, RunOptions
from ithaca.studies.network.study import NetworkPoint, NetworkStudy
from ithaca.workloads.networks.network import Network
from ithaca.workloads.networks.several import PartText, joined


def split_device(
    space: HardwareSpace,
    workloads: Sequence[Workload],
    layers: Sequence[str],
    extents: Mapping[str, int],
    objectives: Sequence[str],
    limits: Mapping[str, Bound],
    vary: Mapping[str, Sequence[Any]] | Sequence[str] | None,
    search: SolveOptions,
    *,
    fuse: bool,
) -> NetworkResult | NetworkStudy:
    """The shares of each array and the layers that run on it, proven, and what one more share of
    each resource would buy; of several questions, or for the front of an objective and a resource,
    a study.

    Parameters
    ----------
    space : HardwareSpace
        The device, its shares, and how many arrays there may be.
    workloads : sequence of Workload
        One after the other, each as often as it counts.
    layers : sequence of str
        Patterns of the layers that count; none: all.
    extents : mapping of str to int
        Extents of loops, and parameters.
    objectives : sequence of str
        What is minimised of layers, and perhaps a resource.
    limits : mapping of str to Bound
        Limits on what all arrays take together.
    vary : mapping of str to sequence of object or sequence of str, optional
        What varies, and its values.
    search : SolveOptions
        How far to search.
    fuse : bool
        Whether tensors may stay on chip between layers.
    """
    network, first = (
        _network(space, workloads, layers, extents),
        _Split(space, objectives[0], limits),
    )
    front = [name for name in objectives if name in first.sizes]
    if len(objectives) > 1 and (len(objectives) > 2 or len(front) != 1 or vary):
        raise InputError(
            f"--objectives {quoted(','.join(objectives))} does not go with space {space.name}"
            f"{' and --vary' if vary else ''}; allowed: an objective of layers and one of "
            f"{', '.join(first.sizes)}{', without --vary' if vary else ''}"
        )
    name = f"splitting {first.accelerator.platform}"
    with searching(name, search) as (stoppable, line):
        budget = Budget(stoppable)

        def report(state: NetworkProgress) -> None:
            line.show(space.name, state.progress)

        def solve(question: ArrayQuestion) -> NetworkResult:
            run = RunOptions(search=budget.share(), report=report)
            return mode(MULTI_ARRAY, fuse=fuse)(network, question, run)

        if vary:
            return _study(first, vary, solve)
        if front:
            (text,) = (each for each in objectives if each not in front)
            return _front(replace(first, objective=text), front[0], solve)
        result = solve(first.question)
        return replace(result, remarks=tuple(_remarks(first, result, solve)))


@dataclass(frozen=True)
class _Split:
    """A device to be split, and within which limits."""

    space: HardwareSpace
    objective: str
    limits: Mapping[str, Bound]

    def __post_init__(self) -> None:
        for name, bound in self.limits.items():
            if name not in self.sizes or bound is None:
                raise InputError(
                    f"--limit {quoted(name)} does not go with space {self.space.name}; allowed: "
                    f"numbers or shares, {', '.join(self.sizes)} of all arrays together"
                )

    @property
    def accelerator(self) -> SystolicArrays:
        """The systolic arrays of the hardware space."""
        assert isinstance(self.space.accelerator, SystolicArrays)
        return self.space.accelerator

    @cached_property
    def sizes(self) -> dict[str, Fraction]:
        """The size of a share of each resource."""
        return self.accelerator.sizes(self.space)

    @cached_property
    def bounds(self) -> dict[str, Fraction]:
        """The bounds of all arrays together by metric, none above that of the device."""
        device = load_platform(self.accelerator.platform)
        stated, most = device.bounds(self.limits), device.bounds({})
        return {name: min(stated[name], most[name]) for name in self.sizes}

    @cached_property
    def question(self) -> ArrayQuestion:
        """The question that the search answers, within these bounds."""
        own, device = self.accelerator, load_platform(self.accelerator.platform)
        return ArrayQuestion(
            data=data_type(own.dtype),
            platform=replace(device, resources={}),
            bounds=self.bounds,
            objective=parse_objective(self.objective),
            edition=Edition(own.edition),
            dataflow=own.dataflow,
            arrays=own.arrays,
            minimise=Minimise(own.minimise),
            shares=self.sizes,
        )

    def on(self, platform: str) -> _Split:
        """A split of another device."""
        accelerator = replace(self.accelerator, platform=platform)
        return replace(self, space=replace(self.space, accelerator=accelerator))

    def within(self, metric: str, bound: Bound) -> _Split:
        """A split within another limit."""
        return replace(self, limits={**self.limits, metric: bound})


def _study(
    split: _Split,
    vary: Mapping[str, Sequence[Any]] | Sequence[str],
    solve: Callable[[ArrayQuestion], NetworkResult],
) -> NetworkStudy:
    """The arrays at every point of a grid of limits, platforms and objectives."""
    axes, changes = zip(*(_axis(split, *each) for each in named_values(vary)), strict=True)
    check_axes(axes)
    questions = {}
    for index in indices(axes):
        varied = at_point(split, axes, changes, index)
        for axis, place in zip(axes, index, strict=True):
            name = axis.name.removesuffix(LIMITS)
            if name in varied.sizes and axis.values[place] != varied.bounds[name]:
                raise InputError(
                    f"--vary {quoted(name)} is {quoted(str(axis.labels[place]))}; allowed: numbers "
                    f"up to {number(replace(varied, limits={}).bounds[name])}"
                )
        questions[index] = varied.question
    points = {index: NetworkPoint(solve(question)) for index, question in questions.items()}
    return NetworkStudy(axes, points)


def _axis(
    split: _Split, name: str, choices: Sequence[Any]
) -> tuple[StudyAxis, Callable[[_Split, Any], _Split]]:
    """The axis of a variation, and the function that puts one of its values into a split."""
    texts = tuple(map(str, choices))
    if name == "objective":
        return StudyAxis(name, texts), lambda own, text: replace(own, objective=text)
    if name == "platform":
        return StudyAxis(name, texts), _Split.on
    if name not in split.sizes:
        raise InputError(
            f"--vary {quoted(name)} is unknown; allowed: limits {', '.join(split.sizes)}; "
            "objective, platform"
        )
    bounds = parse_bounds(name, choices, split.accelerator.metrics[name].unit)
    return _limits(split, name, bounds), lambda own, bound: own.within(name, bound)


def _limits(split: _Split, metric: str, bounds: Sequence[Any]) -> StudyAxis:
    """An axis of limits."""
    return limit_axis(metric, bounds, split.accelerator.metrics[metric].unit)


def _front(
    split: _Split, metric: str, solve: Callable[[ArrayQuestion], NetworkResult]
) -> NetworkStudy:
    """The least value for every number of shares of a resource that buys anything: each point has
    one share less than the one before takes."""
    size, points = split.sizes[metric], list[tuple[Fraction, NetworkResult]]()
    bound = split.bounds[metric]
    while bound > 0 or not points:
        result = solve(split.within(metric, bound).question)
        if points and result.status == Status.INFEASIBLE.value:
            break
        if points and result.value == points[-1][1].value:
            points.pop()
        points.append((bound, result))
        bound = (sum(result.shares_taken(metric)) - 1) * size
    axis = _limits(split, metric, [bound for bound, _ in points])
    return NetworkStudy(
        (axis,), {(n,): NetworkPoint(result) for n, (_, result) in enumerate(points)}
    )


def _network(
    space: HardwareSpace,
    workloads: Sequence[Workload],
    layers: Sequence[str],
    extents: Mapping[str, int],
) -> Network:
    """The layers of all workloads, one after the other, each as often as a round of inputs runs
    it."""
    parts = []
    for workload, weight in sized(workloads, extents):
        network, stored = network_of(workload, layers)
        if any(stored.values()):
            raise InputError(
                f"--workload {quoted(network.name)} states extents in memory; allowed with space "
                f"{space.name}: layers whose tensors are stored as they are needed"
            )
        if weight.denominator != 1:
            raise InputError(
                f"--workload {quoted(network.name)} has the weight {number(weight)}; "
                "allowed: whole numbers, the inputs of each network in a round"
            )
        parts.append((PartText(network.name, runs=int(weight)), network))
    (text, alone), *others = parts
    return joined(parts) if others or text.runs > 1 else alone


def _remarks(
    split: _Split, result: NetworkResult, solve: Callable[[ArrayQuestion], NetworkResult]
) -> list[str]:
    """The shares of every array, and what one more of each resource would buy."""
    if result.value is None:
        return []
    lines = []
    for place in range(len(result.arrays)):
        taken = [f"{result.shares_taken(m)[place]} shares of {m}" for m in split.sizes]
        lines.append(f"array {place}: {', '.join(taken)}, of {split.accelerator.shares}")
    if result.status != Status.OPTIMAL.value:
        return lines
    for metric, size in split.sizes.items():
        bounds = {**split.bounds, metric: split.bounds[metric] + size}
        more = solve(replace(split.question, bounds=bounds))
        if more.status == Status.OPTIMAL.value and more.value is not None:
            gain = "nothing"
            if more.value != result.value:
                share = (
                    f" ({float(1 - more.value / result.value):.2%} less)"
                    if result.value > 0
                    else ""
                )
                gain = f"{number(more.value)} instead of {number(result.value)}{share}"
            lines.append(f"one more share of {metric} ({number(size)}) would buy {gain}, proven")
    return lines
