"""Block-sparse tensors for AutoSA: the options of the compiler, and the tensor as packages.

The compiler's host program moves the array ``A_s`` instead of ``A``: of each block its values, the
byte of their places, and padding.
"""

from __future__ import annotations

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.systolic.packages import held_bytes, package_bytes
from ithaca.formulations.systolic.target import padded_name, stored_name
from ithaca.workloads.sparsity import BlockSparsity


def block_options(sparse: BlockSparsity) -> tuple[str, str]:
    """The compiler options that state the block sparsity."""
    ratio = f"{{kernel[]->{sparse.tensor}[{sparse.values},{sparse.block}]}}"
    return "--block-sparse", f'--block-sparse-ratio="{ratio}"'


def pack_bytes(configuration: ArrayConfiguration, sparse: BlockSparsity, words: int) -> list[int]:
    """The pack of so many words at each level (bytes): packages are padded in DRAM alone.

    Parameters
    ----------
    configuration : ArrayConfiguration
        The array.
    sparse : BlockSparsity
        How the tensor is stored.
    words : int
        Words of a pack, zeros among them.
    """
    packages, size = words // sparse.block, configuration.data.bytes
    held = packages * held_bytes(sparse, size)
    return [held, held, packages * package_bytes(sparse, size)]


def stored_array(configuration: ArrayConfiguration, sparse: BlockSparsity, package: int) -> str:
    """The declaration of the array of packages of so many elements, a row for each row of the
    tensor.

    Parameters
    ----------
    configuration : ArrayConfiguration
        The configuration that is exported.
    sparse : BlockSparsity
        The sparse tensor, and the length of its blocks.
    package : int
        Elements of a package: those of a block that are stored, and what says which.
    """
    rows = [
        f"[sizeof({sparse.tensor}) / sizeof(data_t) / {padded_name(configuration.nest.simd)}]",
        f"[{padded_name(configuration.nest.simd)} / {sparse.block}]",
        f"[{package}]",
    ]
    return f"{stored_name(sparse)}{''.join(rows)}"
