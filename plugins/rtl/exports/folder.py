"""The exported folder: the array, its bench with vectors, and what runs and synthesizes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from importlib.resources import files
from math import floor, prod
from typing import Any

from ithaca.exports.configuration import (
    ArrayConfiguration,
    Tool,
    memory_obstacles,
    type_obstacles,
)
from ithaca.files import signals
from ithaca.files.clock import StoppedError
from ithaca.files.errors import InputError
from ithaca.files.numbers import json_number, json_ready, number
from ithaca.files.words import parse_choice
from ithaca.files.writing import SCHEMA, document_text
from ithaca.formulations.machine import IDEAL, MemoryTiming
from ithaca.formulations.systolic.buffering import has_cycles
from ithaca.formulations.systolic.cycle_arithmetic import BURST_LATENCY
from ithaca.formulations.systolic.derivation import in_edition
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.logic import COEFFICIENTS
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.rtl.exports.array_text import array_text, pe_text
from ithaca.plugins.rtl.exports.bench_text import bench_text, vectors
from ithaca.plugins.rtl.exports.hardware import Hardware, in_exact_edition, obstacles
from ithaca.plugins.rtl.exports.memory_text import Masters
from ithaca.plugins.rtl.exports.record import RECORD, Recorded, record_text
from ithaca.plugins.rtl.exports.sizes import disagreements, register_files
from ithaca.plugins.rtl.exports.templates import template
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network

#: What memory is reached by: a stream per tensor, or an AXI4 master.
STREAM = "stream"
MEMORIES = (STREAM, "axi4")

#: Operations of a nest up to which the result of random tensors is computed: some seconds, of
#: floating point half a minute.
MOST_OPERATIONS = 2**31


def library(memory: str = STREAM) -> dict[str, str]:
    """The fixed modules, by their paths in the folder."""
    return {
        f"{folder}/{path.name}": path.read_text(encoding="utf-8")
        for folder in ("library", "bench", *((memory, "dram", "board") if memory != STREAM else ()))
        for path in sorted(
            files("ithaca.plugins.rtl.exports").joinpath(folder).iterdir(),
            key=lambda each: each.name,
        )
        if path.name.endswith((".sv", ".tcl"))
    }


def memory_timing(chosen: ArrayConfiguration) -> MemoryTiming:
    """The memory of a configuration's platform: its latency, and the bandwidth that all share."""
    stated = chosen.technology.memory
    shared = (chosen.bandwidth or 0) * 1000 / chosen.technology.clock_mhz  # GB/s over MHz
    return MemoryTiming(stated.latency, bandwidth=stated.bandwidth or floor(shared))


def expected(
    hardware: Hardware, memory: MemoryTiming, *, proven: bool, known: Recorded | None = None
) -> dict[str, Any]:
    """The expected results of the hardware of a configuration, and its costs by the model, as a
    document.

    Parameters
    ----------
    hardware : Hardware
        The array.
    memory : MemoryTiming
        Latency (cycles) and bandwidth (bytes per cycle) of the memory.
    proven : bool
        Whether the configuration is a proven optimum.
    known : Recorded, optional
        The record that hardware is made of again: nothing is simulated that was not then, and what
        cannot be simulated now is as it was.
    """
    chosen = hardware.configuration
    closed = in_edition(chosen.nest, chosen.design, Edition.CYCLE)
    stated = has_cycles(closed)
    metrics = (replace(chosen, design=closed) if stated else chosen).metrics
    resources = ("dsp", "bram18k", *(name for name in COEFFICIENTS if name in metrics))
    return {
        "statement": str(chosen.nest),
        **chosen.nest.labels,
        "sizes": chosen.nest.settings,
        "dtype": chosen.data.words,
        "accumulator": hardware.sum_bits,
        "design": chosen.design.name,
        "machine": json_ready(asdict(hardware.machine)),
        "cycle": json_number(metrics["latency"]) if stated else None,
        **{name: json_number(metrics[name]) for name in resources},
        **simulated(hardware, memory, known),
        "elements": prod(each.stop - each.start for each in hardware.place(hardware.out)),
        "macs": hardware.simd * hardware.value(chosen.design.pe.count),
        "proven": proven,
        "vectors": chosen.nest.operations <= MOST_OPERATIONS,
    }


