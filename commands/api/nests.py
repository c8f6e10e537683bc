"""`ithaca.nest`: a loop nest of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.options import Extents, Sizes
from ithaca.commands.api.parsing import parse_extents
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.nest import LoopNest


@public
def nest(
    statement: Annotated[
        str, Argument(help="An accumulating statement, or an einsum such as 'ik,kj->ij'.")
    ],
    *,
    name: Annotated[
        str | None, Option("--name", help="What results call it; default: the output's name.")
    ] = None,
    untiled: Annotated[
        Sequence[str] | None,
        Option("--untiled", help="Loops that run inside the PE; default: windows, as a filter's."),
    ] = None,
    simd: Annotated[
        str | None,
        Option(
            "--simd",
            help="Which loop each PE vectorises. Default: a reduction loop.",
        ),
    ] = None,
    sizes: Sizes = None,
    **extents: Extents,
) -> LoopNest:
    """Make a loop nest of a statement; names that only multiply loops, such as a stride, are
    parameters.

    Examples
    --------
    >>> ithaca.nest("C[i,j] += A[i,k] * B[k,j]", i=4, j=4, k=4)
    <LoopNest C: C[i][j] += A[i][k] * B[k][j], i=4, j=4, k=4>
    """
    inside = None if untiled is None else list(untiled)
    options = {"name": name, "untiled": inside, "simd": simd}
    more = {field: value for field, value in options.items() if value is not None}
    return statement_nest(statement, parse_extents(sizes, extents), **more)
