"""The exported folder of an array that another family generates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ithaca.exports.configuration import Tool, refuse_options
from ithaca.exports.generated import GENERATORS, ArrayGenerator, ArrayPort
from ithaca.plugins.rtl.exports.bench_text import BenchMemory, hexadecimal
from ithaca.plugins.rtl.exports.folder import RTL, STREAM, fixed_files, limit
from ithaca.plugins.rtl.exports.record import RECORD, Recorded, record_text
from ithaca.plugins.rtl.exports.templates import template


def generated_files(generator: ArrayGenerator, configuration: Any) -> Mapping[str, str]:
    """The files of a configuration's array: what its family writes, the bench, and all else."""
    array = generator.generated(configuration)
    files, memories = dict(array.files), []
    for port in array.ports:
        memory = _memory(port)
        files[memory.file] = hexadecimal(_lines(port), 32 if port.reads else 36)
        memories.append(memory)
    bench = template(
        "bench.sv.txt",
        statement=array.statement,
        design=array.design,
        layers=[memories],
        limits=[limit(array.expected)],
        registers=0,
    )
    known = Recorded(configuration, bool(array.expected["proven"]))
    record = record_text({"": known}, STREAM, generator.problem)
    return {**files, "bench.sv": bench, RECORD: record, **fixed_files({"rtl": array.expected})}


def _memory(port: ArrayPort) -> BenchMemory:
    """The memory of the bench at a port."""
    count = len(port.words)
    parameters = f".BITS(32), .SIZE({count}), .COUNTS({count})"
    return BenchMemory(port.tensor, port.reads, 32, f"vectors/{port.tensor}.hex", parameters)


def _lines(port: ArrayPort) -> Iterator[int]:
    """The words of a port's file; those that are written begin with 1 where they must be right."""
    right = 0 if port.reads else 1 << 32
    for word in port.words:
        yield 0 if word is None else word + right


def tool_of(family: str) -> Tool | None:
    """The tool for configurations of a family that generates its arrays; None of others."""
    if (generator := GENERATORS.get(family)) is None:
        return None

    def chosen(options: Mapping[str, Any]) -> Tool:
        refuse_options(options, {"memory": STREAM, "accumulator": 32}, generator.workloads)
        return own

    own = replace(
        RTL,
        obstacles=generator.obstacles,
        files=partial(generated_files, generator),
        family=family,
        configured=generator.configured,
        shared=None,
        with_options=chosen,
    )
    return own
