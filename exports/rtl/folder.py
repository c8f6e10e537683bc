"""The exported folder: the array, its bench with vectors, and what runs and synthesizes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from importlib.resources import files
from math import floor, prod
from typing import Any

from ithaca.exports.configuration import ArrayConfiguration, Tool, template
from ithaca.exports.rtl.array_text import array_text
from ithaca.exports.rtl.bench_text import bench_text, vectors
from ithaca.exports.rtl.hardware import Hardware, in_exact_edition, obstacles
from ithaca.exports.rtl.memory_text import Masters
from ithaca.exports.rtl.pe_text import pe_text
from ithaca.files import signals
from ithaca.files.errors import InputError
from ithaca.files.numbers import json_number, number
from ithaca.files.writing import SCHEMA, document_text
from ithaca.formulations.machine import IDEAL, MemoryTiming
from ithaca.formulations.systolic.addresses import span
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.simulation.activity import simulate_network
from ithaca.formulations.systolic.simulation.arrays import array_network
from ithaca.formulations.systolic.systolic_array import Edition, IOGroup

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
            files("ithaca.exports.rtl").joinpath(folder).iterdir(), key=lambda each: each.name
        )
        if path.name.endswith((".sv", ".tcl"))
    }


def memory_timing(chosen: ArrayConfiguration) -> MemoryTiming:
    """The memory of a configuration's platform: its latency, and the bandwidth that all share."""
    stated = chosen.technology.memory
    shared = (chosen.bandwidth or 0) * 1000 / chosen.technology.clock_mhz  # GB/s over MHz
    return MemoryTiming(stated.latency, bandwidth=stated.bandwidth or floor(shared))


def expected(
    hardware: Hardware, memory: MemoryTiming = IDEAL, *, proven: bool = False
) -> dict[str, Any]:
    """Content of ``expected.json``: what the hardware must do, and what it costs by the model."""
    chosen = hardware.configuration
    closed = derive(chosen.nest, chosen.design.dataflow, chosen.design.permutation, Edition.CYCLE)
    published = replace(chosen, data=chosen.data.published).metrics["latency"]
    metrics = {
        **chosen.metrics,
        "latency": published,
        "cycle": replace(chosen, design=closed).metrics["latency"],
    }
    names = {"exact": "latency", "cycle": "cycle", "dsp": "dsp", "bram18k": "bram18k"}
    return {
        "schema": SCHEMA,
        "rtl": {
            "statement": str(chosen.nest),
            "sizes": chosen.nest.settings,
            "dtype": chosen.data.words,
            "accumulator": hardware.sum_bits,
            "design": chosen.design.name,
            "machine": asdict(hardware.machine) | {"sums": hardware.machine.sums.value},
            **{name: json_number(metrics[of]) for name, of in names.items()},
            **simulated(hardware, memory),
            "elements": elements(hardware),
            "macs": hardware.simd * hardware.value(chosen.design.pe.count),
            "proven": proven,
            "vectors": chosen.nest.operations <= MOST_OPERATIONS,
        },
    }


def elements(hardware: Hardware) -> int:
    """Elements of the result."""
    sizes = hardware.configuration.nest.sizes
    return prod(span(subscript, sizes) for subscript in hardware.configuration.nest.output)


def simulated(hardware: Hardware, memory: MemoryTiming = IDEAL) -> dict[str, Any]:
    """Cycles by `ithaca simulate`, and whether the array hangs; None where that cannot be said."""
    chosen = hardware.configuration
    design = SystolicDesign(chosen.nest, chosen.design, chosen.data, technology=chosen.technology)
    point = chosen.tiling.configuration(chosen.design, chosen.nest.sizes)
    try:
        run = simulate_network(
            array_network(design, point, hardware.machine, memory), signals.check
        )
    except InputError:  # numba is not installed, or there are too many PEs
        return {"simulated": None, "hangs": None}
    return {"simulated": run.cycles, "hangs": not run.finished}


def limit(stated: Mapping[str, Any]) -> int:
    """Cycles after which a bench says that the array hangs."""
    return 2 * int(stated["simulated"] or 4 * stated["exact"]) + 1000


