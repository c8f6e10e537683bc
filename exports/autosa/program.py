"""The C program that AutoSA compiles, and that checks its own result.

AutoSA takes the nest from between the two pragmas and keeps the rest as the host program, so
that the same file, compiled by any C compiler, tests the nest, and compiled with the generated
kernel, tests the hardware. It is C99 and C++ alike, because the generated host is C++.

Of a block-sparse tensor ``A`` the compiler's host program moves the array ``A_s`` of packages: of
each block its values, the byte of their places, and padding.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.exports.templates import template
from ithaca.formulations.systolic.packages import held_bytes, package_bytes
from ithaca.formulations.systolic.target import (
    extent_name,
    golden_name,
    padded_name,
    place_name,
    stored_name,
    visible,
)
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest
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


#: Integers up to here are exact in fp32, so sums below it do not depend on their order.
EXACT_FLOAT = 2**24


def c_program(configuration: ArrayConfiguration) -> str:
    """The self-contained C program of a configuration that has no obstacles (`requirements`).

    It fills the inputs, runs the nest on padded extents, and compares with a plain loop; it
    prints ``Passed`` and returns 0, or the number of wrong outputs and returns 1.
    """
    statement, padded = configuration.nest, configuration.padded
    nest = visible(statement, padded)
    output, sparse, data = nest.output, nest.sparse, configuration.data
    golden = Access(golden_name(nest), output.subscripts)
    arrays = [
        access.tensor + "".join(f"[{_length(subscript, padded_name)}]" for subscript in access)
        for access in (*nest.accesses, golden)
    ]
    packages: dict[str, object] = {}
    if sparse is not None:
        package = int(package_bytes(sparse, data.bytes) // data.bytes)
        arrays.append(stored_array(configuration, sparse, package))
        packages = {"stored": stored_name(sparse), "package": package}
    return template(
        "autosa/kernel.c.txt",
        statement=statement,
        design=configuration.design.name,
        c_type=data.c_type,
        nest=nest,
        padded=padded,
        extent_name=extent_name,
        padded_name=padded_name,
        arrays=arrays,
        filled=[_filled(access) for access in nest.inputs],
        largest=_largest_value(nest),
        output=output,
        golden=golden,
        product=" * ".join(map(str, nest.inputs)),
        parallel=[(loop, padded_name(loop)) for loop in nest.parallel_loops],
        reductions=[(loop, padded_name(loop)) for loop in nest.reduction_loops],
        **packages,
    )


def _length(subscript: Affine, bound: Callable[[str], str]) -> str:
    """Elements of an array dimension: its largest subscript and one (as a C expression)."""
    if not subscript.constant and [c for _, c in subscript.terms] == [1]:
        return bound(subscript.loops[0])
    terms = [
        f"({bound(x)} - 1)" if c == 1 else f"{c} * ({bound(x)} - 1)" for x, c in subscript.terms
    ]
    return " + ".join([*terms, str(subscript.constant + 1)])


def _filled(access: Access) -> tuple[str, list[tuple[str, str]]]:
    """An element of an input, and the loops that fill it with pseudo-random positive integers.

    Positive, so that an output that was never written shows. Without a pattern (the generator is
    that of Numerical Recipes), because data with a period hide a tile taken for another.
    """
    places = [place_name(access, at) for at in range(len(access.subscripts))]
    lengths = (_length(subscript, extent_name) for subscript in access)
    element = access.tensor + "".join(f"[{place}]" for place in places)
    return element, [*zip(places, lengths, strict=True)]


def _largest_value(nest: LoopNest) -> int:
    """The largest input value (at most 5) for which every sum is exact in fp32."""
    summands = prod(nest.sizes[loop] for loop in nest.reduction_loops)
    return next((v for v in (5, 4, 3, 2) if v ** len(nest.inputs) * summands <= EXACT_FLOAT), 1)
