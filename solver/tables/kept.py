"""Lowered forms of problems that were solved before, kept in the user's cache.

Bounds are rewritten from symbols alone: sizes of layers enter only as far as the cost model folds
them. So a form made for one size serves the next, also of another process. A form is found by all
that it was made from and by the code that made it; it carries the user's seal, so that nobody else
can slip a bound in. It is data, and nothing in it runs. Where it cannot be read, it is made anew.

Expressions are kept as plain data, each part once, for JSON.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Hashable, Sequence
from contextlib import suppress
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from ithaca.files.caches import cache_folder, keep_bytes, proving_code, recalled_bytes
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import (
    UNIT,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
)
from ithaca.formulations.problem import SymbolicProblem
from ithaca.solver.tables.column import Column
from ithaca.solver.tables.lowered import LoweredProblem, Signs
from ithaca.solver.tables.program import Program

_KINDS: dict[type[Expression], str] = {
    Symbol: "symbol",
    Constant: "constant",
    Sum: "sum",
    Product: "product",
    CeilingDivision: "ceil",
    Maximum: "max",
    Minimum: "min",
}


class Encoder:
    """Expressions by numbers: each part of them once, after its own parts."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self._numbers: dict[Expression, int] = {}

    def number(self, node: Expression) -> int:
        """The number of an expression among `nodes`, where it stands from now on."""
        if node not in self._numbers:
            content = self._content(node)
            self._numbers[node] = len(self.nodes)
            self.nodes.append([_KINDS[type(node)], *content])
        return self._numbers[node]

    def _content(self, node: Expression) -> list[Any]:
        if isinstance(node, Symbol):
            return [node.name]
        if isinstance(node, Constant):
            return [str(node.value)]
        if isinstance(node, Product):
            own = [number for base, e in node.factors for number in (self.number(base), e)]
            return [str(node.coefficient), *own]
        return [self.number(child) for child in node.children]


def decoded(nodes: Sequence[Sequence[Any]]) -> list[Expression]:
    """The expressions of an `Encoder`, by number.

    Raises `ValueError`, `KeyError`, `IndexError` or `TypeError` for what no encoder made.
    """
    known: list[Expression] = []
    for kind, *content in nodes:
        if kind == "symbol":
            node: Expression = Symbol(content[0])
        elif kind == "constant":
            node = Constant(Fraction(content[0]))
        elif kind == "product":
            bases, exponents = content[1::2], content[2::2]
            factors = [(known[base], e) for base, e in zip(bases, exponents, strict=True)]
            coefficient = Fraction(content[0])
            node = Product(UNIT if coefficient == 1 else coefficient, tuple(factors))
        elif kind == "ceil":
            top, bottom = content
            node = CeilingDivision(known[top], known[bottom])
        else:
            make = {"sum": Sum, "max": Maximum, "min": Minimum}[kind]
            node = make(tuple(known[child] for child in content))
        known.append(node)
    return known


#: Steps of the shortest program that is worth a file.
LEAST_STEPS = 150

#: Bytes of all files.
MOST_BYTES = 1 << 26


def recalled(key: Sequence[Hashable], limits: Floats) -> tuple[Signs, LoweredProblem] | None:
    """The form that was made from the same, with the signs on which it depends; None if there is
    none.

    Parameters
    ----------
    key : sequence of Hashable
        All that it is made from.
    limits : Floats
        The limits of its constraints.
    """
    packed = recalled_bytes(_place(key))
    if packed is None:
        return None
    document = json.loads(zlib.decompress(packed))
    nodes = decoded(document["nodes"])
    columns: dict[str, list[Column]] = {}
    for axis, index, number, *facts in document["columns"]:
        columns.setdefault(axis, []).append(Column(index, nodes[number], *facts))
    signs = {(axis, nodes[number]): sign for axis, number, sign in document["signs"]}
    return signs, LoweredProblem(
        Program.restored(*document["bounds"]),
        Program.restored(*document["values"]),
        limits,
        Fraction(document["step"]),
        nodes[document["objective"]],
        columns,
    )


def keep(key: Sequence[Hashable], signs: Signs, lowered: LoweredProblem) -> None:
    """Keep a form for later, if it took long to make; where that cannot be written, nothing is
    kept.

    Parameters
    ----------
    key : sequence of Hashable
        All that it is made from.
    signs : Signs
        The signs on which it depends.
    lowered : LoweredProblem
        The form.
    """
    if len(lowered.bounds.state[1]) < LEAST_STEPS or (path := _place(key)) is None:
        return
    encoder = Encoder()
    document = {
        "signs": [[axis, encoder.number(node), sign] for (axis, node), sign in signs.items()],
        "columns": [
            [axis, c.index, encoder.number(c.expression), c.low, c.high, c.signed]
            for axis, columns in lowered.columns.items()
            for c in columns
        ],
        "objective": encoder.number(lowered.objective),
        "step": str(lowered.step),
        "bounds": lowered.bounds.state,
        "values": lowered.values.state,
    }
    packed = zlib.compress(json.dumps(document | {"nodes": encoder.nodes}).encode(), 1)
    keep_bytes(path, packed)
    with suppress(OSError):
        _make_room(path.parent)


def _place(key: Sequence[Hashable]) -> Path | None:
    """The file of a form; None where nothing is kept."""
    folder = cache_folder()
    if folder is None:
        return None
    encoder = Encoder()
    try:
        text = json.dumps([proving_code(), _plain(key, encoder), encoder.nodes])
    except InputError:  # no sources
        return None
    return Path(folder, "bounds", sha256(text.encode()).hexdigest()[:40])


def _plain(value: Any, encoder: Encoder) -> Any:
    """All that a form is made from, as JSON."""
    if isinstance(value, Expression):
        return encoder.number(value)
    if isinstance(value, SymbolicProblem):
        return _plain([value.objective, value.constraints], encoder)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(each, encoder) for each in value]
    return value


def _make_room(folder: Path) -> None:
    """Remove what nobody has used for longest, down to half, where there is too much."""
    files = [(path.stat(), path) for path in folder.iterdir()]
    left = sum(status.st_size for status, _ in files)
    if left <= MOST_BYTES:
        return
    for status, path in sorted(files, key=lambda each: each[0].st_mtime):
        if left > MOST_BYTES / 2:
            path.unlink(missing_ok=True)
            left -= status.st_size