def simulated(
    hardware: Hardware, memory: MemoryTiming, known: Recorded | None = None
) -> dict[str, Any]:
    """Cycles by `ithaca simulate`, and whether the array hangs; None where that cannot be said.

    Parameters
    ----------
    hardware : Hardware
        The array.
    memory : MemoryTiming
        The memory.
    known : Recorded, optional
        What was known when the hardware was first made.
    """
    stated = {"simulated": known and known.simulated, "hangs": known and known.hangs}
    if known is not None and known.simulated is None:
        return stated
    chosen = hardware.configuration
    design = SystolicDesign(chosen.nest, chosen.design, chosen.data, technology=chosen.technology)
    point = chosen.tiling.configuration(chosen.design, chosen.nest.sizes)
    try:
        run = simulate_network(
            array_network(design, point, hardware.machine, memory), signals.check
        )
    except (InputError, StoppedError):  # no numba, too many PEs, or no time
        return stated
    return {"simulated": run.cycles, "hangs": not run.finished}


def limit(stated: Mapping[str, Any], modelled: Any = None) -> int:
    """Cycles after which a bench says that the array hangs.

    Parameters
    ----------
    stated : mapping
        The expected results.
    modelled : number, optional
        Cycles by another model, where no closed form says them.
    """
    return 2 * int(stated["simulated"] or 4 * (stated["cycle"] or modelled)) + 1000


def _as_built(configuration: ArrayConfiguration, sum_bits: int | None) -> Hardware:
    """The hardware of a configuration, with sums of so many bits."""
    if sum_bits is not None:
        data = configuration.data.accumulating(sum_bits)
        configuration = replace(configuration, data=data)
    exact = in_exact_edition(configuration)
    assert exact is not None
    return Hardware(exact)


def _written_files(
    layers: Mapping[str, ArrayConfiguration], sum_bits: int | None, memory: str
) -> Mapping[str, str]:
    """The files of an array that runs layers, by their names, one after the other; one alone has
    none. Raises `InputError` if something keeps several from one array."""
    known = {
        name: Recorded(chosen, chosen.proven and chosen.edition == Edition.CYCLE.value)
        for name, chosen in layers.items()
    }
    runs = {name: _as_built(chosen, sum_bits) for name, chosen in layers.items()}
    return _files(runs, known, memory, again=False)


def written_again(known: Mapping[str, Recorded], memory: str) -> Mapping[str, str]:
    """The files of hardware, from its record. Raises `InputError` if there is no such hardware."""
    runs = {}
    for name, layer in known.items():
        assert isinstance(layer.configuration, ArrayConfiguration)
        if reasons := _obstacles(layer.configuration):
            raise InputError(f"{name and f'{name}: '}{'; '.join(reasons)}")
        runs[name] = _as_built(layer.configuration, None)
    return _files(runs, known, parse_choice("memory", memory, MEMORIES), again=True)


def _files(
    runs: Mapping[str, Hardware], known: Mapping[str, Recorded], memory: str, *, again: bool
) -> Mapping[str, str]:
    hardware, streams = next(iter(runs.values())), memory == STREAM
    timing = IDEAL if streams else memory_timing(hardware.configuration)
    stated = {
        name: expected(own, timing, proven=known[name].proven, known=known[name] if again else None)
        for name, own in runs.items()
    }
    shared = len(runs) > 1
    if shared:
        reasons = [*disagreements(runs)]
        reasons += [f"{name} hangs, as simulated" for name in runs if stated[name]["hangs"]]
        if not streams:
            reasons = [f"with --memory {memory} masters read the tensors of one layer"]
        if reasons:
            raise InputError("; ".join(reasons))
        hardware = Hardware(hardware.configuration, tuple(runs.values()))
    record = {
        name: Recorded(
            own.configuration, known[name].proven, stated[name]["simulated"], stated[name]["hangs"]
        )
        for name, own in runs.items()
    }
    limits = [
        limit(stated[name], own.configuration.metrics["latency"]) for name, own in runs.items()
    ]
    files = {
        "array.sv": array_text(hardware),
        "array_pe.sv": pe_text(hardware),
        "README.md": _readme(hardware, stated, memory=not streams),
        RECORD: record_text(record, memory),
    }
    if streams:
        files["bench.sv"] = bench_text(hardware, limits, [*runs])
    else:
        files |= _masters(hardware, stated[""], timing, limits[0])
    for name, own in runs.items():
        if stated[name]["vectors"]:
            files |= vectors(own, name, padding=streams)
    if shared:
        files |= register_files(hardware, [*runs])
    return {**files, **fixed_files({"layers": stated} if shared else {"rtl": stated[""]}, memory)}


