"""Systems of recurrences for AutoSA: the program, and the options of its own LU example."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from ithaca.exports.autosa.folder import IO_LEVELS, folder_files, kernel_options
from ithaca.exports.configuration import Tool, refuse_options
from ithaca.formulations.systolic.target import KEYWORDS
from ithaca.plugins.recurrences.exports.configuration import RecurrenceConfiguration
from ithaca.plugins.recurrences.exports.templates import template
from ithaca.plugins.recurrences.formulations.array import RecurrenceArray, dataflows
from ithaca.plugins.recurrences.formulations.design import RecurrenceDesign
from ithaca.plugins.recurrences.workloads.recurrence import Case, Recurrence
from ithaca.plugins.recurrences.workloads.sums import ends
from ithaca.workloads.nest import LoopNest

#: Names that the program has of its own.
OWN_NAMES = {"float", "golden", "device", "errors", "main", "printf", "rand"}
OWN_NAMES |= {"fill_input", "mark_unwritten", "count_wrong"}

#: Bytes of a word (float).
WORD = 4


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Reasons why AutoSA cannot take recurrences: names, conditions and bounds that are no simple
    sums, and tensors without elements."""
    assert isinstance(nest, Recurrence)
    names = {*nest.loops, *nest.sizes, *nest.values, *nest.tensors}
    reserved = sorted(names & (KEYWORDS | OWN_NAMES))
    reasons = [f"'{name}' is a name of C, or of the program" for name in reserved]
    reasons += [f"no element of {name} is used" for name, used in nest.tensors.items() if not used]
    tests = {test for case in nest.cases for test in case.conditions if "(" in test}
    reasons += [f"{test}; allowed: conditions without min and max" for test in sorted(tests)]
    for earlier, later in combinations(nest.cases, 2):
        if earlier.value == later.value and len({*earlier.conditions} - {*later.conditions}) > 1:
            test = " and ".join(earlier.conditions)
            reasons.append(f"{test} of {later.value}, else: allowed: one comparison before an else")
    for loop, (first, end) in nest.bounds.items():
        if "(" in first + ",".join(ends(end, "min")):
            reasons.append(f"loop {loop}: {first} to {end}; allowed: sums, and min(…) as an end")
    return tuple(reasons)


def _files(configuration: RecurrenceConfiguration) -> Mapping[str, str]:
    array, nest, metrics = configuration.array, configuration.array.nest, configuration.metrics
    kernel = dataflows(nest).index(array.space)
    reductions = {f"kernel{kernel}": {"reduction": ["n"] * len(nest.loops)}}
    sizes = {
        "space_time": [kernel],
        "array_part": [-1] * len(nest.loops),
        "latency": [],
    }
    packs = kernel_options({tensor: [WORD] * IO_LEVELS for tensor in nest.tensors})
    options = (
        f'--sa-sizes="{kernel_options(sizes)}"',
        f'--data-pack-sizes="{packs}"',
        "--use-cplusplus-template --no-reschedule --live-range-reordering",
    )
    readme = template(
        "autosa.md.txt",
        statement=nest,
        design=configuration.name,
        metrics=metrics,
    )
    return folder_files(
        _program(configuration), options, _expected(array), readme, f"{json.dumps(reductions)}\n"
    )


def _expected(array: RecurrenceArray) -> dict[str, object]:
    modules: dict[str, object] = {}
    for chains, way in ((array.inputs, "IO_{}_in"), (array.outputs, "drain_IO_{}_out")):
        for chain in chains:
            for level, count in chain.modules.items():
                held = {"buffers": [chain.buffer]} if level == "L1" else {}
                name = f"{chain.tensor}_{way.format(level)}"
                modules[name] = {"count": count, "pack": 1, **held}
    output = array.outputs[0].tensor
    return {"output": output, "pes": len(array.pes), "simd": 1, "modules": modules}


def _program(configuration: RecurrenceConfiguration) -> str:
    nest = configuration.array.nest
    sizes = {tensor: nest.extents_of(tensor) for tensor in nest.tensors}
    every = dict.fromkeys(nest.values, range(len(nest.loops)))
    inputs = {name: sizes[name] for name in nest.input_tensors}
    return template(
        "autosa.c.txt",
        statement=nest,
        design=configuration.name,
        golden_lines=_statements(nest, every),
        lines=_statements(nest, nest.stored),
        sizes={name: _brackets(size) for name, size in sizes.items()},
        copies={name: f"golden_{name}" for name in sizes if name not in inputs},
        inputs={name: size[1] if len(size) == 2 else 0 for name, size in inputs.items()},
    )


def _brackets(values: Iterable[object]) -> str:
    return "".join(f"[{value}]" for value in values)


def _statements(nest: Recurrence, stored: Mapping[str, Iterable[int]]) -> Iterator[str]:
    """The loops with all statements, values in arrays of some loops."""
    extents = [max(column) + 1 for column in zip(*nest.iterations, strict=True)]
    for name, loops in stored.items():
        static = "static " if len(extents) == len([*loops]) else ""
        yield f"{static}float {name}{_brackets(extents[x] for x in loops)};"
    inner = ""
    for loop, (first, end) in nest.bounds.items():
        test = " && ".join(f"{loop} < {each}" for each in ends(end, "min"))
        yield inner + f"for (int {loop} = {first}; {test}; {loop}++) {{"
        inner += "  "
    targets = {case.value: str(access) for case, access in nest.outputs.items()}
    targets |= {name: name + _brackets(nest.loops[x] for x in stored[name]) for name in stored}
    earlier = ""
    for case in nest.cases:
        test = f"if ({' && '.join(case.conditions)}) " if case.conditions else ""
        otherwise = "else " if case.value == earlier else ""
        yield f"{inner}{otherwise}{test}{targets[case.value]} = {_result(case, stored)};"
        earlier = case.value
    yield inner + "}" * len(nest.loops)


def _result(case: Case, stored: Mapping[str, Iterable[int]]) -> str:
    """The arithmetic of a case in C."""
    read = [
        a.tensor
        + _brackets(a.subscripts[x] for x in stored.get(a.tensor, range(len(a.subscripts))))
        for a in case.reads
    ]
    return re.sub(r"\br(\d+)\b", lambda name: read[int(name[1])], ast.unparse(case.result))


def _chosen(options: Mapping[str, Any]) -> Tool:
    refuse_options(options, {"target": "hls"}, "recurrences")
    return RECURRENCES


RECURRENCES = Tool(
    "AutoSA cannot build",
    nest_obstacles,
    lambda configuration: (),
    _files,
    family=RecurrenceDesign.family,
    configured=RecurrenceConfiguration.of,
    options=("target",),
    with_options=_chosen,
)
