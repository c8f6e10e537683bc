"""Loop nests of a C file: each statement that accumulates, with the loops around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pycparser import c_ast

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted, refuse
from ithaca.plugins.recurrences.workloads.c.scop import Loop, Scop, Statement, read_scop
from ithaca.plugins.recurrences.workloads.c.syntax import source_of
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.nest import LoopNest

_ALLOWED = "X[…] += A[…] * B[…] …, or X[…] = X[…] + A[…] * B[…] …, of elements of arrays"


def c_nests(path: Path) -> tuple[LoopNest, ...]:
    """The loop nests of a C file, in order.

    Statements that share loops are taken apart where the order in which they then run changes
    nothing; ``X[…] = 0`` before a sum is where it begins. Raises `InputError`, with line and
    reason, if a part of it is outside of the form.
    """
    try:
        scop = read_scop(path)
        read = [(each, _factors(scop, each)) for each in scop.statements]
    except RecursionError:
        raise refuse(path, "expressions are too deep; allowed: fewer operators in one") from None
    for statement, _ in read:
        _check_loops(scop, statement)
    _check_order(scop, read)
    sums = [(each, factors) for each, factors in read if factors]
    if not sums:
        raise refuse(path, f"has no statement that accumulates; allowed: {_ALLOWED}")
    alone = re.sub(r"[^A-Za-z0-9_.-]", "_", path.stem)[:64]
    fits = re.match(r"[A-Za-z0-9]", alone)
    return tuple(
        _nest(scop, each, factors, alone if len(sums) == 1 and fits else each.target.tensor)
        for each, factors in sums
    )


def c_nest(path: Path) -> LoopNest:
    """The loop nest of a C file that has one.

    Raises `InputError` if it has several, or is outside of the form.
    """
    nests = c_nests(path)
    if len(nests) > 1:
        names = ", ".join(nest.name for nest in nests)
        raise refuse(
            path, f"has {len(nests)} nests, {names}; allowed here: one (ithaca network takes all)"
        )
    return nests[0]


def _nest(scop: Scop, statement: Statement, factors: tuple[Access, ...], name: str) -> LoopNest:
    """The nest of a statement, whose loops count from 0 by 1."""
    loops = {loop.name: loop for loop in statement.loops}

    def counted(access: Access) -> str:
        return str(Access(access.tensor, tuple(_counted(each, loops) for each in access)))

    text = f"{counted(statement.target)} += {' * '.join(map(counted, factors))}"
    sizes = {loop.name: loop.trips for loop in statement.loops}
    with errors_at(scop.where(statement.line)):
        used = {x for access in (statement.target, *factors) for x in access.loops}
        if idle := next((loop for loop in loops if loop not in used), None):
            raise InputError(f"loop {idle} indexes no array; allowed: loops that do")
        return statement_nest(text, sizes, name=name)


def _counted(subscript: Affine, loops: Mapping[str, Loop]) -> Affine:
    """A subscript over iterations, from 0 on."""
    terms = tuple((name, c * loops[name].step) for name, c in subscript.terms)
    starts = sum(c * loops[name].first.get("", 0) for name, c in subscript.terms)
    return Affine(terms, subscript.constant + starts)


def _factors(scop: Scop, statement: Statement) -> tuple[Access, ...]:
    """The accesses that a statement multiplies and sums up; none where it sets its element to 0."""
    node, where = statement.node, scop.where(statement.line)
    if statement.conditions:
        test = source_of(statement.conditions[-1])
        raise refuse(where, f"it depends on {quoted(test)}; allowed: statements that always run")
    added = node.rvalue
    if node.op == "=":
        if is_zero(added):
            return ()
        sides = (added.left, added.right) if _is_sum(added) else ()
        others = [side for side in sides if scop.access(side, statement) != statement.target]
        if len(sides) != 2 or len(others) != 1:
            raise refuse(where, f"{quoted(source_of(node))} sums up nothing; allowed: {_ALLOWED}")
        (added,) = others
    elif node.op != "+=":
        raise refuse(where, f"{quoted(source_of(node))} is no sum; allowed: {_ALLOWED}")
    factors = tuple(_product(added, scop, statement))
    if len(factors) < 2:
        what = f"{quoted(source_of(added))} is no product"
        raise refuse(where, f"{what}; allowed: {_ALLOWED}")
    return factors


def _is_sum(node: Any) -> bool:
    return isinstance(node, c_ast.BinaryOp) and node.op == "+"


def is_zero(node: Any) -> bool:
    """Whether an expression is 0."""
    if isinstance(node, c_ast.Cast):
        return is_zero(node.expr)
    return isinstance(node, c_ast.Constant) and not float_of(node.value)


def float_of(text: str) -> float:
    """The value of a constant; 1 of one that is no plain number."""
    try:
        return float(text.rstrip("fFlLuU"))
    except ValueError:
        return 1.0


def _product(node: Any, scop: Scop, statement: Statement) -> list[Access]:
    """The accesses that are multiplied."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "*":
        return [*_product(node.left, scop, statement), *_product(node.right, scop, statement)]
    access = scop.access(node, statement)
    if access is None:
        what = f"{quoted(source_of(node))} is no element of an array"
        raise refuse(scop.where(statement.line), f"{what}; allowed: {_ALLOWED}")
    return [access]


def _check_loops(scop: Scop, statement: Statement) -> None:
    """Refuse bounds that are no constants, and loops without iterations."""
    for loop in statement.loops:
        where = scop.where(loop.line)
        if not loop.rectangular:
            outer = next(name for name in (*loop.first, *loop.end) if name)
            raise refuse(
                where,
                f"the bounds of loop {loop.name} depend on loop {outer}; allowed: constants",
            )
        if not loop.trips:
            raise refuse(where, f"loop {loop.name} has no iteration; allowed: one at least")
    if not statement.loops:
        raise refuse(scop.where(statement.line), "it stands in no loop; allowed: in some")


def _check_order(scop: Scop, read: list[tuple[Statement, tuple[Access, ...]]]) -> None:
    """Refuse statements that cannot be taken apart, or sums that begin with something else."""
    for number, (late, factors) in enumerate(read):
        where, name = scop.where(late.line), late.target.tensor
        if not factors:
            sums = [each for each, f in read[number + 1 :] if f and each.target.tensor == name]
            if not sums or late.target.loops != {loop.name for loop in late.loops}:
                raise refuse(where, f"{late.target} = 0 begins no sum; allowed: before one")
        for early, before in read[:number]:
            if factors and before and early.target.tensor == name:
                raise refuse(
                    where,
                    f"{name} is summed up in line {early.line} already; allowed: each array in one "
                    "statement",
                )
            shared = [loop.name for loop in early.loops if loop in late.loops]
            pairs = ((one, other) for one in (early.target, *before) for other in factors)
            targets = ((one, late.target) for one in (early.target, *before))
            for one, other in (*pairs, *targets) if shared else ():
                if other.tensor == one.tensor in (early.target.tensor, name) and not _aligned(
                    shared, one, other
                ):
                    raise refuse(
                        where,
                        f"{other} is used as {one} in line {early.line} in the same loop, so that "
                        "they cannot be taken apart; allowed: the same elements in each iteration",
                    )


def _aligned(loops: Sequence[str], one: Access, other: Access) -> bool:
    """Whether two accesses are to the same elements in the same iterations of loops alone."""
    same = [a for a, b in zip(one, other, strict=False) if a == b and len(a.terms) == 1]
    return {*loops} <= {loop for subscript in same for loop in subscript.loops}
