"""Matrix products as kernels: how shapes become extents."""

from __future__ import annotations

from math import prod

from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.kernel_use import KernelUse


def matrix_product(left: tuple[int, ...], right: tuple[int, ...]) -> KernelUse:
    """The kernel of a (batched) matrix product with broadcasting.

    Loop ``i`` counts rows of the left matrix, ``j`` columns of the right one, ``k`` is reduced.
    A batch dimension that only the left factor has makes more rows, one that only the right
    factor has more columns: the product is the same, and the shared factor is reused. Only
    dimensions of both factors are a batch of separate products, loop ``b``.

    Parameters
    ----------
    left, right : tuple of int
        Shapes (elements) as of `numpy.matmul`: batch dimensions, then rows and columns. A
        factor of one dimension is a row on the left and a column on the right.

    Raises
    ------
    InputError
        If the shapes do not fit each other.
    """
    if not left or not right:
        raise InputError(f"matrix product of shapes {list(left)} and {list(right)}; allowed: at least one dimension each")
    rows, inner = (left[-2] if len(left) > 1 else 1), left[-1]
    columns = right[-1] if len(right) > 1 else 1
    if inner != (right[-2] if len(right) > 1 else right[-1]):
        raise InputError(f"matrix product of shapes {list(left)} and {list(right)}: the reduced dimensions differ")
    depth = max(len(left), len(right), 2) - 2
    outer = zip(_batch(left, depth), _batch(right, depth), strict=True)
    batch: list[int] = []
    for a, b in outer:
        if a == b:
            batch.append(a)
        elif b == 1:
            rows *= a
        elif a == 1:
            columns *= b
        else:
            raise InputError(f"matrix product of shapes {list(left)} and {list(right)}: batch dimensions {a} and {b} differ")
    product = (("i", rows), ("j", columns), ("k", inner))
    if prod(batch) == 1:
        return KernelUse("mm", product)
    return KernelUse("batched_mm", (("b", prod(batch)), *product))


def _batch(shape: tuple[int, ...], depth: int) -> tuple[int, ...]:
    """Batch dimensions of a factor, filled with ones on the left up to ``depth`` of them."""
    return (1,) * (depth - len(shape[:-2])) + shape[:-2]
