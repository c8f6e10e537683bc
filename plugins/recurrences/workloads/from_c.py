"""Recurrences of a C file: one nest, perhaps triangular, whose statements run together.

Every iteration is run once, to know which statement and iteration last wrote each element that is
read. Where that is the same neighbour in all iterations, an array is a value of the recurrences;
where it is so but for the first ones, these read an input. Inputs that are used again are handed on
along a loop that does not index them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pycparser import c_ast

from ithaca.files.messages import quoted, refuse
from ithaca.plugins.recurrences.workloads.c.nests import is_zero
from ithaca.plugins.recurrences.workloads.c.scop import Loop, Scop, Statement, read_scop
from ithaca.plugins.recurrences.workloads.c.syntax import Linear, source_of
from ithaca.plugins.recurrences.workloads.conditions import Condition, conditions_of, holding
from ithaca.plugins.recurrences.workloads.recurrence import (
    MOST_ITERATIONS,
    Recurrence,
    read_recurrence,
)
from ithaca.plugins.recurrences.workloads.sums import Point
from ithaca.workloads.affine import Access, Affine

#: The writer of an element that was set to 0.
_ZERO = "zero"

_SIGNS = {"+=": "+", "-=": "-", "*=": "*", "/=": "/"}


def is_triangular(path: Path) -> bool:
    """Whether a C file has loops whose bounds depend on others, or conditions.

    Raises `InputError` if it cannot be read.
    """
    statements = read_scop(path).statements
    return any(s.conditions or not all(x.rectangular for x in s.loops) for s in statements)


def c_recurrence(path: Path) -> Recurrence:
    """The recurrences of a C file. Raises `InputError`, with line and reason, if it has none."""
    document = _Reader(read_scop(path)).document(path.stem)
    return read_recurrence(document, path)


@dataclass
class _Read:
    """An access that a statement reads, and where its elements were written."""

    access: Access
    sources: dict[object, list[Point]] = field(default_factory=dict)
    """The iterations by distance to the one that wrote the element, `_ZERO`, or None: an input."""


@dataclass
class _Body:
    """A statement of the innermost loop."""

    statement: Statement
    conditions: tuple[Condition, ...]
    reads: list[_Read] = field(default_factory=list)


class _Reader:
    """The statements of a file as values of recurrences."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self.loops = max((s.loops for s in scop.statements), key=len)
        self.names = [loop.name for loop in self.loops]
        if wrong := next((loop for loop in self.loops if loop.step != 1), None):
            self._refuse(wrong.line, f"loop {wrong.name} counts by {wrong.step}; allowed: by 1")
        self.zeros = [s for s in scop.statements if s.loops != self.loops]
        begun = min(s.line for s in scop.statements if s.loops == self.loops)
        for each in self.zeros:
            inside = each.loops == self.loops[: len(each.loops)] and each.line <= begun
            if not (inside and each.node.op == "=" and is_zero(each.node.rvalue)):
                self._refuse(
                    each.line,
                    f"{quoted(source_of(each.node))} stands beside the innermost loop; allowed: "
                    "all statements of one nest in its innermost loop, and X[…] = 0 before it",
                )
            if each.conditions:
                self._refuse(
                    each.line, "it depends on a condition; allowed: X[…] = 0 that always is"
                )
        self.points = self._iterations(self.loops)
        if not self.points:
            self._refuse(self.loops[-1].line, "there is no iteration; allowed: one at least")
        self.domain = {*self.points}
        self.bodies = [self._body(s) for s in scop.statements if s.loops == self.loops]
        self.outputs = dict.fromkeys(body.statement.target.tensor for body in self.bodies)
        for each in self.zeros:
            if each.target.tensor not in {*self.outputs, *scop.declared}:
                self._refuse(each.line, f"{each.target} = 0 begins no sum; allowed: before one")
        #: The iteration that wrote each element of each array last.
        self.last: dict[tuple[str, Point], Point | str] = {}
        self._run()
        self.values: dict[str, str] = {}
        #: Where each input is read.
        self.inputs: dict[str, int] = {}

    # -- what is read ------------------------------------------------------------------

    def _iterations(self, loops: Sequence[Loop]) -> list[Point]:
        """The iterations of loops, in order."""
        points: list[Point] = [()]
        for loop in loops:
            longer: list[Point] = []
            for point in points:
                at = dict(zip(self.names, point, strict=False))
                longer += ((*point, n) for n in range(_at(loop.first, at), _at(loop.end, at)))
                if len(longer) > MOST_ITERATIONS:
                    self._refuse(
                        loop.line, f"more than {MOST_ITERATIONS:,} iterations; allowed: so many"
                    )
            points = longer
        return points

    def _body(self, statement: Statement) -> _Body:
        where = self.scop.where(statement.line)
        loops = {loop.name: loop for loop in self.loops}
        tests = conditions_of(statement.conditions, self.scop.constants, loops, where)
        body = _Body(statement, tuple(x.settled(self.names, self.points, where) for x in tests))
        if statement.node.op != "=":
            body.reads.append(_Read(statement.target))
        self._collect(statement.node.rvalue, body)
        return body

    def _collect(self, node: Any, body: _Body) -> None:
        """Add the accesses of an expression, in order."""
        match node:
            case c_ast.Cast(expr=part):
                self._collect(part, body)
            case c_ast.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                self._collect(left, body)
                self._collect(right, body)
            case _:
                read = self.scop.access(node, body.statement)
                if read is None:
                    self._refuse(
                        body.statement.line,
                        f"{quoted(source_of(node))} is no element of an array; allowed: + - * / "
                        "of elements",
                    )
                body.reads.append(_Read(read))

    def _run(self) -> None:
        """Run all iterations, to know where each element that is read was written."""
        begun: dict[int, Point] = {}
        for point in self.points:
            at = dict(zip(self.names, point, strict=True))
            for number, zero in enumerate(self.zeros):
                if begun.get(number) != (prefix := point[: len(zero.loops)]):
                    begun[number] = prefix
                    self.last[zero.target.tensor, _element(zero.target, at)] = _ZERO
            here = dict[str, int]()
            for body in self.bodies:
                if not holding(body.conditions, at):
                    continue
                for read in body.reads:
                    source = self.last.get((read.access.tensor, _element(read.access, at)))
                    if isinstance(source, tuple):
                        kind: object = tuple(a - b for a, b in zip(point, source, strict=True))
                    else:
                        kind = source
                    read.sources.setdefault(kind, []).append(point)
                target = body.statement.target
                if target.tensor in here:
                    self._refuse(
                        body.statement.line,
                        f"{target.tensor} is written in line {here[target.tensor]}, too, in one "
                        "iteration; allowed: once",
                    )
                here[target.tensor] = body.statement.line
                self.last[target.tensor, _element(target, at)] = point

    # -- what is written ---------------------------------------------------------------

    def document(self, name: str) -> dict[str, Any]:
        """The recurrences as a document."""
        loops = {x.name: [_text(x.first), _text(x.end)] for x in self.loops}
        read = {r.access.tensor for body in self.bodies for r in body.reads}
        only = [x for x in self.outputs if x not in read and x not in self.scop.declared]
        outputs: dict[str, str] = {}
        for array in self.outputs:
            cases = [body for body in self.bodies if body.statement.target.tensor == array]
            if array in only:
                access, text = self._one_place(cases), self._cases(cases)
                if len(cases) > 1:
                    self.values[self._name(array)] = text
                    _, where, tests = text.partition(" where ")
                    text = f"{self._name(array)}{where}{tests}"
                outputs[access] = text
                continue
            self.values[self._name(array)] = self._cases(cases)
            if array not in self.scop.declared:
                access, text = self._left(cases)
                outputs[access] = text
        fits = "".join(c if c.isalnum() or c in "_.-" else "_" for c in name)[:64].lstrip("_.-")
        return {
            "name": fits or "nest",
            "parameters": {},
            "loops": loops,
            "values": self.values,
            "outputs": outputs,
        }

    def _name(self, array: str) -> str:
        """The name of the value that an array is: its own, unless it is an output."""
        return array if array in self.scop.declared else f"{array}_v"

    def _cases(self, cases: Sequence[_Body]) -> str:
        """The statement of an array that one statement or another writes."""
        shared = [x for x in cases[0].conditions if all(x in c.conditions for c in cases)]
        texts = [(case, [x for x in case.conditions if x not in shared]) for case in cases]
        last = cases[-1]
        for point in self.points:
            at = dict(zip(self.names, point, strict=True))
            if holding(shared, at) and not any(holding(case.conditions, at) for case in cases):
                self._refuse(
                    last.statement.line,
                    f"{last.statement.target.tensor} is not written where {_place(at)}; allowed: "
                    "conditions one of which holds wherever the statements stand",
                )
        parts = []
        for case, own in texts:
            for extra, text in self._alternatives(case):
                tests = " and ".join([*(x.text for x in own), *extra])
                final = case is last and not extra
                parts.append(text if final else f"{text} if {tests}" if tests else text)
        where = " and ".join(x.text for x in shared)
        return " else ".join(parts) + (f" where {where}" if where else "")

    def _alternatives(self, body: _Body) -> Iterator[tuple[list[str], str]]:
        """Conditions and expressions of a statement: two where its sum begins at 0."""
        first = body.reads[0]
        if body.statement.node.op == "+=" and _ZERO in first.sources:
            steps = [each for each in first.sources if each != _ZERO]
            if len(steps) == 1 and isinstance(steps[0], tuple):
                inside = self._inside(steps[0])
                self._check_inside(first, steps[0], body)
                text = self._expression(body, [None])
                added = self._made(f"{first.access.tensor}_p", text, body)
                yield inside, f"{self._value(first.access, steps[0])} + {added}"
                yield [], added
                return
            if not steps:
                yield [], self._expression(body, [None])
                return
        yield [], self._expression(body, [])

    def _expression(self, body: _Body, begun: Sequence[str | None]) -> str:
        """A statement's expression over values; its first read may be known, or be left out."""
        texts = iter([*begun, *(self._source(read, body) for read in body.reads[len(begun) :])])
        op, before = body.statement.node.op, ""
        if op != "=":
            first = next(texts)
            before = "" if first is None else f"{first} {_SIGNS[op]} "
        return before + self._rewritten(body.statement.node.rvalue, texts, bracket=bool(before))

    def _rewritten(self, node: Any, texts: Iterator[str | None], *, bracket: bool) -> str:
        if isinstance(node, c_ast.Cast):
            return self._rewritten(node.expr, texts, bracket=bracket)
        if isinstance(node, c_ast.BinaryOp):
            left = self._rewritten(node.left, texts, bracket=True)
            text = f"{left} {node.op} {self._rewritten(node.right, texts, bracket=True)}"
            return f"({text})" if bracket else text
        return str(next(texts))

    def _source(self, read: _Read, body: _Body) -> str:
        """The text of what a statement reads: a value, or an element of an input."""
        kinds = [*read.sources]
        if not kinds:
            self._refuse(body.statement.line, "it never runs; allowed: statements that do")
        steps = [kind for kind in kinds if isinstance(kind, tuple)]
        array = read.access.tensor
        if len(steps) > 1 or (_ZERO in kinds):
            several = " and ".join(map(str, steps)) + (" and 0" if _ZERO in kinds else "")
            self._refuse(
                body.statement.line,
                f"{read.access} comes from iterations at distances {several}; allowed: one",
            )
        if len(kinds) == 1 and steps:
            return self._value(read.access, steps[0])
        if not steps:
            return self._input(read, body)
        self._check_inside(read, steps[0], body)
        first = self._element(f"{array}_in", read.access, body)
        own, inside = self._value(read.access, steps[0]), " and ".join(self._inside(steps[0]))
        return self._made(f"{array}_b", f"{own} if {inside} else {first}", body)

    def _input(self, read: _Read, body: _Body) -> str:
        """An element of an input; one that is used again is handed on."""
        array = read.access.tensor
        named = f"{array}_in" if array in self.outputs else array
        text = self._element(named, read.access, body)
        places = read.sources[None]
        elements = {
            _element(read.access, dict(zip(self.names, point, strict=True))) for point in places
        }
        if len(elements) == len(places):
            return text
        if len(places) < len(self.points):
            self._refuse(
                body.statement.line,
                f"{read.access} is read again under a condition; allowed: in all iterations",
            )
        value = f"{array}_h{sum(x.startswith(f'{array}_h') for x in self.values)}"
        parts = []
        for place, loop in enumerate(self.names):
            step = tuple(int(each == place) for each in range(len(self.names)))
            moved = (tuple(a - b for a, b in zip(p, step, strict=True)) for p in self.points)
            if loop not in read.access.loops and any(p in self.domain for p in moved):
                inside = " and ".join(self._inside(step))
                parts.append(f"{self._neighbour(value, step)} if {inside}")
        return self._made(value, " else ".join([*parts, text]), body)

    def _made(self, name: str, text: str, body: _Body) -> str:
        """A value of its own, made before the statement that reads it, where that runs."""
        if tests := " and ".join(x.text for x in body.conditions):
            text += f" where {tests}"
        if self.values.setdefault(name, text) != text:
            self._refuse(
                body.statement.line,
                f"{name.rpartition('_')[0]} begins in two ways; allowed: one",
            )
        return name

    def _value(self, access: Access, step: object) -> str:
        assert isinstance(step, tuple)
        return self._neighbour(self._name(access.tensor), step)

    def _neighbour(self, value: str, step: Point) -> str:
        if not any(step):
            return value
        pairs = zip(self.names, step, strict=True)
        return value + "".join(f"[{name}-{by}]" if by else f"[{name}]" for name, by in pairs)

    def _element(self, array: str, access: Access, body: _Body) -> str:
        """The text of an element of an input, which one place reads."""
        line = body.statement.line
        if array in self.inputs:
            self._refuse(
                line,
                f"{access} is read before it is written, or never written, as in line "
                f"{self.inputs[array]}; allowed: inputs that are read at one place",
            )
        self.inputs[array] = line
        return str(Access(array, access.subscripts))

    def _inside(self, step: object) -> list[str]:
        """Conditions on which the neighbour at a distance is an iteration: those that may fail."""
        assert isinstance(step, tuple)
        by, tests = dict(zip(self.names, step, strict=True)), list[Condition]()
        for loop in self.loops:
            for end, sign, past in ((loop.first, ">=", 0), (loop.end, "<=", -1)):
                moved = end.get("", 0) + past - sum(c * by[n] for n, c in end.items() if n)
                left: Linear = {loop.name: 1, "": -by[loop.name]}
                right = {**end, "": moved}
                tests.append(Condition(_minus(left, right), sign))
        known = [dict(zip(self.names, point, strict=True)) for point in self.points]
        return [x.text for x in tests if not all(x.holds(at) for at in known)]

    def _check_inside(self, read: _Read, step: object, body: _Body) -> None:
        """Refuse a read that begins anywhere but where its neighbour is no iteration."""
        assert isinstance(step, tuple)
        for kind, places in read.sources.items():
            for point in places:
                neighbour = tuple(a - b for a, b in zip(point, step, strict=True))
                if (neighbour in self.domain) != (kind == step):
                    self._refuse(
                        body.statement.line,
                        f"{read.access} is not what iteration {neighbour} wrote where "
                        f"{_place(dict(zip(self.names, point, strict=True)))}; allowed: what "
                        "the neighbour wrote wherever there is one",
                    )

    def _one_place(self, cases: Sequence[_Body]) -> str:
        """The element of an array that statements write: the same one, and always."""
        first, line = cases[0].statement.target, cases[-1].statement.line
        if any(case.statement.target != first for case in cases):
            self._refuse(line, f"{first.tensor} is written at two places; allowed: at one")
        zeroed = (
            _element(zero.target, dict(zip(self.names, prefix, strict=False)))
            for zero in self.zeros
            if zero.target.tensor == first.tensor
            for prefix in self._iterations(zero.loops)
        )
        if idle := next(
            (e for e in zeroed if self.last.get((first.tensor, e), _ZERO) == _ZERO), None
        ):
            self._refuse(
                line,
                f"{first.tensor}{list(idle)} stays 0; allowed: sums of one iteration at least",
            )
        return str(first)

    def _left(self, cases: Sequence[_Body]) -> tuple[str, str]:
        """The output that an array is after all iterations, and where it is left."""
        array, access = cases[0].statement.target.tensor, self._one_place(cases)
        final = {p for (x, _), p in self.last.items() if x == array and p != _ZERO}
        named, ran = self._name(array), {p for case in cases for p in self._ran(case)}
        for loop in (None, *reversed(self.loops)):
            test = (
                None if loop is None else Condition(_minus({loop.name: 1, "": 1}, loop.end), ">=")
            )
            left = {
                p for p in ran if test is None or test.holds(dict(zip(self.names, p, strict=True)))
            }
            if left == final:
                return access, named + (f" where {test.text}" if test else "")
        return self._refuse(
            cases[-1].statement.line,
            f"{array} is left where no single loop ends; allowed: at the end of one",
        )

    def _ran(self, body: _Body) -> Iterable[Point]:
        at = ((p, dict(zip(self.names, p, strict=True))) for p in self.points)
        return (p for p, here in at if holding(body.conditions, here))

    def _refuse(self, line: int, why: str) -> NoReturn:
        raise refuse(self.scop.where(line), why)


def _at(form: Linear, at: Mapping[str, int]) -> int:
    return sum(c * at[name] if name else c for name, c in form.items())


def _minus(left: Linear, right: Linear) -> Linear:
    names = dict.fromkeys((*left, *right))
    return {name: left.get(name, 0) - right.get(name, 0) for name in names}


def _text(form: Linear) -> str:
    return str(Affine(tuple((n, c) for n, c in form.items() if n and c), form.get("", 0)))


def _element(access: Access, at: Mapping[str, int]) -> Point:
    return tuple(s.constant + sum(c * at[x] for x, c in s.terms) for s in access)


def _place(at: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in at.items())
