"""The text of ``array_axi4.sv``: the array with an AXI4 master for each tensor in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup
from ithaca.plugins.rtl.exports.boxes import box, split
from ithaca.plugins.rtl.exports.hardware import Hardware
from ithaca.plugins.rtl.exports.sizes import nest_parameters, sized
from ithaca.plugins.rtl.exports.templates import template
from ithaca.plugins.rtl.formulations.addresses import AddressNest
from ithaca.workloads.affine import row_weights

#: Bits of a field of a place, and the register of the first base address; from one to the next.
_FIELD = 32
_FIRST_REGISTER, _REGISTERS = 0x10, 12


def beat_bits(pack_bits: int) -> int:
    """Bits of a beat: a pack, rounded up to a width that memories have."""
    return min(max(1 << (pack_bits - 1).bit_length(), 32), 512)


@dataclass(frozen=True)
class MemoryTensor:
    """A tensor in memory and its master."""

    name: str
    """Its name."""
    number: int
    """Which of the tensors it is; the one that is written is the last."""
    reads: bool
    """Whether its master reads it."""
    shape: tuple[int, ...]
    """Its extents."""
    padded: str
    """The extents of the padded tensor."""
    size: int
    """Its elements."""
    bits: int
    """Bits of an element."""
    pack: int
    """Elements of a pack."""
    packs: int
    """Packs of a run."""
    data: int
    """Bits of a beat."""
    run: int
    """Elements that are asked for at a time."""
    nest: str
    """Where its elements lie, as parameters of the master."""
    base: int
    """Where it lies in the memory of the bench."""

    @property
    def register(self) -> int:
        """The register of its base address."""
        return _FIRST_REGISTER + _REGISTERS * self.number

    @property
    def end(self) -> int:
        """The address at which the bench has the next tensor, when it has moved this one by 1,021
        elements twice."""
        return self.base + ((self.size + 3 * 1024) * self.bits // 8 // 4096 + 1) * 4096


@dataclass(frozen=True)
class Masters:
    """An array with its masters."""

    hardware: Hardware
    """The array."""

    @cached_property
    def tensors(self) -> tuple[MemoryTensor, ...]:
        """The tensors in memory, the one that is written last."""
        hardware, tensors = self.hardware, list[MemoryTensor]()
        for number, group in enumerate((*hardware.reads, hardware.out)):
            bits = hardware.moved_bits(group)
            shape = [place.stop - place.start for place in hardware.place(group)]
            data = beat_bits(hardware.width(group))
            reads = group.role is GroupRole.READ
            run, nest = _rows(hardware, group, data) if reads else _runs(hardware, group)
            tensors.append(
                MemoryTensor(
                    name=group.tensor,
                    number=number,
                    reads=reads,
                    shape=tuple(shape),
                    padded=" × ".join(map(str, hardware.shape(group))),
                    size=prod(shape),
                    bits=bits,
                    pack=hardware.pack(group),
                    packs=hardware.stream(group).count,
                    data=data,
                    run=run,
                    nest=nest,
                    base=tensors[-1].end if tensors else 0,
                )
            )
        return tuple(tensors)

    def text(self, name: str, **values: object) -> str:
        """The text of ``axi4_top.sv``, the array with its masters and registers, of ``kernel.xml``,
        these as Vitis reads them, or of ``axi4_bench.sv``, one memory behind the masters."""
        chosen = self.hardware.configuration
        return template(
            f"{name}.txt",
            statement=chosen.nest,
            design=chosen.design.name,
            tensors=self.tensors,
            errors=self._errors,
            **values,
        )

    @property
    def registers(self) -> dict[str, Any]:
        """The registers for the host: those of tensors in memory, and of errors."""
        names = ("name", "shape", "bits", "register")
        return {
            "tensors": [
                {name: getattr(t, name) for name in names} | {"read": t.reads} for t in self.tensors
            ],
            "errors": self._errors,
        }

    @property
    def _errors(self) -> int:
        """The register of errors, behind the addresses."""
        return self.tensors[-1].register + _REGISTERS


@dataclass(frozen=True)
class _Layout:
    """A padded tensor and its place in memory.

    A place has a field for each dimension of the padded tensor, innermost lowest. Dimensions share
    a field where the inner ones are not padded: what follows each other may then go on from one to
    the next.
    """

    begins: list[int]
    """Where the tensor begins in each field."""
    ends: list[int]
    """And ends."""
    weights: list[int]
    """The increment of a place by a step along each dimension of the padded tensor."""
    strides: list[int]
    """And to the address in the tensor (elements)."""
    skipped: int
    """Address of its first element, had the padded tensor its rows."""

    @property
    def dimensions(self) -> str:
        """The layout's fields, as parameters."""
        return (
            f".DIMS({len(self.begins)}), .BEGINS({_words(self.begins)}), .ENDS({_words(self.ends)})"
        )


