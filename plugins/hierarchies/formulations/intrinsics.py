"""Intrinsics: what a call of a tensor unit computes. Ithaca's own, and a user's as statements or
einsums."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.plugins.hierarchies.formulations.matching import Computation
from ithaca.workloads.kernel_files import MAX_LOOPS
from ithaca.workloads.nest import check_size
from ithaca.workloads.statement import einsum_statement, factors_in, is_statement, parse_statement

#: Ithaca's own, as HASCO names them: their statements, and how many iterations of a loop a call
#: runs unless a user says.
INTRINSICS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "dot": ("c[0] += a[i] * b[i]", {"i": 16}),
    "gemv": ("c[i] += a[i,j] * b[j]", {"i": 16, "j": 16}),
    "gemm": ("l[i,j] += m[i,k] * n[k,j]", {"i": 16, "j": 16, "k": 16}),
    "conv2d": (
        "c[k,x,y] += a[c,x+r,y+s] * b[k,c,r,s]",
        {"k": 16, "x": 16, "y": 16, "c": 16, "r": 3, "s": 3},
    ),
}

#: What results call a user's.
OWN = "own"


def complete(start: str) -> list[str]:
    """Names of Ithaca's own."""
    return [*INTRINSICS]


def find_intrinsic(text: str, sizes: Mapping[str, int] | None = None) -> Computation:
    """The intrinsic of a name, or of a statement such as ``l[i,j] += m[i,k] * n[k,j]`` or an
    einsum, with its sizes.

    Raises `InputError` if it is none, or a size is missing, of no loop or out of range.
    """
    name, statement, own = text, text, dict[str, int]()
    if is_statement(text):
        name, statement = OWN, text if "+=" in text else einsum_statement(text)
    elif text in INTRINSICS:
        statement, own = INTRINSICS[text][0], dict(INTRINSICS[text][1])
    else:
        allowed = among(text, INTRINSICS, ", or a statement such as 'l[i,j] += m[i,k] * n[k,j]'")
        raise InputError(f"--intrinsic is {quoted(text)}{allowed}")
    chosen = own | dict(sizes or {})
    factors = factors_in(statement)
    if factors:
        raise InputError(
            f"--intrinsic is {quoted(text)}: {', '.join(sorted(factors))} only "
            "multiply loops; allowed: numbers there"
        )
    output, inputs = parse_statement(statement)
    used = [
        loop for access in (output, *inputs) for subscript in access for loop in subscript.loops
    ]
    loops = tuple(dict.fromkeys(used))
    _check(text, loops, Computation(name, output, inputs, ()), chosen)
    return Computation(name, output, inputs, tuple((loop, chosen[loop]) for loop in loops))


def _check(
    text: str, loops: tuple[str, ...], computation: Computation, sizes: Mapping[str, int]
) -> None:
    tensors = [access.tensor for access in (computation.output, *computation.inputs)]
    terms = [term for subscript in computation.output for term in subscript.terms]
    for complaint, broken in {
        "a product of at least two tensors": len(computation.inputs) < 2,
        "tensors whose names differ": len(set(tensors)) < len(tensors),
        f"1 to {MAX_LOOPS} loops": not 1 <= len(loops) <= MAX_LOOPS,
        "loops that index an input": any(
            all(leaf.loop != loop for leaf in computation.leaves) for loop in loops
        ),
        "an output whose subscripts are loops, each once": len(set(terms)) < len(terms)
        or any(c != 1 for _, c in terms)
        or any(len(subscript.terms) > 1 for subscript in computation.output),
    }.items():
        if broken:
            raise InputError(f"--intrinsic is {quoted(text)}; allowed: {complaint}")
    for loop in sizes:
        if loop not in loops:
            raise InputError(
                f"--intrinsic-sizes: unknown loop {quoted(loop)} of {computation}"
                f"{among(loop, loops)}"
            )
    if missing := [loop for loop in loops if loop not in sizes]:
        raise InputError(
            f"--intrinsic-sizes: {', '.join(missing)} missing; allowed: "
            f"sizes of all of {', '.join(loops)}"
        )
    for loop, size in sizes.items():
        check_size(f"--intrinsic-sizes: loop '{loop}'", size)
