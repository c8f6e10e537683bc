"""Uniform recurrences: nests of several statements, whose domains need not be rectangular.

A file of one is a YAML document::

    name: lu
    parameters: {n: 24}
    loops: {k: [0, n], j: [k, n], i: [k, n]}     # first value, end: affine, of outer loops
    values:                                      # one of each in an iteration, in this order
      P: A[i][j] if k == 0 else V[k-1][j][i]
      W: P if j == k else W[k][j-1][i]
      M: P / W if i == k else M[k][j][i-1] where j > k
      V: P - M * W where j > k
    outputs:
      U[j][i]: W where j == k

A value of the same iteration goes by its name, one of an earlier iteration by all loops, each less
0 or 1: such dependences are the same everywhere (uniform; Karp, Miller, Winograd, 1967). What is
no value is an input, of which every element is read once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, islice
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted
from ithaca.plugins.recurrences.workloads.sums import (
    Columns,
    Point,
    columns,
    compiled,
    elements,
    evaluated,
    tree,
)
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.kernel_files import MAX_LOOPS, NAME
from ithaca.workloads.nest import LoopNest, check_size
from ithaca.workloads.statement import AccessReader

#: Most iterations: every one of them is looked at.
MOST_ITERATIONS = 100_000

_SUMS = (ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.UnaryOp, ast.USub, ast.Call)
_NAMES = (ast.Name, ast.Constant, ast.Load)
_CONDITIONS = (ast.Compare, ast.Eq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_FUNCTIONS = {"min": min, "max": max, "__builtins__": {}}


class RecurrenceDocument(InputDocument):
    """A system of recurrences as a file describes it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
    description: Annotated[str, Field(max_length=500)] = ""
    parameters: dict[str, int]
    loops: dict[str, Annotated[list[str | int], Field(min_length=2, max_length=2)]]
    values: dict[str, str]
    outputs: dict[str, str]


