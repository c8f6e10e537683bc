"""Configurations of designs as they are exported, and the tools that they are exported to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DataType
from ithaca.formulations.formats import PUBLISHED
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.systolic_array import Direction, GroupRole, IOGroup, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class ArrayConfiguration:
    """A design of a nest, with all its factors."""

    nest: LoopNest
    """The loop nest, with extents."""
    design: SystolicArray
    """The design, derived from the nest."""
    data: DataType
    tiling: Tiling
    technology: Technology = DEFAULT_TECHNOLOGY
    """Gives the clock."""
    bandwidth: Fraction | None = None
    """The off-chip memory's bandwidth that it may use (GB/s); None where that is not limited."""
    proven: bool = False
    """Whether a certificate says that nothing is better."""

    @classmethod
    def of(cls, solution: Solution) -> ArrayConfiguration:
        """The configuration of a solution that has one."""
        design, limits = systolic(solution.problem), solution.problem.limits
        bandwidth = next((limit.bound for limit in limits if limit.metric == "bandwidth"), None)
        return cls(
            design.nest,
            design.array,
            design.data,
            solution.tiling,
            design.technology,
            bandwidth,
            solution.certificate.status.proven,
        )

    @property
    def spread(self) -> bool:
        """Whether a tensor has several memory ports."""
        return any(number > 1 for number in self.tiling.ports.values())

    @property
    def description(self) -> str:
        """A short description of the configuration, in words."""
        return f"design {self.name}, the result's best configuration"

    @property
    def name(self) -> str:
        """The name of the design in results."""
        return self.design.name

    @property
    def edition(self) -> str:
        """The model edition of its metrics."""
        return self.design.edition.value

    def t2(self, loop: str) -> int:
        """Latency hiding or SIMD factor of a band loop."""
        return self.tiling.t2(self.design, loop)

    @property
    def padded(self) -> dict[str, int]:
        """Extent of each loop padded to whole tiles (tiles · t1); untiled loops are not padded."""
        parts = self.tiling.array_part
        return {
            x: -(-extent // parts[x]) * parts[x] if x in parts else extent
            for x, extent in self.nest.extents
        }

    @property
    def quantities(self) -> dict[str, Fraction]:
        """The cost model's quantities by name.

        Raises `InputError` if the tiling is none of the design's.
        """
        return self.tiling.quantities(self.design, self.nest.sizes)

    @property
    def metrics(self) -> dict[str, Fraction]:
        """The metrics of the cost model by name, at the configuration's technology."""
        return metric_values(
            evaluate(self.design, self.quantities, self.data, FRACTION, self.technology)
        )

    def whole(self, expression: Expression) -> int:
        """The value of a number of things."""
        return int(expression.evaluate(self.quantities, FRACTION))

    def moved_group(self, tensor: str) -> IOGroup:
        """The I/O group that reads a tensor, or writes the finished output.

        That is the drain, or without one the flow group that accumulates in its own buffers.
        """
        groups = [g for g in self.design.packed_groups if g.tensor == tensor]
        outwards = [g for g in groups if any(m.direction is Direction.OUT for m in g.modules)]
        return max(outwards or groups, key=lambda g: g.role is GroupRole.DRAIN)


def memory_obstacles(configuration: ArrayConfiguration) -> tuple[str, ...]:
    """Reasons why tools that know one type of all tensors, one memory port of each, and no buffer
    beside it, cannot take a configuration."""
    if reasons := type_obstacles(configuration):
        return reasons
    if configuration.design.dram.two_level:
        return ("two levels of tiles, with buffers beside DRAM; allowed: one level of tiles",)
    spread = [name for name, number in configuration.tiling.ports.items() if number > 1]
    why = f"{', '.join(spread)}: several memory ports; allowed: one of each tensor"
    return (why,) if spread else ()


def type_obstacles(configuration: ArrayConfiguration) -> tuple[str, ...]:
    """Reasons why tools that know one published type of all tensors cannot take a
    configuration."""
    if configuration.data.plain:
        return ()
    words = configuration.nest.labels.get("format", configuration.data.name)
    return (f"format {words}; allowed: one type of all tensors, of {', '.join(PUBLISHED)}",)


def block_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Reasons why tools that know dense tensors alone cannot take a nest."""
    return () if nest.sparse is None else (f"block sparsity {nest.sparse}; allowed: dense tensors",)


def refuse_options(
    options: Mapping[str, Any], allowed: Mapping[str, object], workloads: str
) -> None:
    """Refuse values of options that are for arrays of loop nests.

    Parameters
    ----------
    options : mapping
        The values that are given, by name.
    allowed : mapping
        The only value of each.
    workloads : str
        The name of other workloads, in the plural.
    """
    for name, value in options.items():
        if value not in (None, allowed[name]):
            raise InputError(f"--{name} {value} takes no {workloads}; allowed: {allowed[name]}")


class Exported(Protocol):
    """A configuration of any family as it is exported."""

    @property
    def nest(self) -> LoopNest:
        """The loop nest that is its work."""

    @property
    def name(self) -> str:
        """The name of the design in results."""

    @property
    def edition(self) -> str:
        """The model edition of its metrics."""

    @property
    def metrics(self) -> Mapping[str, Fraction]:
        """The metrics by name."""


@dataclass(frozen=True)
class Tool:
    """A tool to export to.

    It takes a configuration of systolic arrays, or one of another family that has as much: nest,
    name, edition and metrics.
    """

    cannot: str
    """Start of a sentence that refuses something, such as ``AutoSA cannot build``."""
    nest_obstacles: Callable[[LoopNest], tuple[str, ...]]
    """Every reason, in plain words, why it can take no configuration of a nest, and why not a
    configuration."""
    obstacles: Callable[[Any], tuple[str, ...]]
    files: Callable[[Any], Mapping[str, str]]
    """The files of a configuration that nothing speaks against: content by name."""
    builds: str = ""
    """The program that runs the tool on a ``$folder`` of these files in ``$here``: in words, and
    for a shell; empty where nothing does."""
    command: str = ""
    family: str = SystolicDesign.family
    """The family whose configurations it takes."""
    configured: Callable[[Solution], Any] = ArrayConfiguration.of
    """Its configuration of a solution that has one."""
    shared: Callable[[Mapping[str, Any]], Mapping[str, str]] | None = None
    """The files of one piece of hardware that runs several configurations, by name; raises
    `InputError` with what keeps it from that. None where each has files of its own."""
    builds_all: Callable[[Result], list[Problem]] | None = None
    """The problems of what it builds instead of a result; None where only what is in the result can
    be expressed."""
    edition: str = ""
    """The edition whose configurations it takes; empty if any."""
    options: tuple[str, ...] = ()
    """The options of an export that it has, without dashes."""
    with_options: Callable[[Mapping[str, Any]], Tool] | None = None
    """The tool with values of such options by name, None where one is not given; an `InputError` if
    it has no such values."""
    again: str = ""
    """Options of a question, all answers of which it takes; empty where there are none."""
    remark: Callable[[Mapping[str, str], str], str] | None = None
    """A further line about files for a platform, empty where nothing is to be said."""
    architecture: Callable[[Any], Mapping[str, str]] | None = None
    """The files of an accelerator by itself; None where it takes none."""
    record: str = ""
    """Name of the file, among those of a configuration, that all are made again from; empty where
    none is."""

    def export(self, configuration: Any) -> Mapping[str, str]:
        """Content by file name, to be written by `ithaca.files.writing.write_folder`.

        Raises `InputError` if it cannot take the configuration; it names all the reasons.
        """
        if reasons := self.obstacles(configuration):
            design = f"{configuration.nest}, design {configuration.name}"
            raise InputError(f"{self.cannot} {design}: {'; '.join(reasons)}")
        return self.files(configuration)


#: Tools by the name of the target.
TARGETS: Registry[Tool] = Registry("tools")

#: Tools of a target that take another family's configurations, by family and target: ``spatial
#: timeloop``.
OTHERS: Registry[Tool] = Registry("tools of families")


#: Targets that make tools for families which they do not know: of a family's name, None of others.
MAKERS: Registry[Callable[[str], Tool | None]] = Registry("tool makers")


def tools_of(family: str) -> dict[str, Tool]:
    """The tools that take configurations of a family, by the name of the target."""
    own = {name: TARGETS[name] for name in TARGETS if TARGETS[name].family == family}
    keys = (key.split(" ") for key in OTHERS)
    others = {name: OTHERS[f"{of} {name}"] for of, name in keys if of == family}
    made = {name: tool for name in MAKERS if (tool := MAKERS[name](family)) is not None}
    return others | made | own