def _written(
    configuration: ArrayConfiguration, sum_bits: int | None, memory: str
) -> Mapping[str, str]:
    if sum_bits is not None:
        data = configuration.data.accumulating(sum_bits)
        configuration = replace(configuration, data=data)
    exact = in_exact_edition(configuration)
    assert exact is not None
    hardware = Hardware(exact)
    streams, timing = memory == STREAM, memory_timing(configuration)
    document = expected(
        hardware,
        IDEAL if streams else timing,
        proven=configuration.proven and configuration.edition == Edition.CYCLE.value,
    )
    stated, fixed = document["rtl"], library(memory)
    bench = bench_text(hardware, limit(stated))
    more = {}
    if not streams:
        stated["memory"] = {"latency": timing.latency, "bandwidth": timing.bandwidth}
        masters = Masters(hardware)
        bench = masters.bench_text(limit(stated), **stated["memory"])
        stated |= masters.registers
        more = {
            "array_axi4.sv": masters.top_text,
            "board/kernel.xml": masters.kernel_text,
            "board/host.py": files("ithaca.exports.rtl").joinpath("host.py").read_text("utf-8"),
        }
    return {
        "array.sv": array_text(hardware),
        "array_pe.sv": pe_text(hardware),
        **more,
        **fixed,
        "bench.sv": bench,
        **(vectors(hardware, padding=streams) if stated["vectors"] else {}),
        "simulate.sh": template("rtl/simulate.sh.txt"),
        "synthesize.ys": template("rtl/synthesize.ys.txt").format(
            library=" ".join(path for path in fixed if path.startswith("library/"))
        ),
        "synthesize.tcl": template("rtl/synthesize.tcl.txt"),
        "expected.json": document_text(document),
        "README.md": _readme(hardware, stated) + ("" if streams else template("rtl/memory.md.txt")),
    }


def _readme(hardware: Hardware, stated: Mapping[str, Any]) -> str:
    chosen, places = hardware.configuration, hardware.places
    machine = ", ".join(f"{name} {value}" for name, value in stated["machine"].items())
    cycles = stated["simulated"] if not stated["hangs"] else None
    return template("rtl/readme.md.txt").format(
        statement=chosen.nest,
        design=chosen.design.name,
        data=chosen.data.words,
        sums=hardware.sum_type,
        machine=machine,
        cycles="it hangs" if stated["hangs"] else number(cycles),
        closed=number(stated["cycle"]),
        exact=number(stated["exact"]),
        dsp=number(stated["dsp"]),
        bram=number(stated["bram18k"]),
        ports="\n".join(
            f"| `{group.tensor}` | {hardware.value(group.pack)} × {hardware.bits(group)} bits | "
            f"{' × '.join(map(str, places.tensor_shape(places.access(group.tensor))))} | "
            f"{_order(hardware, group)} |"
            for group in (*hardware.reads, hardware.out)
        ),
    )


def _order(hardware: Hardware, group: IOGroup) -> str:
    nest = hardware.places.stream(group).merged
    loops = ", ".join(f"{turns} by {stride}" for turns, stride in nest.axes)
    return f"from {nest.base}: {loops}" if loops else f"{nest.base}"


def rtl_tool(sum_bits: int | None = None, memory: str = STREAM) -> Tool:
    """The exporter for sums of so many bits (default: the result's), and one of `MEMORIES`."""
    return Tool(
        "RTL cannot be generated of",
        lambda nest: (),
        lambda chosen: tuple(obstacles(chosen)),
        partial(_written, sum_bits=sum_bits, memory=memory),
        "`ithaca build` on every folder",
        'ithaca build "$here/$folder" "$@"',
    )


def remark(files: Mapping[str, str], platform: str) -> str:
    """A line on hardware whose simulation is not what the closed form proves; empty if it is."""
    stated = json.loads(files["expected.json"])["rtl"]
    if not stated["hangs"] and stated["simulated"] in (None, stated["cycle"]):
        return ""
    simulated = "it hangs" if stated["hangs"] else f"{number(stated['simulated'])} cycles"
    proven = "" if platform == "rtl-open" else "; to prove this hardware: --platform rtl-open"
    return f"\nas simulated {simulated}, by the closed form {number(stated['cycle'])}{proven}"


RTL = rtl_tool()
