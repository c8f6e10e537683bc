"""The text of ``array_axi4.sv``: the array with an AXI4 master for each tensor in memory."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from ithaca.exports.configuration import template
from ithaca.exports.rtl.array_text import nest_parameters
from ithaca.exports.rtl.hardware import Hardware
from ithaca.formulations.systolic.addresses import AddressNest, row_weights
from ithaca.formulations.systolic.systolic_array import GroupRole, IOGroup

#: Bits of a field of a place, and the register of the first base address; from one to the next.
_FIELD = 32
_FIRST_REGISTER, _REGISTERS = 0x10, 12


def beat_bits(pack_bits: int) -> int:
    """Bits of a beat: a pack, rounded up to a width that memories have."""
    return min(max(1 << (pack_bits - 1).bit_length(), 32), 512)


def tensors(hardware: Hardware) -> list[dict[str, Any]]:
    """What is stated of each tensor in memory, the one that is written last."""
    found: list[dict[str, Any]] = []
    for number, group in enumerate((*hardware.reads, hardware.out)):
        places = hardware.places
        access, bits = places.access(group.tensor), hardware.bits(group)
        shape = [place.stop - place.start for place in places.tensor_place(access)]
        pack = hardware.value(group.pack)
        found.append(
            {
                "name": group.tensor,
                "number": number,
                "shape": shape,
                "padded": " × ".join(map(str, places.tensor_shape(access))),
                "size": prod(shape),
                "bits": bits,
                "bytes": bits // 8,
                "pack": pack,
                "packs": places.stream(group).count,
                "width": pack * bits,
                "data": beat_bits(pack * bits),
                "register": _FIRST_REGISTER + _REGISTERS * number,
                "role": "reader" if group.role is GroupRole.READ else "writer",
                **_runs(hardware, group),
            }
        )
    return found


def _runs(hardware: Hardware, group: IOGroup) -> dict[str, Any]:
    """The runs of elements that follow each other in memory as parameters of `ithaca_runs`.

    A place has a field for each dimension of the padded tensor, innermost lowest, and one for the
    address in the tensor above them. Dimensions share a field where the inner ones are not padded:
    a run may then go on from one to the next.
    """
    places = hardware.places
    access = places.access(group.tensor)
    begins, ends, weights, inner, whole = [], [], [], 1, False
    lies = places.tensor_place(access)
    for size, place in zip(reversed(places.tensor_shape(access)), reversed(lies), strict=True):
        if not whole:
            inner = 1
            begins.append(0)
            ends.append(0)
        weights.append(inner << _FIELD * (len(begins) - 1))
        begins[-1], ends[-1] = place.start * inner, place.stop * inner
        inner *= size
        whole = size == place.stop - place.start
    above = _FIELD * len(begins)
    rows = row_weights([place.stop - place.start for place in lies])
    weights = [weight + (row << above) for weight, row in zip(reversed(weights), rows, strict=True)]
    nest = places.elements(group, weights).merged
    *outer, (turns, stride) = nest.axes or ((1, 0),)
    if stride != weights[-1]:
        outer, turns = [*outer, (turns, stride)], 1
    skipped = sum(place.start * row for place, row in zip(lies, rows, strict=True)) << above
    runs = AddressNest(tuple(outer), nest.base - skipped)
    return {
        "run": turns,
        "nest": f".DIMS({len(begins)}), .RUN({turns}), .BEGINS({_words(begins)}), "
        f".ENDS({_words(ends)}),\n        {nest_parameters(runs, above + _FIELD)}",
    }


def _words(numbers: Iterable[int]) -> str:
    """Words of 32 bits, the first one lowest."""
    return "{" + ", ".join(f"32'd{number}" for number in reversed([*numbers])) + "}"


def memory_text(hardware: Hardware) -> str:
    """``array_axi4.sv``: the array, its masters and registers."""
    chosen, moved = hardware.configuration, tensors(hardware)
    return template("rtl/axi4_top.sv.txt").format(
        statement=chosen.nest,
        design=chosen.design.name,
        parameters=_each("axi4_parameter.sv", moved),
        ports=_each("axi4_{role}_ports.sv", moved),
        masters=_each("axi4_{role}.sv", moved),
        addresses=_each("axi4_address.sv", moved),
        listed=", ".join(f"32'({t['name']}_ADDRESS)" for t in reversed(moved)),
        errors=_errors(moved),
        tensors=len(moved),
        top=len(moved) - 1,
        streams=_each("axi4_stream.sv", moved, ",\n"),
    )


def kernel_text(hardware: Hardware) -> str:
    """``kernel.xml``: ports and registers as Vitis reads them."""
    moved = tensors(hardware)
    ports, arguments = (_each(name, moved) for name in ("kernel_port.xml", "kernel_arg.xml"))
    return template("rtl/kernel.xml.txt").format(ports=ports, args=arguments)


def registers(hardware: Hardware) -> dict[str, Any]:
    """What a host must know of tensors in memory."""
    moved = tensors(hardware)
    names = ("name", "shape", "bits", "register")
    return {
        "tensors": [
            {name: t[name] for name in names} | {"read": t["role"] == "reader"} for t in moved
        ],
        "errors": _errors(moved),
    }


def _errors(moved: list[dict[str, Any]]) -> int:
    """The register of errors, behind the addresses."""
    return int(moved[-1]["register"]) + _REGISTERS


def _each(name: str, moved: list[dict[str, Any]], between: str = "\n") -> str:
    """A template's text for each tensor; there may be one for each role."""
    texts = (template(f"rtl/{name.format(**t)}.txt").format(**t) for t in moved)
    return between.join(text.removesuffix("\n") for text in texts)


def memory_bench_text(hardware: Hardware, limit: int, latency: int, bandwidth: int) -> str:
    """``bench.sv``: the array and its masters with one memory behind them."""
    chosen, moved, base = hardware.configuration, tensors(hardware), 0
    for tensor in moved:
        reads = tensor["role"] == "reader"
        tensor |= {"base": base, "loaded": tensor["size"] * reads}
        tensor["word"] = tensor["bits"] if reads else tensor["bits"] + 4
        base += (tensor["size"] * tensor["bytes"] // 4096 + 3) * 4096
    out = moved[-1]
    return template("rtl/axi4_bench.sv.txt").format(
        statement=chosen.nest,
        design=chosen.design.name,
        latency=latency,
        bandwidth=bandwidth,
        reads=len(moved) - 1,
        memory=1 << base.bit_length(),
        widths=_words(t["data"] // 8 for t in moved).strip("{}"),
        connections=_each("axi4_bench_{role}.sv", moved, ",\n"),
        rules=_each("axi4_bench_{role}_rules.sv", moved),
        tensors=_each("axi4_bench_tensor.sv", moved),
        loads=_each("axi4_bench_load.sv", moved),
        errors=_errors(moved),
        name=out["name"],
        data=out["data"],
        out_bytes=out["bytes"],
        elements=out["size"],
        limit=limit,
        moved=sum(t["packs"] * t["pack"] for t in moved),
    )
