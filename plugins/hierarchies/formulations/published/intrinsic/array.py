"""The array of edition `intrinsic`, as an architecture states it: a call, and its machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.plugins.hierarchies.formulations.architecture import (
    Architecture,
    Tensorized,
    TensorUnit,
)
from ithaca.plugins.hierarchies.formulations.intrinsics import find_intrinsic
from ithaca.plugins.hierarchies.formulations.matching import Computation, computation
from ithaca.plugins.hierarchies.formulations.matching_model import matches
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import Energies
from ithaca.plugins.hierarchies.formulations.published.intrinsic.model import (
    PORTS,
    Operand,
    TensorizedWork,
)
from ithaca.workloads.nest import LoopNest

#: Loops of an intrinsic with the loops of a nest that run on them; one that is left out runs once,
#: the rest of its calls idle.
Binding = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class IntrinsicArray:
    """An architecture of this edition. An `InputError` says what it lacks."""

    architecture: Architecture

    def __post_init__(self) -> None:
        name, levels = self.architecture.name, self.architecture.levels
        if self.architecture.tensorized is None or len(levels) != 3:
            what = f"has {len(levels)} levels" if len(levels) != 3 else "has no field tensorized"
            allowed = "off-chip memory, a scratchpad, local memory, and the field tensorized"
            raise refuse(name, f"{what}; allowed in edition intrinsic: {allowed}")
        known = self.tensorized
        for what, value in (
            ("banks", known.banks),
            ("bus_bits", known.bus_bits),
            ("burst_bytes", known.burst_bytes),
        ):
            if value < 1:
                raise refuse(name, f"tensorized.{what} is {value}; allowed: a positive integer")
        if missing := next((level.name for level in levels[1:] if level.words is None), None):
            raise refuse(name, f"{missing} has no capacity; allowed in edition intrinsic: entries")
        if not 1 <= known.dataflow <= len(known.dataflows):
            flows = ", ".join(dict(known.dataflows))
            raise refuse(
                name, f"tensorized.dataflow is number {known.dataflow}; allowed: one of {flows}"
            )
        for number, (flow, sides) in enumerate(known.dataflows, 1):
            loops = self._computes(number).loops
            if len(set(sides)) < len(sides):
                raise refuse(
                    name,
                    f"tensorized.dataflows: {quoted(flow)} is "
                    f"{', '.join(sides)}; allowed: one or two of the loops {', '.join(loops)}",
                )

    @property
    def tensorized(self) -> Tensorized:
        """The statement of the array in the architecture."""
        assert self.architecture.tensorized is not None
        return self.architecture.tensorized

    @property
    def sides(self) -> tuple[str, ...]:
        """The loops along the sides of the mesh."""
        return self.tensorized.dataflows[self.tensorized.dataflow - 1][1]

    @property
    def mesh(self) -> tuple[tuple[str, int], ...]:
        """The loop and the multipliers along each direction of the mesh."""
        compute = self.architecture.compute
        return ((self.sides[0], compute.mesh_x), (self.sides[-1], compute.mesh_y))

    @cached_property
    def computes(self) -> Computation:
        """The computation of a call, with its sizes."""
        return self._computes(self.tensorized.dataflow)

    def _computes(self, flow: int) -> Computation:
        compute, known = self.architecture.compute, self.tensorized
        name, sides = known.dataflows[flow - 1]
        unit = dict(known.units).get(name, TensorUnit(known.intrinsic, known.sizes))
        along = dict.fromkeys(sides, compute.mesh_x * compute.mesh_y)
        if len(sides) > 1:
            along = dict(zip(sides, (compute.mesh_x, compute.mesh_y), strict=True))
        try:
            intrinsic = find_intrinsic(unit.intrinsic, dict(unit.sizes) | along)
        except InputError as error:
            text = (
                str(error)
                .replace("--intrinsic-sizes", "tensorized.sizes or a side")
                .replace("--intrinsic", "tensorized.intrinsic")
            )
            raise refuse(self.architecture.name, text) from None
        if missing := [
            loop for loop in intrinsic.loops if loop not in along and loop not in dict(unit.sizes)
        ]:
            allowed = f"sizes of all loops of {intrinsic} that are on no side"
            raise refuse(
                self.architecture.name,
                f"tensorized.sizes lacks {', '.join(missing)}; allowed: {allowed}",
            )
        return intrinsic

    def bindings(self, nest: LoopNest) -> tuple[Binding, ...]:
        """The ways to run a nest that do not cost the same, whatever the tiles. Raises `InputError`
        if there is none.

        Where no match binds all loops of the intrinsic, as of a depthwise convolution, those count
        that bind the most.
        """
        return _bindings(self.computes, self.sides, nest)

    def work(self, nest: LoopNest, binding: Binding, *, off_chip: bool = False) -> TensorizedWork:
        """The facts of a nest that its costs follow from; with words off chip, where these take
        cycles.

        Parameters
        ----------
        nest : LoopNest
            The nest.
        binding : Binding
            Which of its loops run on the intrinsic's.
        off_chip : bool, optional
            Whether words off chip take cycles of the bus.
        """
        compute, (outer, scratchpad, local) = self.architecture.compute, self.architecture.levels
        known = self.tensorized
        burst = 1 + Fraction(8 * known.burst_bytes, known.bus_bits)  # cycles
        assert scratchpad.words is not None
        assert local.words is not None
        return replace(
            _work(self.computes, self.sides, nest, binding),
            skew=compute.mesh_x + compute.mesh_y - 2,
            rate=Fraction(PORTS * known.banks),
            energies=Energies(
                compute.energy,
                local.read_energy,
                Fraction(0),
                scratchpad.read_energy,
                outer.read_energy,
            ),
            bus=Fraction(8 * known.burst_bytes, outer.word_bits) / burst if off_chip else None,
            scratchpad=scratchpad.usable(scratchpad.words),
            local=local.usable(local.words),
        )


@lru_cache(maxsize=64)
def array_of(architecture: Architecture) -> IntrinsicArray:
    """The array of an architecture, which many layers are asked about one after the other."""
    return IntrinsicArray(architecture)


@lru_cache(maxsize=1024)
def _bindings(computes: Computation, sides: tuple[str, ...], nest: LoopNest) -> tuple[Binding, ...]:
    # sides are never exchanged with loops that run in time: what the array holds depends on them
    told_apart = tuple((loop, 2 * size + (loop not in sides)) for loop, size in computes.extents)
    by_work: dict[TensorizedWork, Binding] = {}
    whole = computation(nest)
    for match in matches(whole, replace(computes, extents=told_apart), partial=True):
        if match.computation != whole:
            raise InputError(
                f"workload {nest.name} multiplies {len(nest.inputs)} tensors; "
                "allowed in edition intrinsic: two, or codesign, which runs its stages"
            )
        binding = tuple(match.binding.items())
        by_work.setdefault(_work(computes, sides, nest, binding), binding)
    if not by_work:
        raise InputError(
            f"workload {nest.name}: no loop runs on {computes}; allowed: loops that match its own"
        )
    return tuple(by_work.values())


def _work(
    computes: Computation, sides: tuple[str, ...], nest: LoopNest, binding: Binding
) -> TensorizedWork:
    """The counts that costs follow from, but for the figures of the hardware."""
    sizes, extents, image = computes.sizes, nest.sizes, dict(binding)
    accesses = (*computes.inputs, computes.output)
    # one that every loop indexes changes with every call, as a dot product's operands do
    holders = [a for a in accesses if set(sides) <= a.loops < set(computes.loops)]
    return TensorizedWork(
        extents=tuple((p, extents[q]) for p, q in binding),
        sizes=computes.extents,
        sides=sides,
        outer=prod(extent for loop, extent in nest.extents if loop not in image.values()),
        operands=tuple(
            Operand(a, held=holders == [a], result=a is computes.output) for a in accesses
        ),
        call=prod(size for loop, size in sizes.items() if loop not in sides),
    )
