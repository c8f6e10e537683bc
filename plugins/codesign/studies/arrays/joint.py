"""Configurations of several layers that fit one array together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.systolic.design import fixed
from ithaca.formulations.unreachable import exceeded
from ithaca.plugins.codesign.studies.arrays.hardware_bounds import LayerOptimum
from ithaca.plugins.codesign.studies.arrays.layer import TabledLayer, buffer_words, total
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions


@dataclass(frozen=True)
class Joint:
    """Configurations of all layers on one array."""

    hardware: dict[str, int]
    """The array's quantities, its buffers as large as the largest tile."""
    configurations: tuple[Configuration, ...]
    """One per layer."""
    values: tuple[Fraction, ...]
    """The objective of each layer."""
    value: Fraction
    """Their sum, each layer as often as it occurs."""


@dataclass(frozen=True)
class ArrayStage:
    """One array, and what it runs."""

    first: int
    """Its layers: numbers in the sequence, the end exclusive."""
    end: int
    design: int
    """Number of its design."""
    joint: Joint
    """The array and its layers' configurations: one per distinct layer of the stage, in order of
    first appearance."""


@dataclass(frozen=True)
class SequenceBounds:
    """The best arrays known for a sequence of layers, and bounds."""

    value: Fraction | None
    """The objective of the best ones found."""
    lower_bound: Fraction | None
    """No arrays do better."""
    infeasible: bool
    """Whether it is proven that no arrays can run all layers within the limits."""
    examined: int
    """Arrays on which every layer was solved; of several, plans."""
    seconds: float
    """Wall time."""
    stages: tuple[ArrayStage, ...] = ()
    """The best arrays found, in order; empty if none were."""
    designs: tuple[SequenceBounds, ...] = ()
    """The best arrays and bounds of each design, where designs are told apart."""


def _buffers(parts: Iterable[tuple[TabledLayer, Configuration]]) -> dict[str, int]:
    """Buffers as large as the largest tile of some layers."""
    words: dict[str, int] = {}
    for layer, configuration in parts:
        for name, size in buffer_words(layer.problem, configuration).items():
            words[name] = max(words.get(name, 0), size)
    return dict(sorted(words.items()))


def together(
    layers: Sequence[TabledLayer], lanes: Mapping[str, int], configurations: Sequence[Configuration]
) -> Joint | None:
    """Put configurations of the layers on one array; None if that breaks a limit.

    Parameters
    ----------
    layers : sequence of Layer
        The layers, with their limits.
    lanes : mapping of str to int
        PEs along each space loop and lanes of the SIMD loop, by quantity.
    configurations : sequence of Configuration
        One of each layer; buffers hold the largest of their tiles.
    """
    hardware = {**lanes, **_buffers(zip(layers, configurations, strict=True))}
    values = []
    for layer, configuration in zip(layers, configurations, strict=True):
        problem = layer.problem.with_design(hardware=fixed(hardware))
        if exceeded(problem.limits, problem.metrics(configuration)) or not problem.meets_conditions(
            configuration
        ):
            return None
        values.append(problem.value(configuration))
    return Joint(hardware, tuple(configurations), tuple(values), total(values, layers))


def fit(
    layers: Sequence[TabledLayer],
    lanes: Mapping[str, int],
    optima: Sequence[LayerOptimum],
    options: SolveOptions,
) -> Joint | None:
    """Configurations of all layers that fit one array, as good as a few rounds of solving layer by
    layer make them.

    ``optima`` is what each layer would do alone: layers with the largest shares of the total choose
    first.

    Parameters
    ----------
    layers : sequence of Layer
        The layers, with their limits.
    lanes : mapping of str to int
        PEs along each space loop and lanes of the SIMD loop, by quantity.
    optima : sequence of Optimum
        What each layer would do alone.
    options : SolveOptions
        How far to search.
    """
    if (
        joint := together(layers, lanes, [optimum.configuration for optimum in optima])
    ) is not None:
        return joint
    order = sorted(
        range(len(layers)), key=lambda number: -optima[number].value * layers[number].count
    )
    own = [layer.problem for layer in layers]
    chosen = _in_turn(own, layers, lanes, order, {}, options)
    if chosen is None:  # those that chose first left no room: begin with what takes least of it
        room = next((x for x in own[0].open_limits if x.metric == "bram18k"), None)
        if room is None:
            return None
        least = Objective(room.metric, room.expression)
        small = [replace(problem, objective=least) for problem in own]
        chosen = _in_turn(small, layers, lanes, order, {}, options)
        if chosen is None:
            return None
    again = _in_turn(own, layers, lanes, order, chosen, options)
    for configurations in (again, chosen):
        if configurations is not None:
            known = [configurations[number] for number in range(len(layers))]
            if (joint := together(layers, lanes, known)) is not None:
                return joint
    return None


def _in_turn(
    problems: Sequence[Problem],
    layers: Sequence[TabledLayer],
    lanes: Mapping[str, int],
    order: Sequence[int],
    known: Mapping[int, Configuration],
    options: SolveOptions,
) -> dict[int, Configuration] | None:
    """The best configuration of each layer, one after the other, beside buffers of those that are
    known; None where one has none."""
    chosen = dict(known)
    for number in order:
        others = _buffers((layers[other], own) for other, own in chosen.items() if other != number)
        least = tuple((name, (words, None)) for name, words in others.items())
        problem = problems[number].with_design(hardware=(*fixed(lanes), *least))
        solution = solve_exact(
            problem, replace(options, gap=0.0, any_tie=True), start=chosen.get(number)
        )
        if solution.configuration is None:
            return None
        chosen[number] = solution.configuration
    return chosen
