"""The file that TensorLib reads: the operation, its extents, where and when each iteration runs.

Facts are those of Jia, Luo, Lu, Liang: "TensorLib: A Spatial Accelerator Generation Framework for
Tensor Algebra" (DAC 2021), and of the release (github.com/pku-liang/tensorlib, ``parse_json``): it
knows GEMM, ``o[k][x] += w[k][c] * i[c][x]``, and CONV2D, ``o[k][y][x] += w[k][c][r][s] *
i[c][y+r][x+s]``. Rows of the matrix are the array's two sides and then time, innermost first. A
tensor is used again where its subscripts stay: a step of the loop that is not in them leads there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ithaca.files.writing import document_text
from ithaca.plugins.hierarchies.exports.instructions.called import CalledNest, ToolOfCalls

#: By intrinsic what TensorLib calls it, the intrinsic's loops in TensorLib's order, those of the
#: sides and of time, whose sums are diagonals of the array, and TensorLib's names of the tensors.
OPERATIONS = {
    "gemm": ("GEMM", "ikj", "ikj", "wio"),
    "conv2d": ("CONV2D", "kcxyrs", "kcy", "iwo"),
}


def obstacles(called: CalledNest) -> Iterator[str]:
    """Every reason, in plain words, why TensorLib does not know the array."""
    name, sides = called.computes.name, called.array.sides
    if name not in OPERATIONS:
        yield f"the array runs {name}; allowed: {' or '.join(OPERATIONS)}"
    elif len(sides) < 2 or not {*sides} <= {*OPERATIONS[name][2]}:
        allowed = ", ".join(OPERATIONS[name][2])
        yield f"along the array lies {' and '.join(sides)}; allowed: two of {allowed}"


def files(called: CalledNest) -> dict[str, str]:
    """Content by file name."""
    sides, sizes = called.array.sides, called.computes.sizes
    name, loops, wave, tensors = OPERATIONS[called.computes.name]
    rest = [p for p in reversed(loops) if p not in wave]
    matrix = [[int(p in row) for p in loops] for row in (*sides, wave, *rest)]
    lengths = [sizes[p] if p in sides else -(-called.tile[p] // sizes[p]) * sizes[p] for p in loops]
    again = {
        tensor: [row[loops.index(p)] for row in matrix[:3]]
        for tensor, operand in zip(tensors, called.operands, strict=True)
        for p in wave
        if not operand.own.indexed_by(p)
    }
    document = {
        "benchmark": name,
        "bitwidth": called.design.architecture.levels[0].word_bits,
        "length": lengths,
        "STT": matrix,
        "reuse": again,
    }
    return {"tensorlib.json": document_text(document)}


TENSORLIB = ToolOfCalls(
    "TensorLib cannot generate", obstacles=lambda called: (*obstacles(called),), files=files
)
