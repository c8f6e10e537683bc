"""The C program that AutoSA compiles, and that checks its own result.

AutoSA takes the nest from between the two pragmas and keeps the rest as the host program, so
that the same file, compiled by any C compiler, tests the nest, and compiled with the generated
kernel, tests the hardware. It is C99 and C++ alike, because the generated host is C++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from ithaca.exports.autosa.sparse import packing, stored_array
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.exports.templates import template
from ithaca.formulations.systolic.target import (
    extent_name,
    golden_name,
    padded_name,
    place_name,
    visible,
)
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest

#: Integers up to here are exact in fp32, so sums below it do not depend on their order.
EXACT_FLOAT = 2**24


def c_program(configuration: ArrayConfiguration) -> str:
    """The self-contained C program of a configuration that has no obstacles (`requirements`).

    It fills the inputs, runs the nest on padded extents, and compares with a plain loop; it
    prints ``Passed`` and returns 0, or the number of wrong outputs and returns 1.
    """
    statement, padded = configuration.nest, configuration.padded
    nest = visible(statement, padded)
    output, golden = (
        str(nest.output),
        str(nest.output).replace(nest.output.tensor, golden_name(nest), 1),
    )
    arrays = [_declarator(access) for access in (*nest.accesses, _golden(nest))]
    filled, stored = [line for access in nest.inputs for line in _fill(nest, access)], []
    if nest.sparse is not None:
        arrays.append(stored_array(configuration, nest.sparse))
        stored = [*packing(configuration, nest.sparse)]
    differs = [f"if ({output} != {golden})", "  errors++;"]
    return template(
        "autosa/kernel.c.txt",
        statement=statement,
        design=configuration.design.name,
        c_type=configuration.data.c_type,
        macros="\n".join(
            f"#define {extent_name(loop)} {extent}\n#define {padded_name(loop)} {padded[loop]}"
            for loop, extent in nest.extents
        ),
        arrays=_text(f"static data_t {array};" for array in arrays),
        initialisation=_text([*filled, *stored]),
        leftover=_text(_loops(nest.parallel_loops, padded_name, [f"{output} = 1;"])),
        nest=_text(_scop(nest)),
        golden=_text(_plain_loops(nest)),
        comparison=_text(_loops(nest.parallel_loops, padded_name, differs)),
    )


def _golden(nest: LoopNest) -> Access:
    return Access(golden_name(nest), nest.output.subscripts)


def _declarator(access: Access) -> str:
    return access.tensor + "".join(f"[{_length(subscript, padded_name)}]" for subscript in access)


def _length(subscript: Affine, bound: Callable[[str], str]) -> str:
    """Elements of an array dimension: its largest subscript and one (as a C expression)."""
    if not subscript.constant and [c for _, c in subscript.terms] == [1]:
        return bound(subscript.loops[0])
    terms = [
        f"({bound(x)} - 1)" if c == 1 else f"{c} * ({bound(x)} - 1)" for x, c in subscript.terms
    ]
    return " + ".join([*terms, str(subscript.constant + 1)])


def _text(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _loops(loops: Iterable[str], bound: Callable[[str], str], body: list[str]) -> list[str]:
    """Wrap statements in loops that count upwards, the first one outermost."""
    for loop in reversed(tuple(loops)):
        body = _counting(loop, bound(loop), body)
    return body


def _counting(variable: str, bound: str, body: list[str]) -> list[str]:
    return [
        f"for (int {variable} = 0; {variable} < {bound}; {variable}++) {{",
        *(f"  {line}" for line in body),
        "}",
    ]


def _scop(nest: LoopNest) -> list[str]:
    """The nest as AutoSA wants it: the output set to 0, then accumulated."""
    accumulate = f"{nest.output} = {nest.output} + {_product(nest)};"
    reduction = _loops(nest.reduction_loops, padded_name, [accumulate])
    return _loops(nest.parallel_loops, padded_name, [f"{nest.output} = 0;", *reduction])


def _plain_loops(nest: LoopNest) -> list[str]:
    """The expected result: parallel loops swapped, the sums from last to first.

    In the padding, too, where a window reaches into the data and the sums are not zero.
    """
    golden = _golden(nest)
    body = [f"{golden} = {golden} + {_product(nest)};"]
    for loop in nest.reduction_loops:
        body = [
            f"for (int {loop} = {extent_name(loop)} - 1; {loop} >= 0; {loop}--) {{",
            *(f"  {line}" for line in body),
            "}",
        ]
    return _loops(reversed(nest.parallel_loops), padded_name, body)


def _product(nest: LoopNest) -> str:
    return " * ".join(str(access) for access in nest.inputs)


def _fill(nest: LoopNest, access: Access) -> list[str]:
    """Pseudo-random positive integers.

    Positive, so that an output that was never written shows. Without a pattern (this is the
    generator of Numerical Recipes), because data with a period hide a tile taken for another.
    """
    element = access.tensor + "".join(
        f"[{place_name(access, at)}]" for at in range(len(access.subscripts))
    )
    body = ["seed = 1664525u * seed + 1013904223u;"]
    body.append(f"{element} = (data_t)(1u + (seed >> 16) % {_largest_value(nest)}u);")
    for at, subscript in reversed(list(enumerate(access))):
        body = _counting(place_name(access, at), _length(subscript, extent_name), body)
    return body


def _largest_value(nest: LoopNest) -> int:
    """The largest input value (at most 5) for which every sum is exact in fp32."""
    summands = prod(nest.sizes[loop] for loop in nest.reduction_loops)
    return next((v for v in (5, 4, 3, 2) if v ** len(nest.inputs) * summands <= EXACT_FLOAT), 1)