def _layout(hardware: Hardware, group: IOGroup) -> _Layout:
    begins, ends, weights, inner, whole = [], [], [], 1, False
    lies = hardware.place(group)
    for size, place in zip(reversed(hardware.shape(group)), reversed(lies), strict=True):
        if not whole:
            inner = 1
            begins.append(0)
            ends.append(0)
        weights.append(inner << _FIELD * (len(begins) - 1))
        begins[-1], ends[-1] = place.start * inner, place.stop * inner
        inner *= size
        whole = size == place.stop - place.start
    strides = row_weights([place.stop - place.start for place in lies])
    skipped = sum(place.start * stride for place, stride in zip(lies, strides, strict=True))
    return _Layout(begins, ends, weights[::-1], strides, skipped)


def _elements(
    hardware: Hardware, group: IOGroup, layout: _Layout, field: int
) -> tuple[AddressNest, int]:
    """All elements that a group moves by places, whose address is in that field, and the step from
    one element of a row to the next."""
    above = _FIELD * field
    weights = [
        weight + (stride << above)
        for weight, stride in zip(layout.weights, layout.strides, strict=True)
    ]
    nest = hardware.elements(group, weights)
    return AddressNest(nest.axes, nest.base - (layout.skipped << above)), weights[-1]


def _runs(hardware: Hardware, group: IOGroup) -> tuple[int, str]:
    """Elements of the longest runs that follow each other in a group's stream and in memory, and
    the parameters of `ithaca_writer`."""
    layout = _layout(hardware, group)
    dims = len(layout.begins)
    elements, unit = _elements(hardware, group, layout, dims)
    nest = elements.merged
    *outer, (turns, stride) = nest.axes or ((1, 0),)
    if stride != unit:
        outer, turns = [*outer, (turns, stride)], 1
    runs = AddressNest(tuple(outer), nest.base)
    return turns, (
        f".RUN({turns}), {layout.dimensions},\n        {nest_parameters(runs, _FIELD * (dims + 1))}"
    )


def _rows(hardware: Hardware, group: IOGroup, data: int) -> tuple[int, str]:
    """Elements of the rows of a group's boxes, and the parameters of `ithaca_reader`."""
    layout, bits = _layout(hardware, group), hardware.moved_bits(group)
    field = len(layout.begins) + 2  # above the dimensions: the element of a row, and the row
    above = _FIELD * field
    elements, unit = _elements(hardware, group, layout, field)
    outside = len(hardware.stream(group).axes)
    inside, run = [axis for axis in elements.axes[outside:] if axis[0] > 1], 1
    while inside and inside[-1][1] == run * unit:
        run *= inside.pop()[0]
    lanes, offsets = prod(turns for turns, _ in inside), [0]
    for turns, stride in inside:
        offsets = [offset + stride * turn for offset in offsets for turn in range(turns)]

    def address(stride: int) -> int:
        return (stride + (1 << above - 1)) >> above

    axes = [axis for axis in elements.axes[:outside] if axis[0] > 1] or [(1, 0)]
    addresses = [(turns, address(stride)) for turns, stride in axes]
    at, turns = split(addresses, run, lanes, bits, data // bits)
    count, stride = axes[at]
    outer = [*axes[:at], (count // turns, stride * turns)]
    inner = [(turns, stride), *axes[at + 1 :]]
    held = box([(n, address(step)) for n, step in inner], run, data // bits)
    packs = [
        (n, step + (along << above - 2 * _FIELD) + (row << above - _FIELD))
        for (n, step), (along, row) in zip(inner, held.places, strict=True)
    ]
    merged = [AddressNest(tuple(nest)).merged.axes for nest in (outer, packs)]
    first, row = held.first
    base = elements.base + (first << above - 2 * _FIELD) + (row << above - _FIELD)
    begins = [(n, address(step)) for n, step in outer] + [*held.rows.axes]
    begins += [(n, address(step)) for n, step in inside]
    start = address(elements.base) + held.rows.base
    below = max(0, -start - sum(min(0, step) * (n - 1) for n, step in begins))
    rows = AddressNest(
        tuple((n, step + (step << _FIELD)) for n, step in begins),
        start + below + (start << _FIELD),
    ).merged
    walk = AddressNest((*merged[0], *merged[1]), base)
    return held.row, (
        f".LANES({lanes}), .ROW({held.row}), .ROWS({held.rows.count}), .SKIPPED({below}),\n"
        f"        {nest_parameters(rows, 2 * _FIELD, 'ROW_')},\n"
        f"        {layout.dimensions}, .INNER({len(merged[1])}),\n"
        f"        {nest_parameters(walk, above + _FIELD)},\n"
        f"        .OFFSETS({{{', '.join(sized(o, above + _FIELD) for o in reversed(offsets))}}})"
    )


def _words(numbers: Iterable[int]) -> str:
    """Words of 32 bits, the first one lowest."""
    return "{" + ", ".join(f"32'd{number}" for number in reversed([*numbers])) + "}"
