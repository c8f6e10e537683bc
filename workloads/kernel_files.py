"""Kernel files: loop nests written as data, Ithaca's own and a user's.

A kernel is a YAML document::

    name: conv2d
    description: 2-D convolution
    statement: cout[r][c][o] += cin[r*s+p*d][c*s+q*d][i] * w[o][p][q][i]
    loops: [o, r, c, i, p, q]                         # outermost first; default: as in extents
    extents: {o: 512, r: 56, c: 56, i: 512, p: 3, q: 3}
    parameters: {s: 1, d: 1}                          # numbers of the statement, such as a stride
    untiled: [p, q]                                   # run inside the PE; default: `windows`
    block_sparse: w=2/4                               # of each 4 neighbours of w, 2 are not zero
    format: w=int4                                    # formats of tensors beside the data type
    simd: i                                           # default: see `default_simd`

Instead of ``statement``, ``einsum: "ik,jk->ij"`` with ``arrays: [A, B, C]`` (inputs, then the
output; default: A, B, C, …). Sizes on the command line replace extents and parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, meant, quoted
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest, check_size
from ithaca.workloads.sparsity import parse_sparsity
from ithaca.workloads.statement import (
    accumulating,
    einsum_statement,
    factors_in,
    names_in,
    parse_statement,
)

#: Largest kernel file (bytes); the packaged ones have 400.
MAX_BYTES = 65_536

#: Most loops of a nest: designs grow with their number squared, the design space exponentially.
MAX_LOOPS = 12

#: A stride that stands for all but 1.
STRIDE = 2

#: Names of loops, arrays and parameters.
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")

Names = Annotated[list[str], Field(max_length=MAX_LOOPS)]


class KernelFile(InputDocument):
    """A loop nest as a kernel file describes it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
    description: Annotated[str, Field(max_length=500)] = ""
    statement: str | None = None
    einsum: str | None = None
    arrays: Names = Field(default=[])
    loops: Names = Field(default=[])
    extents: dict[str, int]
    parameters: dict[str, int] = Field(default={})
    untiled: Names | None = None
    simd: str | None = None
    block_sparse: str | None = None
    format: dict[str, str] | str | None = None


def kernel_nest(document: Any, where: object) -> LoopNest:
    """The loop nest of a decoded kernel document; error lines start with ``where``."""
    read = validated(KernelFile, document, where)
    with errors_at(where):
        return _nest(read)


def statement_nest(text: str, sizes: Mapping[str, int], **more: Any) -> LoopNest:
    """The loop nest of a statement or an einsum.

    Loops are in order of their first subscripts: those of the output that slide no window first,
    then its others, then reductions, windows last. Names that only multiply others are parameters.

    Raises `InputError` if the text is no statement, or a loop or parameter has no number.

    Parameters
    ----------
    text : str
        The statement, or the einsum.
    sizes : mapping of str to int
        Extents of all loops, and values of all parameters, by name.
    **more : object
        Further fields of a kernel document, such as ``untiled``.
    """
    statement = accumulating(text) if "=" in text else einsum_statement(text)
    parameters = factors_in(statement)
    output, inputs = parse_statement(statement, dict.fromkeys(parameters, STRIDE))
    subscripts = [subscript for access in (output, *inputs) for subscript in access]
    used = [loop for subscript in subscripts for loop in subscript.loops]
    kept = windows(used, output, inputs)

    def place(loop: str) -> tuple[bool, bool, bool]:
        slides = any(s.coefficient(loop) and s.terms != ((loop, 1),) for s in subscripts)
        return loop in kept, not output.indexed_by(loop), slides

    loops = sorted(dict.fromkeys(used), key=place)  # stable
    known = [*loops, *sorted(parameters)]
    for name in sizes:
        if name not in known:
            raise InputError(
                f"unknown loop {quoted(name)} in sizes: {statement} has {', '.join(known)}"
                f"{meant(name, known)}"
            )
    missing = [name for name in known if name not in sizes]
    if missing:
        raise InputError(
            f"sizes of {', '.join(missing)} are missing; allowed: "
            f"those of all of {', '.join(known)}"
        )
    extents, factors = (
        {name: sizes[name] for name in names} for names in (loops, sorted(parameters))
    )
    fields = {
        "name": output.tensor,
        "statement": statement,
        "loops": loops,
        "extents": extents,
        "parameters": factors,
        **more,
    }
    return kernel_nest(fields, "statement")


