"""The exported folder: sizes of tiles, and a program that runs them."""

from __future__ import annotations

from ithaca.plugins.hierarchies.exports.gemmini.tiling import CallProduct
from ithaca.plugins.hierarchies.exports.instructions.called import CalledNest, ToolOfCalls
from ithaca.plugins.hierarchies.exports.templates import template


def sizes_text(product: CallProduct) -> str:
    """The sizes, as macros of C."""
    called = product.called
    sizes, bound = called.nest.sizes, called.binding
    outer = [q for q in called.nest.loops if q not in bound.values()]
    values: dict[str, object] = {"BLOCK": product.dim}
    values["SCRATCHPAD_ROWS"], values["ACCUMULATOR_ROWS"] = product.rows
    values["FLOW"] = f"{product.flow.upper()}_STATIONARY"
    for name, p in product.loops.items():
        values[f"EXTENT_{name}"] = sizes[bound[p]] if p in bound else 1
        values[f"TILE_{name}"] = product.tiles[name]
    for name, matrix in product.matrices.items():
        placed = matrix.placed
        at = [f"{placed.steps[q]} * (int)at_{q}" for q in outer if placed.steps[q]]
        values |= {
            f"WORDS_{name}": placed.words,
            f"STRIDE_{name}": matrix.stride,
            f"TRANSPOSE_{name}": int(matrix.across),
            f"AT_{name}": f"({' + '.join([str(placed.first), *at])})",
        }
    every = (f"for (size_t at_{q} = 0; at_{q} < {sizes[q]}; at_{q}++)" for q in outer)
    values["EVERY_PRODUCT"] = " ".join(every)
    lines = (f"#define {name} {value}".rstrip() for name, value in values.items())
    return "\n".join((f"// {called.description}; written by Ithaca.", *lines, ""))


def files(called: CalledNest) -> dict[str, str]:
    """Content by file name."""
    product = CallProduct(called)
    scratchpad, sums = product.rows
    accesses = {f"{n}_is": each.placed.access for n, each in product.matrices.items()}
    return {
        "sizes.h": sizes_text(product),
        "matmul.c": template("gemmini/matmul.c.txt"),
        "README.md": template(
            "gemmini/readme.md.txt",
            title=called.description,
            statement=called.nest,
            flow=product.flow,
            dim=product.dim,
            rows=scratchpad,
            sums=sums,
            **accesses,
        ),
    }


GEMMINI = ToolOfCalls(
    "Gemmini cannot run", obstacles=lambda called: (*CallProduct(called).obstacles(),), files=files
)
