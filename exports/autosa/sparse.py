"""What AutoSA is told of a block-sparse tensor: its options, and the tensor as packages.

The compiler's host program moves the array ``A_s`` instead of ``A``: of each block its values, the
byte of their places, and padding.
"""

from __future__ import annotations

from collections.abc import Iterator

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.systolic.packages import held_bytes, package_bytes
from ithaca.formulations.systolic.target import padded_name, stored_name
from ithaca.workloads.sparsity import BlockSparsity


def block_options(sparse: BlockSparsity) -> tuple[str, str]:
    """The options that state it."""
    ratio = f"{{kernel[]->{sparse.tensor}[{sparse.values},{sparse.block}]}}"
    return "--block-sparse", f'--block-sparse-ratio="{ratio}"'


def pack_bytes(configuration: ArrayConfiguration, sparse: BlockSparsity, words: int) -> list[int]:
    """The pack of so many words at each level (bytes): packages are padded in DRAM alone."""
    packages, data = words // sparse.block, configuration.data
    held = packages * held_bytes(sparse, data)
    return [held, held, packages * package_bytes(sparse, data)]


def stored_array(configuration: ArrayConfiguration, sparse: BlockSparsity) -> str:
    """The declaration of the array of packages, a row for each row of the tensor."""
    rows = [
        f"[sizeof({sparse.tensor}) / sizeof(data_t) / {padded_name(configuration.nest.simd)}]",
        f"[{padded_name(configuration.nest.simd)} / {sparse.block}]",
        f"[{package_bytes(sparse, configuration.data) // configuration.data.bytes}]",
    ]
    return f"{stored_name(sparse)}{''.join(rows)}"


def packing(configuration: ArrayConfiguration, sparse: BlockSparsity) -> Iterator[str]:
    """The lines that empty random places of all blocks and store the others."""
    package = package_bytes(sparse, configuration.data) // configuration.data.bytes
    block, values = sparse.block, sparse.values
    yield (
        f"/* Of each block of {block} elements of {sparse.tensor}, {values} may be other than "
        "zero: they are stored with a byte of their places. */"
    )
    yield f"for (unsigned at = 0; at < sizeof({sparse.tensor}) / sizeof(data_t) / {block}; at++) {{"
    yield f"  data_t *dense = (data_t *){sparse.tensor} + {block} * at;"
    yield f"  data_t *package = (data_t *){stored_name(sparse)} + {package} * at;"
    yield "  unsigned char places = 0;"
    yield f"  for (int kept = 0; kept < {values};) {{"
    yield "    seed = 1664525u * seed + 1013904223u;"
    yield f"    unsigned char place = 1u << (seed >> 16) % {block}u;"
    yield "    if (!(places & place)) {"
    yield "      places |= place;"
    yield "      kept++;"
    yield "    }"
    yield "  }"
    yield f"  *(unsigned char *)(package + {values}) = places;"
    yield f"  for (int place = 0; place < {block}; place++) {{"
    yield "    if (places >> place & 1)"
    yield "      *package++ = dense[place];"
    yield "    else"
    yield "      dense[place] = 0;"
    yield "  }"
    yield "}"
