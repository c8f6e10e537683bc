"""The file that TensorLib reads: the operation, its extents, and where and when each iteration runs.

Facts are those of Jia, Luo, Lu, Liang: "TensorLib: A Spatial Accelerator Generation Framework for
Tensor Algebra" (DAC 2021), and of the release (github.com/pku-liang/tensorlib, ``parse_json``): it
knows GEMM, ``o[k][x] += w[k][c] * i[c][x]``, and CONV2D, ``o[k][y][x] += w[k][c][r][s] *
i[c][y+r][x+s]``. Rows of the matrix are the array's two sides and then time, innermost first. A
tensor is used again where and when its subscripts stay: in the columns of the loops that are not in
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ithaca.exports.configuration import Tool, block_obstacles
from ithaca.exports.instructions.called import CalledNest
from ithaca.files.writing import document_text
from ithaca.formulations.spatial.mapping_design import MappingDesign


@dataclass(frozen=True)
class Operation:
    """What TensorLib calls an intrinsic."""

    name: str
    loops: Mapping[str, str]
    """TensorLib's loops, in its order, and the intrinsic's."""
    tensors: tuple[str, ...]
    """Its names of the operands, in the order of the intrinsic's."""
    wave: tuple[str, str, str]
    """TensorLib's loops of two sides and of time, the sums of which are diagonals of the array."""


OPERATIONS = {
    "gemm": Operation("GEMM", {"k": "i", "c": "k", "x": "j"}, ("w", "i", "o"), ("k", "c", "x")),
    "conv2d": Operation(
        "CONV2D",
        {"k": "k", "c": "c", "y": "x", "x": "y", "r": "r", "s": "s"},
        ("i", "w", "o"),
        ("k", "c", "x"),
    ),
}


def obstacles(called: CalledNest) -> Iterator[str]:
    """Every reason, in plain words, why TensorLib does not know the array."""
    sides, operation = called.array.sides, OPERATIONS.get(called.computes.name)
    if operation is None:
        yield f"the array runs {called.computes.name}; allowed: {' or '.join(OPERATIONS)}"
    elif len(set(sides)) < 2:
        yield f"loop {sides[0]} lies along the whole array; allowed: two loops"
    elif not {*sides} <= {operation.loops[loop] for loop in operation.wave}:
        allowed = ", ".join(operation.loops[loop] for loop in operation.wave)
        yield f"loops {' and '.join(sides)} lie along the array; allowed: two of {allowed}"


def transform(operation: Operation, sides: tuple[str, ...]) -> list[list[int]]:
    """The matrix that takes iterations to places and times: sides, diagonals, then loops that the
    array runs one after the other, innermost first."""
    loops = [*operation.loops]
    own = {p: loop for loop, p in operation.loops.items()}
    rest = [loop for loop in reversed(loops) if loop not in operation.wave]
    parts = [{own[side]} for side in sides] + [{*operation.wave}] + [{loop} for loop in rest]
    return [[int(loop in part) for loop in loops] for part in parts]


def dataflows(called: CalledNest, operation: Operation, matrix: list[list[int]]) -> dict[str, Any]:
    """How each tensor moves over the array, by TensorLib's names."""
    found = {}
    accesses = (*called.computes.inputs, called.computes.output)
    for name, access in zip(operation.tensors, accesses, strict=True):
        (again,) = (
            place
            for place, loop in enumerate(operation.loops)
            if loop in operation.wave and not access.indexed_by(operation.loops[loop])
        )
        x, y, time = (row[again] for row in matrix[:3])
        found[name] = {
            "operand": str(access),
            "direction": [x, y, time],
            "dataflow": "systolic" if x or y else "stationary",
        }
    return found


def files(called: CalledNest) -> dict[str, str]:
    """Content by file name."""
    operation, sides = OPERATIONS[called.computes.name], called.array.sides
    matrix, sizes = transform(operation, sides), called.computes.sizes
    covered = {
        p: sizes[p] if p in sides else -(-called.tile[p] // sizes[p]) * sizes[p]
        for p in called.computes.loops
    }
    document = {
        "benchmark": operation.name,
        "bitwidth": called.design.architecture.levels[0].word_bits,
        "length": [covered[p] for p in operation.loops.values()],
        "STT": matrix,
        "loops": {loop: called.binding.get(p, "") for loop, p in operation.loops.items()},
        "tensors": dataflows(called, operation, matrix),
    }
    return {"tensorlib.json": document_text(document)}


TENSORLIB = Tool(
    "TensorLib cannot generate",
    block_obstacles,
    lambda called: (*block_obstacles(called.nest), *obstacles(called)),
    files,
    family=MappingDesign.family,
    configured=CalledNest.of,
    edition=CalledNest.edition,
)
