"""Arrays of recurrences as hardware: the modules, random tensors, and the order of words."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ithaca.exports.generated import ArrayGenerator, ArrayPort, GeneratedArray
from ithaca.files.errors import InputError
from ithaca.files.numbers import json_number
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.float_formats import bit_patterns, rounded
from ithaca.formulations.problem import Problem, read_objective
from ithaca.plugins.recurrences.exports.configuration import RecurrenceConfiguration
from ithaca.plugins.recurrences.exports.loops import bounds, sum_text
from ithaca.plugins.recurrences.exports.pe import PE
from ithaca.plugins.recurrences.exports.templates import template
from ithaca.plugins.recurrences.formulations.array import FIFO_DEPTH, RecurrenceArray
from ithaca.plugins.recurrences.formulations.design import RecurrenceDesign
from ithaca.plugins.recurrences.workloads.recurrence import Recurrence
from ithaca.plugins.recurrences.workloads.sums import Point

#: The only NaN.
NAN = 0x7FC00000


def obstacles(configuration: RecurrenceConfiguration) -> tuple[str, ...]:
    """Reasons why an array cannot be written."""
    array, reasons = configuration.array, [*PE(configuration.array).obstacles]
    if array.timing.hop < 2 or array.timing.interval > 1:
        stated = f"hop is {array.timing.hop}, interval is {array.timing.interval}"
        reasons.append(f"{stated}; allowed: at least 2, and 1")
    try:
        every = bounds(array).items()
        fits = all(abs(each[loop]) == 1 for loop, own in every if loop for each in own)
    except InputError:
        fits = False
    if not fits:
        reasons.append(
            "bounds of loops; allowed: sums of loops, where that of a PE is not multiplied; "
            "max of such as a first value, min as an end"
        )
    return tuple(reasons)


def _array_text(array: RecurrenceArray) -> str:
    """The text of the array's module, ``array.sv``."""
    pe, nest = PE(array), array.nest
    lowest = [min(point[nest.loops.index(x)] for point in nest.iterations) for x in array.space]
    return template(
        "array.sv.txt",
        statement=nest,
        design=", ".join(array.space),
        inputs=array.inputs,
        outputs=array.outputs,
        handed={name: link for name, link in pe.links.items() if name not in pe.stays},
        rows=max(place[0] for place in array.pes) + 1,
        columns=max((*place, 0)[1] for place in array.pes) + 1,
        across=len(array.space) - 1,
        hop=array.timing.hop,
        depth=FIFO_DEPTH,
        places=[*zip(array.space, ("row", "column"), lowest, strict=False)],
        bits=pe.bits,
        exists=" && ".join(f"{sum_text(each, 'at_')} >= 0" for each in bounds(array)[""]),
    )


def _generated(configuration: RecurrenceConfiguration) -> GeneratedArray:
    """The array of a configuration, with random tensors, and the element that each word is."""
    array, metrics = configuration.array, configuration.metrics
    nest, cycles = array.nest, int(metrics["latency"])
    expected = {
        "design": configuration.name,
        "machine": asdict(array.timing),
        "cycle": cycles,
        "simulated": cycles,
        "hangs": False,
        "elements": sum(len(nest.tensors[chain.tensor]) for chain in array.outputs),
        "macs": len(array.pes),
        "proven": configuration.proven,
        "vectors": True,
        **{name: json_number(metrics[name]) for name in ("dsp", "bram18k")},
    }
    values, streams, ports = _computed(nest), dict[str, str](), []
    for chain in (*array.inputs, *array.outputs):
        name, words = chain.tensor, list[Point | None]()
        for place, points in chain.points.items():
            words += (nest.element(chain.access, point) for point in points)
            words += [None] * (chain.moved[place] - len(points))
        order = ("-" if at is None else f"{name}{[*at]}".replace(", ", "][") for at in words)
        streams[f"streams/{name}.txt"] = "".join(f"{each}\n" for each in order)
        bits = [None if at is None else values[name, at] for at in words]
        ports.append(ArrayPort(name, chain in array.inputs, bits))
    readme = template(
        "hardware.md.txt",
        statement=nest,
        design=configuration.name,
        counts={port.tensor: len(port.words) for port in ports},
    )
    texts = {"array.sv": _array_text(array), "array_pe.sv": PE(array).text, "README.md": readme}
    return GeneratedArray(nest, configuration.name, expected, ports, {**streams, **texts})


def _problem(configuration: RecurrenceConfiguration) -> tuple[Problem, Configuration]:
    """The problem of an array alone, and the factors of that."""
    array = configuration.array
    design = RecurrenceDesign(array.nest, array.space, array.timing)
    objective = read_objective("latency", "objective", None)
    return Problem(design, (), objective), Configuration({"size": len(array.pes)})


def _computed(nest: Recurrence) -> Mapping[tuple[str, Point], int]:
    """The bits of all elements, of random inputs and of what is computed."""
    draw, values = np.random.default_rng(0), dict[tuple[str, Point], Any]()
    code = {case: compile(ast.unparse(case.result), "", "eval") for case in nest.cases}
    for tensor in nest.input_tensors:
        large = 2 * max(nest.extents_of(tensor), default=0)
        for at in nest.tensors[tensor]:
            size = draw.uniform(1, 2) + large * (at[:1] * 2 == at)
            values[tensor, at] = np.float32(draw.choice((-1, 1)) * size)
    for point, cases in nest.iterations.items():
        for case in cases:
            read = (values[each.tensor, nest.element(each, point)] for each in case.reads)
            names = {f"r{at}": value for at, value in enumerate(read)}
            with np.errstate(all="ignore"):
                result = rounded(eval(code[case], names), "fp32")
            values[case.value, point] = result
            if access := nest.outputs.get(case):
                values[access.tensor, nest.element(access, point)] = result
    numbers = np.array([*values.values()], np.float32)
    patterns = np.where(np.isnan(numbers), NAN, bit_patterns(numbers, "fp32"))
    return dict(zip(values, patterns.tolist(), strict=True))


HARDWARE = ArrayGenerator(
    "recurrences", RecurrenceConfiguration.of, _problem, obstacles, _generated
)