def windows(loops: Sequence[str], output: Access, inputs: Sequence[Access]) -> tuple[str, ...]:
    """The loops that run inside the PE unless a file says which.

    Parameters
    ----------
    loops : Sequence of str
        All loops.
    output : Access
        Access to the result.
    inputs : Sequence of Access
        Accesses to operands.

    Returns
    -------
    tuple of str
        Reductions that slide over what a loop of the output slides over, such as a filter's rows;
        none where the loops that are left could not be vectorised.
    """
    sliding = tuple(
        dict.fromkeys(
            loop
            for loop in loops
            if not output.indexed_by(loop)
            and any(
                subscript.coefficient(loop) and output.loops & set(subscript.loops)
                for access in inputs
                for subscript in access
            )
        )
    )
    band = tuple(loop for loop in dict.fromkeys(loops) if loop not in sliding)
    return sliding if default_simd(band, output, tuple(inputs)) else ()


def check_untiled(loops: Sequence[str], untiled: Sequence[str]) -> None:
    """Refuse untiled loops that a nest does not have."""
    for loop in untiled:
        if loop not in loops:
            raise InputError(f"untiled names the unknown loop {quoted(loop)}{among(loop, loops)}")


def with_loops(nest: LoopNest, untiled: Sequence[str] | None, simd: str | None) -> LoopNest:
    """A nest with other loops inside the PE, or another one vectorised.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    untiled : Sequence of str or None
        Loops that run inside PEs; None: as they are.
    simd : str or None
        The loop that is vectorised; None: as it is.

    Returns
    -------
    LoopNest
        The nest.
    """
    if untiled is None and simd is None:
        return nest
    inside = nest.untiled if untiled is None else frozenset(untiled)
    check_untiled(nest.loops, sorted(inside))
    band = tuple(loop for loop in nest.loops if loop not in inside)
    vector = simd or default_simd(band, nest.output, nest.inputs)
    changed = replace(nest, untiled=inside, simd=vector)
    check_simd(changed)
    return changed


def with_sparsity(nest: LoopNest, text: str | None, where: str) -> LoopNest:
    """A nest with a tensor in blocks of a few values.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    text : str or None
        The tensor and its blocks, such as ``A=2/4``; None: the nest stays as it is.
    where : str
        What begins error lines.
    """
    return nest if text is None else replace(nest, sparse=parse_sparsity(text, where))


def default_simd(band: tuple[str, ...], output: Access, inputs: tuple[Access, ...]) -> str:
    """The loop that is vectorised unless a file says which.

    The innermost tiled reduction that can be; if there is none, the innermost tiled loop that is
    the last subscript of every array it indexes.

    Parameters
    ----------
    band : tuple of str
        The tiled loops, outermost first.
    output : Access
        The access that is written.
    inputs : tuple of Access
        The accesses that are read.

    Returns
    -------
    str
        The loop, or an empty string: systolic arrays need one, others do not.
    """
    accesses = (output, *inputs)
    able = [
        loop for loop in reversed(band) if all(_vectorises(access, loop) for access in accesses)
    ]
    for loop in able:
        if not output.indexed_by(loop):
            return loop
    for loop in able:
        if all(
            access.subscripts[-1].coefficient(loop)
            for access in accesses
            if access.indexed_by(loop)
        ):
            return loop
    return ""