@dataclass(frozen=True, eq=False)
class Case:
    """A statement of a value, and when it holds."""

    value: str
    """The value or output that it computes."""
    conditions: tuple[str, ...]
    """Comparisons of sums of loops and parameters; all of them hold."""
    reads: tuple[Access, ...]
    """The accesses that it reads, inputs and values, these by all loops; each of its own."""
    result: ast.expr
    """Arithmetic over ``r0``, ``r1``, … for these."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Recurrence(LoopNest):
    """A system of uniform recurrences; of `LoopNest` it has name, parameters and description."""

    definition: RecurrenceDocument = field(hash=False)
    """The statement of its file, without its parameters."""

    def __post_init__(self) -> None:
        for name, value in self.parameters:
            check_size(f"parameter '{name}'", value)
        self._check_names()
        if not self.iterations:
            self._refuse("there is no iteration; allowed: at least one")
        _ = self.tensors  # refuses elements that are used twice

    def __repr__(self) -> str:
        return f"<Recurrence {self.name}: {', '.join(self.loops)}, {self.shown_sizes}>"

    def __str__(self) -> str:
        return "; ".join(f"{name} = {text}" for name, text in self._statements.items())

    # -- its parts ---------------------------------------------------------------------

    @property
    def loops(self) -> tuple[str, ...]:
        return tuple(self.definition.loops)

    @property
    def values(self) -> tuple[str, ...]:
        """The values of an iteration, in order."""
        return tuple(self.definition.values)

    @property
    def sizes(self) -> dict[str, int]:
        return dict(self.parameters)

    @property
    def operations(self) -> int:
        return len(self.iterations)

    @property
    def document(self) -> dict[str, Any]:
        """The recurrence as files describe it."""
        return self.definition.model_dump(exclude={"description"}) | {"parameters": self.sizes}

    def with_sizes(self, sizes: Mapping[str, int]) -> Recurrence:
        for name in sizes:
            if name not in self.sizes:
                raise InputError(
                    f"unknown size {quoted(name)} of {self.name}{among(name, self.sizes)}"
                )
        return replace(self, parameters=tuple((self.sizes | {**sizes}).items()))

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The statements, in order, those of outputs last; each case of a value of its own."""
        cases: list[Case] = []
        for number, (name, text) in enumerate(self._statements.items()):
            expression, _, where = text.partition(" where ")
            always = self._comparisons(self._parsed(where)) if where else ()
            for node, conditions in self._alternatives(self._parsed(expression), tuple(always)):
                reads: list[Access] = []
                result = self._arithmetic(node, self.values[:number], reads)
                cases.append(Case(name, conditions, tuple(reads), result))
        return tuple(cases)

    @cached_property
    def outputs(self) -> Mapping[Case, Access]:
        """Element of each output, by the statement of its value."""
        reader, outputs = AccessReader(self.name, self.sizes), self.definition.outputs
        return {
            case: reader.access(self._parsed(case.value))
            for case in self.cases
            if case.value in outputs
        }

    @cached_property
    def iterations(self) -> dict[Point, tuple[Case, ...]]:
        """The cases that hold in every iteration, in the order of the loops."""
        points, holding, _ = self._holding
        if unread := min(self._unread(), default=None):
            self._refuse(
                f"{unread[2]} is read where {self._where(unread[0])}, but has no value "
                "there; allowed: what an earlier statement or iteration computes"
            )
        cases: dict[tuple[int, ...], tuple[Case, ...]] = {}
        patterns = map(tuple, np.packbits(holding, axis=0).T.tolist())
        return {
            point: cases.get(pattern)
            or cases.setdefault(pattern, tuple(compress(self.cases, holding[:, number])))
            for number, (point, pattern) in enumerate(zip(points, patterns, strict=True))
        }

    @cached_property
    def _holding(self) -> tuple[Sequence[Point], NDArray[np.bool_], Columns]:
        """All iterations, for each case whether it holds there, of those of a value the first, and
        the values of loops."""
        points = self._points()
        here, holding = columns(self.loops, points), []
        taken = dict.fromkeys(self._statements, np.zeros(len(points), bool))
        for case in self.cases:
            holds = ~taken[case.value]
            for test in case.conditions:
                holds &= evaluated(test, here, self.sizes, len(points)).astype(bool)
            taken[case.value] = taken[case.value] | holds
            holding.append(holds)
        return points, np.array(holding), here

    def _accessed(self, number: int, access: Access) -> list[tuple[Point, Point]]:
        """The iterations in which the case of a number holds, each with the element that it
        accesses."""
        points, holding, here = self._holding
        own = [*compress(points, holding[number])]
        inside = {loop: column[holding[number]] for loop, column in here.items()}
        return [*zip(own, elements(access, inside, len(own)), strict=True)]

    def _unread(self) -> Iterator[tuple[Point, int, str]]:
        """The first iteration in which each access reads a value that nothing has computed."""
        points, holding, _ = self._holding
        values = {name: set[Point]() for name in self.values}
        for case, holds in zip(self.cases, holding, strict=True):
            values.get(case.value, set()).update(compress(points, holds))
        for number, case in enumerate(self.cases):
            for access in (access for access in case.reads if access.tensor in values):
                known = values[access.tensor]
                pairs = self._accessed(number, access)
                yield from islice(((p, number, str(access)) for p, e in pairs if e not in known), 1)

    @cached_property
    def stored(self) -> Mapping[str, tuple[int, ...]]:
        """The loops by which an array of each value is indexed, as numbers.

        The outermost one is left out where a value is read before it is computed again.
        """
        order = [*self._statements].index
        again = {
            name: all(
                not first.constant
                or (order(case.value) <= order(name) and not any(s.constant for s in rest))
                for case in self.cases
                for access in case.reads
                for first, *rest in [access.subscripts]
                if access.tensor == name
            )
            for name in self.values
        }
        return {name: tuple(range(short, len(self.loops))) for name, short in again.items()}

    def element(self, access: Access, point: Point) -> Point:
        """The element that an iteration accesses."""
        here = dict(zip(self.loops, point, strict=True))
        return tuple(s.constant + sum(c * here[x] for x, c in s.terms) for s in access)

    def bounded_by(self, loop: str) -> frozenset[str]:
        """The loops that the bounds of a loop mention."""
        nodes = (node for end in self.bounds[loop] for node in ast.walk(self._parsed(end)))
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name))

    def inputs_of(self, case: Case) -> tuple[Access, ...]:
        """The elements of inputs that a case reads, values left out."""
        return tuple(access for access in case.reads if access.tensor not in self.values)

    @cached_property
    def tensors(self) -> Mapping[str, dict[Point, Point]]:
        """The elements of each tensor and the iteration that uses each, inputs first.

        Raises `InputError` where one of an input is read again, or one of an output computed again.
        """
        read = ((n, a) for n, case in enumerate(self.cases) for a in self.inputs_of(case))
        outputs = ((self.cases.index(case), access) for case, access in self.outputs.items())
        tensors, wrong = dict[str, dict[Point, Point]](), list[tuple[Point, int, str, Point]]()
        for number, access in (*read, *outputs):  # each tensor has one
            own = tensors.setdefault(access.tensor, {})
            for point, element in self._accessed(number, access):
                if element in own or min(element) < 0:
                    wrong.append((point, number, access.tensor, element))
                    break
                own[element] = point
        if wrong:
            point, _, tensor, element = min(wrong)
            self._refuse(
                f"{tensor}{list(element)} is used again where {self._where(point)}, or there is "
                "none; allowed: every element once, which a value hands on"
            )
        return tensors

    @property
    def input_tensors(self) -> tuple[str, ...]:
        """The tensors that are read."""
        outputs = [access.tensor for access in self.outputs.values()]
        return tuple(tensor for tensor in self.tensors if tensor not in outputs)

    def extents_of(self, tensor: str) -> Point:
        """Extents of a tensor as far as its elements are used."""
        return tuple(max(column) + 1 for column in zip(*self.tensors[tensor], strict=True))

    # -- reading -----------------------------------------------------------------------

    @property
    def _statements(self) -> dict[str, str]:
        """The statements of values, then of outputs."""
        return {**self.definition.values, **self.definition.outputs}

    @cached_property
    def bounds(self) -> Mapping[str, tuple[str, str]]:
        """First value and end of each loop, outermost first, over the loops around it."""
        bounds: dict[str, tuple[str, str]] = {}
        for loop, (first, end) in self.definition.loops.items():
            bounds[loop] = self._sum(first, (*bounds,)), self._sum(end, (*bounds,))
        return bounds

    def _points(self) -> Sequence[Point]:
        """The values of all loops in every iteration."""
        points: list[Point] = [()]
        for ends in self.bounds.values():
            here = columns(self.loops, points)
            first, end = (evaluated(e, here, self.sizes, len(points)).tolist() for e in ends)
            inside = (
                (*point, value)
                for point, *span in zip(points, first, end, strict=True)
                for value in range(*span)
            )
            points = [*islice(inside, MOST_ITERATIONS + 1)]
            if len(points) > MOST_ITERATIONS:
                self._refuse(f"more than {MOST_ITERATIONS:,} iterations; allowed: at most so many")
        return points

    def _parsed(self, text: object) -> ast.expr:
        try:
            return tree(str(text).strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._refuse(f"{quoted(str(text))} cannot be read; allowed: such as P / W if i == k")

    def _sum(self, text: object, loops: Sequence[str], comparison: bool = False) -> str:
        """A sum over loops and parameters, or a comparison of two, once it is known to be no
        more."""
        known, tree = self.sizes | dict.fromkeys(loops, 1), self._parsed(text)
        allowed = "conditions joined by and" if comparison else "sums, min, max"
        kinds = (*_SUMS, *_NAMES, *(_CONDITIONS if comparison else ()))
        try:
            for node in ast.walk(tree):
                if not isinstance(node, kinds) or len(getattr(node, "ops", "=")) > 1:
                    raise TypeError
                if isinstance(node, ast.Constant) and type(node.value) is not int:
                    raise TypeError
            read = ast.unparse(tree)
            value = eval(compiled(read), _FUNCTIONS, known)
            if type(value) is not (bool if comparison else int):
                raise TypeError
        except (TypeError, ValueError, NameError):
            names = ", ".join([*known, "integers"])
            self._refuse(f"{quoted(str(text))}; allowed: {allowed} over {names}")
        return read

    def _comparisons(self, node: ast.expr) -> Iterator[str]:
        """Conditions one by one."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for part in node.values:
                yield from self._comparisons(part)
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            sides = [node.left, *node.comparators]
            for left, sign, right in zip(sides, node.ops, sides[1:], strict=False):
                yield from self._comparisons(ast.Compare(left, [sign], [right]))
        else:
            yield self._sum(ast.unparse(node), self.loops, comparison=True)

    def _alternatives(
        self, node: ast.expr, conditions: tuple[str, ...]
    ) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
        """The expressions of ``A if condition else B``, each with the conditions under which it is
        computed unless an earlier one is."""
        if isinstance(node, ast.IfExp):
            holds = *conditions, *self._comparisons(node.test)
            yield from self._alternatives(node.body, holds)
            yield from self._alternatives(node.orelse, conditions)
        else:
            yield node, conditions

    def _arithmetic(
        self, node: ast.expr, known: Sequence[str], reads: list[Access]
    ) -> ast.BinOp | ast.Name:
        """An expression over what it reads, which it adds to ``reads``."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
            left = self._arithmetic(node.left, known, reads)
            return ast.BinOp(left, node.op, self._arithmetic(node.right, known, reads))
        if not isinstance(node, ast.Name | ast.Subscript):
            allowed = "+ - * / of values and elements of inputs"
            self._refuse(f"{quoted(ast.unparse(node))}; allowed: {allowed}")
        reads.append(self._access(node, known))
        return ast.Name(f"r{len(reads) - 1}")

    def _access(self, node: ast.expr, known: Sequence[str]) -> Access:
        """The access of an expression: to a value by all loops, or to an element of an input."""
        here = tuple(Affine(((loop, 1),)) for loop in self.loops)
        if isinstance(node, ast.Name) and node.id in known:
            return Access(node.id, here)
        access = AccessReader(ast.unparse(node), self.sizes).access(node)
        if unknown := min(access.loops - {*self.loops}, default=None):
            self._refuse(f"{access} uses unknown loop '{unknown}'{among(unknown, self.loops)}")
        if access.tensor in self.values:
            steps = [-subscript.constant for subscript in access]
            terms = [subscript.terms for subscript in access]
            if terms != [s.terms for s in here] or {*steps} not in ({0, 1}, {1}):
                self._refuse(
                    f"{access} is no value of a neighbour; allowed: all loops in order, "
                    f"{', '.join(self.loops)}, each less 0 or 1, one at least 1"
                )
        return access

    # -- checks ------------------------------------------------------------------------

    def _check_names(self) -> None:
        accesses = [access for case in self.cases for access in self.inputs_of(case)]
        accesses += self.outputs.values()
        names = [*self.loops, *self.sizes, *self.values, *(access.tensor for access in accesses)]
        for name in names:
            if not NAME.fullmatch(name) or names.count(name) > 1:
                self._refuse(
                    f"{quoted(name)} is no name, or one of two things; allowed: loops, parameters, "
                    "values, inputs and outputs of different names, each of these in one case"
                )
        if not 2 <= len(self.loops) <= MAX_LOOPS or not self.outputs:
            self._refuse(f"loops are {len(self.loops)}; allowed: 2 to {MAX_LOOPS}, and an output")

    def _where(self, point: Point) -> str:
        return ", ".join(f"{x} = {value}" for x, value in zip(self.loops, point, strict=True))


def read_recurrence(document: Mapping[str, Any], where: object) -> Recurrence:
    """The recurrences of a decoded document; error lines start with ``where``."""
    read = validated(RecurrenceDocument, document, where)
    with errors_at(where):
        return Recurrence(
            read.name,
            (),
            Access("", ()),
            (),
            "",
            parameters=tuple(read.parameters.items()),
            description=read.description,
            definition=read.model_copy(update={"description": "", "parameters": {}}),
        )
