"""The workloads that come with Ithaca."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement


def _nest(name: str, statement: str, extents: Mapping[str, int], simd: str, untiled: str = "") -> LoopNest:
    output, inputs = parse_statement(statement)
    return LoopNest(name, tuple(extents.items()), output, inputs, simd, frozenset(untiled.split()))


#: Every workload of the library by name. Extents are defaults; sizes replace them.
LIBRARY: Mapping[str, LoopNest] = {
    nest.name: nest
    for nest in (
        _nest("mm", "C[i][j] += A[i][k] * B[j][k]", {"i": 1024, "j": 1024, "k": 1024}, simd="k"),
        _nest(
            "conv2d",
            "cout[r][c][o] += cin[r+p][c+q][i] * w[o][p][q][i]",
            {"o": 512, "r": 56, "c": 56, "i": 512, "p": 3, "q": 3},
            simd="i",
            untiled="p q",
        ),
    )
}


def workload(name: str, sizes: Mapping[str, int] | None = None) -> LoopNest:
    """Look up a workload and set its extents.

    Parameters
    ----------
    name : str
        Name in the library.
    sizes : mapping of str to int, optional
        Extents (iterations) that replace the defaults.

    Raises
    ------
    InputError
        If the name or a loop is unknown, or an extent is out of range.
    """
    if name not in LIBRARY:
        raise InputError(f"unknown workload '{name}'; known: {', '.join(sorted(LIBRARY))}")
    return LIBRARY[name].with_sizes(sizes or {})
