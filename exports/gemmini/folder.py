"""The exported folder: sizes of tiles, and a program that runs them."""

from __future__ import annotations

from math import prod

from ithaca.exports.configuration import Tool, block_obstacles, template
from ithaca.exports.gemmini.tiling import Product
from ithaca.exports.instructions.called import CalledNest
from ithaca.formulations.spatial.mapping_design import MappingDesign


def sizes_text(product: Product) -> str:
    """The sizes, as macros of C."""
    sizes, nest = product.called.nest.sizes, product.called.nest
    outer = [q for q in nest.loops if q not in product.called.binding.values()]
    scratchpad, sums = product.rows
    flow = "WEIGHT_STATIONARY" if product.weight_stationary else "OUTPUT_STATIONARY"
    values: dict[str, object] = {
        "BLOCK": product.dim,
        "SCRATCHPAD_ROWS": scratchpad,
        "ACCUMULATOR_ROWS": sums,
        "FLOW": flow,
        **{f"EXTENT_{name}": extent for name, extent in product.extents.items()},
        **{f"TILE_{name}": blocks for name, blocks in product.tiles.items()},
    }
    for matrix, (operand, *sides) in product.matrices.items():
        reach = {q: (sizes[q] - 1) * step for q, step in operand.steps.items()}
        begin = -sum(min(n, 0) for n in reach.values())
        at = [f"{operand.steps[q]} * (int)at_{q}" for q in outer if operand.steps[q]]
        values |= {
            f"WORDS_{matrix}": 1 + sum(map(abs, reach.values())),
            f"STRIDE_{matrix}": product.stride(matrix),
            f"AT_{matrix}": f"({' + '.join([str(begin), *at])})",
            **{
                f"STEP_{matrix}_{side}": step
                for side, step in zip(sides, product.steps(matrix), strict=True)
            },
        }
        if matrix != "C":
            values[f"TRANSPOSE_{matrix}"] = str(product.transposed(matrix)).lower()
    every = (f"for (size_t at_{q} = 0; at_{q} < {sizes[q]}; at_{q}++)" for q in outer)
    values["EVERY_PRODUCT"] = " ".join(every)
    lines = (f"#define {name} {value}".rstrip() for name, value in values.items())
    return "\n".join((f"// {product.called.said}; written by Ithaca.", *lines, ""))


def files(called: CalledNest) -> dict[str, str]:
    """Content by file name."""
    product = Product(called)
    outer = prod(called.nest.sizes.values()) // prod(product.extents.values())
    scratchpad, sums = product.rows
    a, b, c = (str(operand.access) for operand, *_ in product.matrices.values())
    bound = [called.binding.get(p, "-") for p in product.loops.values()]
    other = product.weight_stationary and product.loops["J"] in called.array.sides
    return {
        "sizes.h": sizes_text(product),
        "matmul.c": template("gemmini/matmul.c.txt"),
        "README.md": template("gemmini/readme.md.txt").format(
            title=called.said,
            statement=called.nest,
            flow="weight" if product.weight_stationary else "output",
            dim=product.dim,
            loops=" | ".join(bound),
            extents=" | ".join(map(str, product.extents.values())),
            tiles=" | ".join(map(str, product.tiles.values())),
            a=a,
            b=b,
            c=c,
            products="one product" if outer == 1 else f"{outer:,} products, one after the other",
            rows=scratchpad,
            sums=sums,
            note=""
            if other or not product.weight_stationary
            else f" The model's array holds {a}, Gemmini's {b}.",
        ),
    }


GEMMINI = Tool(
    "Gemmini cannot run",
    block_obstacles,
    lambda called: tuple(Product(called).obstacles()),
    files,
    family=MappingDesign.family,
    configured=CalledNest.of,
    edition=CalledNest.edition,
)