def fixed_files(document: Mapping[str, Any], memory: str = STREAM) -> Mapping[str, str]:
    """The files of every folder: the library, the scripts that run and synthesize the array, and
    the document of expected results."""
    fixed = library(memory)
    return {
        **fixed,
        "simulate.sh": template("simulate.sh.txt"),
        "synthesize.ys": template(
            "synthesize.ys.txt",
            library=" ".join(path for path in fixed if path.startswith("library/")),
        ),
        "synthesize.tcl": template("synthesize.tcl.txt", masters=int(memory != STREAM)),
        "expected.json": document_text({"schema": SCHEMA, **document}),
    }


def _masters(
    hardware: Hardware, stated: dict[str, Any], timing: MemoryTiming, most: int
) -> Mapping[str, str]:
    """The further files of an array with AXI4 masters; the stated document gets its registers."""
    stated["memory"] = {"latency": timing.latency, "bandwidth": timing.bandwidth}
    masters = Masters(hardware)
    moved = sum(tensor.packs * tensor.pack for tensor in masters.tensors)
    bench = masters.text("axi4_bench.sv", limit=most, moved=moved, **stated["memory"])
    stated |= masters.registers
    return {
        "array_axi4.sv": masters.text("axi4_top.sv"),
        "board/kernel.xml": masters.text("kernel.xml"),
        "board/host.py": files("ithaca.plugins.rtl.exports").joinpath("host.py").read_text("utf-8"),
        "bench.sv": bench,
    }


def _readme(hardware: Hardware, stated: Mapping[str, Mapping[str, Any]], *, memory: bool) -> str:
    chosen = hardware.configuration
    return template(
        "readme.md.txt",
        statement=chosen.nest,
        design=chosen.design.name,
        hardware=hardware,
        stated=stated,
        runs=[*zip(stated, hardware.runs, strict=True)],
        cycles=[
            "it hangs" if own["hangs"] else number(own["simulated"]) for own in stated.values()
        ],
        closed=["none" if x["cycle"] is None else number(x["cycle"]) for x in stated.values()],
        sparse=chosen.nest.sparse,
        latency=BURST_LATENCY,
        two_level=chosen.design.dram.two_level,
        memory=memory,
    )


def _obstacles(chosen: ArrayConfiguration) -> tuple[str, ...]:
    if not chosen.design.dram.serialized:
        why = "every row of a tile opens a burst, and hardware asks for rows ahead of time"
        return (f"{why}; allowed: without --no-host-serialize",)
    if chosen.technology.uram and any(group.beside_dram for group in chosen.design.groups):
        return ("buffers are of URAM, and hardware has them in block RAM; allowed: without --uram",)
    two = chosen.design.dram.two_level
    reasons = type_obstacles(chosen) if two else memory_obstacles(chosen)
    return reasons or tuple(obstacles(chosen))


def rtl_tool(sum_bits: int | None = None, memory: str = STREAM) -> Tool:
    """The exporter for sums of so many bits (default: the result's), and one of `MEMORIES`."""
    files = partial(_written_files, sum_bits=sum_bits, memory=memory)

    def chosen(options: Mapping[str, Any]) -> Tool:
        stream = parse_choice("--memory", options["memory"] or memory, MEMORIES)
        return rtl_tool(options["accumulator"], stream)

    return Tool(
        "RTL cannot be generated of",
        lambda nest: (),
        _obstacles,
        lambda chosen: files({"": chosen}),
        "`ithaca build` on every folder",
        'ithaca build "$here/$folder" "$@"',
        shared=files,
        options=("accumulator", "memory"),
        with_options=chosen,
        remark=remark,
        record=RECORD,
    )


def remark(files: Mapping[str, str], platform: str) -> str:
    """A line on hardware whose simulation is not what the closed form proves; empty if it is."""
    stated = json.loads(files["expected.json"])["rtl"]
    if not stated["hangs"] and stated["simulated"] in (None, stated["cycle"]):
        return ""
    simulated = "it hangs" if stated["hangs"] else f"{number(stated['simulated'])} cycles"
    if stated["cycle"] is None:
        return f"\nas simulated {simulated}; no closed form says them"
    proven = "" if platform == "rtl-open" else "; to prove this hardware: --platform rtl-open"
    return f"\nas simulated {simulated}, by the closed form {number(stated['cycle'])}{proven}"


RTL = rtl_tool()
