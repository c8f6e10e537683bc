"""Statements of a C file between ``#pragma scop`` and ``#pragma endscop``, in their loops."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pycparser import c_ast

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.plugins.recurrences.workloads.c.macros import read_source
from ithaca.plugins.recurrences.workloads.c.syntax import (
    Linear,
    access,
    expression,
    linear,
    number_of,
    parsed,
    source_of,
)
from ithaca.workloads.affine import Access

BEGIN, END = "#pragma scop", "#pragma endscop"

#: Most statements of a file: all pairs are compared.
MAX_STATEMENTS = 500

_TYPE = re.compile(r"\btypedef\b[^;{}]{1,200}?\b([A-Za-z_]\w*)\s{0,9}(?:\[[^;]{0,99})?;")
_CONSTANT = re.compile(
    r"\b(?:int|long|size_t|unsigned)\s+(?:const\s+)?([A-Za-z_]\w*)\s*=([^;,{}]{1,200});"
)

#: Most variables that are looked at.
MAX_CONSTANTS = 200


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop; two are the same only where they stand at the same place."""

    name: str
    first: Linear
    """Its first value and its end, over loops around it."""
    end: Linear
    step: int
    line: int

    @property
    def rectangular(self) -> bool:
        """Whether its bounds are constants."""
        return not ({*self.first, *self.end} - {""})

    @property
    def trips(self) -> int:
        """The number of its iterations, if its bounds are constants."""
        return max(-((self.first.get("", 0) - self.end.get("", 0)) // self.step), 0)


@dataclass(frozen=True, eq=False)
class Statement:
    """An assignment to an element of an array."""

    line: int
    loops: tuple[Loop, ...]
    """The loops around it, outermost first."""
    conditions: tuple[Any, ...]
    """The conditions around it, as they stand in the file."""
    target: Access
    node: Any
    """The assignment."""


@dataclass(frozen=True)
class Scop:
    """The statements of a file."""

    path: Path
    statements: tuple[Statement, ...]
    constants: Mapping[str, int]
    declared: frozenset[str] = frozenset()
    """Arrays that are declared between the pragmas, so that nobody else reads them."""

    def where(self, line: int) -> str:
        """A place in the file."""
        return f"{self.path}, line {line}"

    def access(self, node: Any, statement: Statement) -> Access | None:
        """The access to an array that a part of a statement is; None: it is none."""
        loops = {loop.name: loop for loop in statement.loops}
        return access(node, self.constants, loops, self.where(statement.line))


def read_scop(path: Path) -> Scop:
    """Read the statements of a C file.

    Raises `InputError` if it cannot be read, or holds what is outside of the form: loops with
    affine bounds, conditions, and assignments to elements of arrays.
    """
    source = read_source(path)
    begin = [n for n, line in enumerate(source.lines) if line == BEGIN]
    end = [n for n, line in enumerate(source.lines) if line == END]
    if not begin:
        raise refuse(path, f"has no {BEGIN}; allowed: loops between it and {END}")
    pairs = [*zip(begin, end, strict=False)]
    if len(begin) != len(end) or any(a > b for a, b in pairs):
        raise refuse(path, f"{BEGIN} and {END} do not match; allowed: one after the other")
    inside = {n for a, b in pairs for n in range(a + 1, b)}
    outside = "\n".join((*source.taken_in, *source.lines))
    kinds = sorted({match[1] for match in _TYPE.finditer(outside)})
    used = {*re.findall(r"\w+", "\n".join(source.lines[a] for a in sorted(inside)))}
    constants = _constants(outside, used)
    body = [line if n in inside else "" for n, line in enumerate(source.lines)]
    body[begin[0]] = "".join(f"typedef int {kind}; " for kind in kinds) + "void scop(void) {"
    tree = parsed("\n".join(body) + "}", str(path))
    reader = _Reader(path, {**constants})
    try:
        reader.block(tree.ext[-1].body, (), ())
    except InputError as error:
        if source.missing and "is no constant" in str(error):
            missing = f" (not found: {', '.join(source.missing)}; see --include-from)"
            raise InputError(f"{error}{missing}") from None
        raise
    if not reader.statements:
        raise refuse(path, "has no statement between its pragmas; allowed: assignments in loops")
    declared = frozenset(reader.declared_arrays)
    return Scop(path, tuple(reader.statements), reader.constants, declared)


def _constants(text: str, used: set[str]) -> dict[str, int]:
    """Variables that are declared with a number and never change, of those that are used."""
    constants: dict[str, int] = {}
    stated = dict[str, list[str]]()
    for name, value in _CONSTANT.findall(text):
        stated.setdefault(name, []).append(value.strip())
    used |= {word for n in used & {*stated} for v in stated[n] for word in re.findall(r"\w+", v)}
    for name in [each for each in stated if each in used][:MAX_CONSTANTS]:
        values = {*stated[name]}
        change = rf"(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--|[-+*/%]?=(?!=))"
        if len(values) == 1 and len(re.findall(change, text)) == len(stated[name]):
            try:
                constants[name] = number_of(expression(stated[name][0], ""), constants, "")
            except InputError:
                continue  # such as a call: no constant
    return constants


@dataclass
class _Reader:
    """Collects statements."""

    path: Path
    constants: dict[str, int]
    statements: list[Statement] = field(default_factory=list)
    declared_arrays: set[str] = field(default_factory=set)

    def where(self, node: Any) -> str:
        line = getattr(getattr(node, "coord", None), "line", None)
        return str(self.path) if line is None else f"{self.path}, line {line}"

    def block(self, node: Any, loops: tuple[Loop, ...], conditions: tuple[Any, ...]) -> None:
        """Read a statement of any kind with all inside it."""
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma():
                return
            case c_ast.Compound(block_items=items):
                for item in items or ():
                    self.block(item, loops, conditions)
            case c_ast.DeclList(decls=items):
                for item in items:
                    self.block(item, loops, conditions)
            case c_ast.Decl():
                self.declared(node, loops)
            case c_ast.For():
                self.block(node.stmt, (*loops, self.loop(node, loops)), conditions)
            case c_ast.If(cond=test, iftrue=then, iffalse=other):
                self.block(then, loops, (*conditions, test))
                self.block(other, loops, (*conditions, c_ast.UnaryOp("!", test, node.coord)))
            case c_ast.Assignment():
                self.assignment(node, loops, conditions)
            case _:
                allowed = "loops, conditions, and assignments to elements of arrays"
                text = source_of(node).strip().split("\n")[0]
                raise refuse(self.where(node), f"{quoted(text)} is neither; allowed: {allowed}")

    def declared(self, node: Any, loops: tuple[Loop, ...]) -> None:
        """Read a declaration: arrays, iterators, and constants."""
        if isinstance(node.type, c_ast.ArrayDecl):
            self.declared_arrays.add(node.name)
        if isinstance(node.type, c_ast.ArrayDecl) or node.init is None:
            return
        named = {loop.name: loop for loop in loops}
        form = linear(node.init, self.constants, named, self.where(node))
        if {*form} - {""}:
            raise refuse(
                self.where(node),
                f"{node.name} depends on a loop; allowed: arrays, iterators, constants",
            )
        self.constants[node.name] = form.get("", 0)

    def loop(self, node: Any, loops: tuple[Loop, ...]) -> Loop:
        """Read the head of a loop."""
        where, named = self.where(node), {loop.name: loop for loop in loops}

        def form(part: Any) -> Linear:
            return linear(part, self.constants, named, where)

        first = node.init
        if isinstance(first, c_ast.DeclList) and len(first.decls) == 1:
            name, start = first.decls[0].name, first.decls[0].init
        elif isinstance(first, c_ast.Assignment) and first.op == "=":
            name, start = getattr(first.lvalue, "name", None), first.rvalue
        else:
            name, start = None, None
        test, step = node.cond, self.step(node.next, name)
        left = getattr(getattr(test, "left", None), "name", None)
        if (
            not isinstance(name, str)
            or start is None
            or step is None
            or not isinstance(test, c_ast.BinaryOp)
            or test.op not in ("<", "<=")
            or left != name
        ):
            head = source_of(c_ast.For(node.init, node.cond, node.next, c_ast.EmptyStatement()))
            raise refuse(
                where,
                f"{quoted(head.split(chr(10))[0].strip())} is no loop that counts; allowed: such "
                "as for (int i = 0; i < N; i++)",
            )
        if name in named:
            raise refuse(where, f"loop {name} stands in another {name}; allowed: other names")
        end = form(test.right)
        if test.op == "<=":
            end = end | {"": end.get("", 0) + 1}
        return Loop(name, form(start), end, step, node.coord.line)

    def step(self, node: Any, name: object) -> int | None:
        """The step of a loop; None if it does not count upwards."""
        match node:
            case c_ast.UnaryOp(op="p++" | "++", expr=c_ast.ID(name=own)) if own == name:
                return 1
            case c_ast.Assignment(op="+=", lvalue=c_ast.ID(name=own), rvalue=by) if own == name:
                step = number_of(by, self.constants, self.where(node))
                return step if step > 0 else None
            case c_ast.Assignment(
                op="=",
                lvalue=c_ast.ID(name=own),
                rvalue=c_ast.BinaryOp(op="+", left=c_ast.ID(name=other), right=by),
            ) if own == other == name:
                step = number_of(by, self.constants, self.where(node))
                return step if step > 0 else None
        return None

    def assignment(self, node: Any, loops: tuple[Loop, ...], conditions: tuple[Any, ...]) -> None:
        """Read an assignment."""
        named = {loop.name: loop for loop in loops}
        target = access(node.lvalue, self.constants, named, self.where(node))
        if target is None:
            text = source_of(node.lvalue)
            raise refuse(
                self.where(node), f"{quoted(text)} is no element of an array; allowed: one"
            )
        if len(self.statements) >= MAX_STATEMENTS:
            raise refuse(self.path, f"has more than {MAX_STATEMENTS} statements; allowed: so many")
        self.statements.append(Statement(node.coord.line, loops, conditions, target, node))