def _nest(read: KernelFile) -> LoopNest:
    statement = _statement(read)
    loops = read.loops or list(read.extents)
    if sorted(loops) != sorted(read.extents):
        raise InputError(
            f"loops are {', '.join(loops)}, but extents are of "
            f"{', '.join(read.extents)}; allowed: the same names"
        )
    if not 1 <= len(loops) <= MAX_LOOPS:
        raise InputError(f"extents are of {len(loops)} loops; allowed: 1 to {MAX_LOOPS}")
    for name, value in read.parameters.items():
        check_size(f"parameter '{name}'", value)
    for name in sorted(factors_in(statement)):
        if name not in (*loops, *read.parameters):
            known = f"loops {', '.join(loops)}" + (
                f"; parameters {', '.join(read.parameters)}" if read.parameters else ""
            )
            raise InputError(
                f"unknown parameter {quoted(name)} in a subscript of "
                f"{quoted(statement)}; allowed: {known}{meant(name, (*loops, *read.parameters))}"
            )
    output, inputs = parse_statement(statement, read.parameters)
    for name in read.parameters:
        if name not in names_in(statement):
            raise InputError(
                f"parameter {quoted(name)} is not used by the statement; "
                "allowed: parameters that are"
            )
    _check_names(loops, [access.tensor for access in (*inputs, output)], list(read.parameters))
    untiled = windows(loops, output, inputs) if read.untiled is None else read.untiled
    check_untiled(loops, untiled)
    band = tuple(loop for loop in loops if loop not in untiled)
    nest = LoopNest(
        name=read.name,
        extents=tuple((loop, read.extents[loop]) for loop in loops),
        output=output,
        inputs=inputs,
        simd=default_simd(band, output, inputs) if read.simd is None else read.simd,
        untiled=frozenset(untiled),
        parameters=tuple(read.parameters.items()),
        template=statement if read.parameters else "",
        description=read.description,
    )
    check_simd(nest)
    nest = with_sparsity(nest, read.block_sparse, "block_sparse")
    if read.format is None:
        return nest
    from ithaca.workloads.formats import with_formats

    return with_formats(nest, read.format, "format")


def _statement(read: KernelFile) -> str:
    if (read.statement is None) == (read.einsum is None):
        fault = "neither is given" if read.statement is None else "both are given"
        raise InputError(f"statement, einsum: {fault}; allowed: one of them")
    if read.einsum is not None:
        return einsum_statement(read.einsum, read.arrays)
    if read.arrays:
        raise InputError("arrays are named by the statement, too; allowed: arrays with einsum only")
    return accumulating(read.statement or "")


def _check_names(loops: list[str], arrays: list[str], parameters: list[str]) -> None:
    taken: dict[str, str] = {}
    for kind, names in (("a loop", loops), ("an array", arrays), ("a parameter", parameters)):
        for name in names:
            if not NAME.fullmatch(name):
                raise InputError(
                    f"{quoted(name)} is no name of {kind}; allowed: up to 40 letters, digits and _"
                )
            if taken.get(name, kind) != kind:
                raise InputError(
                    f"{quoted(name)} is the name of {taken[name]} and "
                    f"{kind}; allowed: names that differ"
                )
            taken[name] = kind


def check_simd(nest: LoopNest) -> None:
    """Raise `InputError` if the SIMD loop cannot be vectorised (parameters may decide that)."""
    for access in nest.accesses:
        if not _vectorises(access, nest.simd):
            raise InputError(
                f"SIMD loop '{nest.simd}' is no subscript by itself in "
                f"{access}; allowed: a loop that is"
            )


def _vectorises(access: Access, loop: str) -> bool:
    """Whether neighbouring iterations use one element of an array, or two along a dimension.

    Each of a vector's words then belongs to one lane, wherever in the tile the vector begins
    (AutoSA asks for the same: stride-one or stride-zero references).
    """
    using = [subscript.terms for subscript in access if subscript.coefficient(loop)]
    return using in ([], [((loop, 1),)])
