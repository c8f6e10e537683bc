"""Experiments and their outcomes: a table, a chart, and claims of the paper set beside what is
measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from importlib import import_module
from operator import eq, ge, gt, le, lt
from typing import Any

import yaml

from ithaca.exports.charts.chart import LineChart, Series
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.reading import packaged_text
from ithaca.solver.options import SolveOptions

#: What the paper says of its tables and figures, in its order, and the claims about them.
PAPER: Mapping[str, Any] = yaml.safe_load(packaged_text("benchmarks.paper", "paper"))

#: What is printed in it, or released with its program.
PUBLICATION: Mapping[str, Any] = yaml.safe_load(packaged_text("benchmarks.paper", "published"))

Number = Fraction | float

#: What claims are about, by their names: a number, with the bound where that is measured, too.
Measured = Mapping[str, Number | tuple[Number, Number]]

#: How a measured quantity is compared with a bound.
RELATIONS: Mapping[str, Callable[[Number, Number], bool]] = {
    "<": lt,
    "≤": le,
    "=": eq,
    "≥": ge,
    ">": gt,
}

#: What a paper says where its figure could not be read.
NOT_AT_HAND = "not known (the figure was not at hand)"

#: What is claimed where the paper claims nothing.
OWN = "none (Ithaca's own)"


@dataclass(frozen=True)
class Claim:
    """A statement about measured quantities that may turn out false."""

    statement: str
    """The statement that is claimed."""
    published: str
    """The paper's figure, or why there is none."""
    quantity: str
    """The measured quantity, with its unit."""
    measured: Fraction | float
    relation: str
    """One of `RELATIONS`."""
    bound: Fraction | float
    """The bound that the statement sets: ``measured relation bound``. Exact numbers are compared
    exactly."""
    why: str = ""
    """Where it differs from the paper, and why; or how to read it."""
    differs: bool = False
    """Whether it is a claim of the paper that is known not to hold."""

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"relation is {self.relation!r}; allowed: {', '.join(RELATIONS)}")

    @property
    def holds(self) -> bool:
        """Whether the measurement agrees with the statement."""
        return bool(RELATIONS[self.relation](self.measured, self.bound))

    @property
    def verdict(self) -> str:
        """``holds`` or ``differs``."""
        return "holds" if self.holds else "differs"


def claims(experiment: str, measured: Measured, **words: object) -> tuple[Claim, ...]:
    """Claims that `paper.yaml` states of an experiment, with the words that their texts leave
    open."""
    return tuple(
        _claim(PAPER[experiment]["claims"][name], value, words) for name, value in measured.items()
    )


def _claim(
    stated: Mapping[str, Any], measured: Number | tuple[Number, Number], words: Mapping[str, object]
) -> Claim:
    value, bound = measured if isinstance(measured, tuple) else (measured, stated["bound"])
    statement, published, quantity, why = (
        text.format(**words)
        for text in (stated["claim"], said(stated), stated["quantity"], stated.get("why", ""))
    )
    exact = Fraction(bound) if isinstance(bound, str) else bound
    differs = stated.get("differs", False)
    return Claim(statement, published, quantity, value, stated["relation"], exact, why, differs)


def said(stated: Mapping[str, Any]) -> str:
    """The paper's statement, as far as it is known."""
    published: str | None = stated["published"]
    return NOT_AT_HAND if published is None else OWN if published == "own" else published


def loss(best: Fraction, value: Fraction) -> Fraction:
    """Share of the best performance that a design of some latency loses: 1 − best / latency."""
    return 1 - best / value


#: What a cell of a table holds; None is left empty.
Cell = str | int | float | Fraction | bool | None


class Mode(Enum):
    """The scale of an experiment."""

    QUICK = "quick"
    """Small sizes and budgets: seconds to a minute. The signs of the claims hold, the figures are
    not the paper's."""
    FULL = "full"
    """The sizes and budgets of the paper."""


@dataclass(frozen=True)
class Run:
    """The settings with which an experiment is run."""

    mode: Mode = Mode.QUICK
    seed: int = 0
    """First seed of the random numbers; experiments that repeat use it and those that follow."""
    threads: int = 1
    """How many problems to solve at a time, where there are many."""
    run_seconds: float | None = None
    """Most seconds of each run of a search method, where methods are compared, and of each search
    for several arrays; None for those of the mode."""
    stop: Callable[[], bool] | None = None
    """Asked now and then; when true the experiment ends by KeyboardInterrupt."""
    tell: Callable[[str], None] | None = None
    """Told what is being done."""

    @property
    def full(self) -> bool:
        """Whether it is a full run."""
        return self.mode is Mode.FULL

    def least_seconds(self, seconds: float | None) -> float | None:
        """Seconds that an experiment gives a run, at most those asked for."""
        known = [each for each in (seconds, self.run_seconds) if each is not None]
        return min(known, default=None)

    @property
    def search(self) -> SolveOptions:
        """Options of a search that ends when the experiment is to end."""
        return SolveOptions(stop=self.stop, seed=self.seed)

    def step(self, what: str) -> None:
        """Begin a step, or end the experiment as `check` does."""
        self.check()
        if self.tell is not None:
            self.tell(what)

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if the experiment is to end: what is known is no result, and
        nothing is to be written."""
        if self.stop is not None and self.stop():
            raise KeyboardInterrupt


@dataclass(frozen=True)
class Table:
    """A table of measurements."""

    columns: tuple[str, ...]
    """Names, with units in parentheses."""
    rows: tuple[tuple[Cell, ...], ...]
    """One cell per column."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells for {len(self.columns)} columns")

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Cell]]) -> Table:
        """A table of rows by name of the column; all have those of the first."""
        listed = list(records)
        columns = tuple(listed[0])
        return cls(columns, tuple(tuple(record[name] for name in columns) for record in listed))

    def records(self, **equal: Cell) -> list[dict[str, Cell]]:
        """The rows by name of the column, those alone that have some values."""
        found = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return [
            record
            for record in found
            if all(record[name] == value for name, value in equal.items())
        ]

    def values(self, key: str, value: str, **equal: Cell) -> dict[str, float]:
        """The numbers of a column by the names of another one."""
        return {str(record[key]): float(record[value]) for record in self.records(**equal)}  # type: ignore[arg-type]

    def series(
        self,
        by: Sequence[str],
        x: Sequence[str],
        y: str,
        *,
        low: str = "",
        notes: str = "",
        times: int = 1,
        **equal: Cell,
    ) -> tuple[Series, ...]:
        """Columns as series of a chart; only rows of some values, where these are given.

        What tells series apart (``by``), and the points of one (``x``), are columns, one under the
        other where there are several; ``y``, ``low`` and ``notes`` those of values, their lower
        bounds (none where they are equal) and remarks. Values are multiplied by ``times``: 100 for
        per cent.
        """
        groups: dict[str, list[dict[str, Cell]]] = {}
        for record in self.records(**equal):
            groups.setdefault(" ".join(str(record[name]) for name in by), []).append(record)

        def value(record: dict[str, Cell], name: str) -> float:
            return times * float(record[name])  # type: ignore[arg-type]

        def place(record: dict[str, Cell]) -> str | float:
            cells = [record[name] for name in x]
            return float(cells[0]) if isinstance(cells[0], int) else "\n".join(map(str, cells))

        return tuple(
            Series(
                name,
                tuple(map(place, mine)),
                tuple(value(record, y) for record in mine),
                tuple(None if record[low] == record[y] else value(record, low) for record in mine)
                if low
                else (),
                tuple(str(record[notes]) for record in mine) if notes else (),
            )
            for name, mine in groups.items()
        )


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment."""

    table: Table
    """The measurements."""
    claims: tuple[Claim, ...]
    """The paper's claims, with what the experiment says about them."""
    chart: LineChart
    settings: Mapping[str, object] = field(default_factory=dict)
    """All that decides the figures, apart from mode and seed: sizes, budgets, limits."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper."""

    name: str
    """As on the command line, such as ``table-3``."""
    title: str
    """One line."""
    published: str
    """The paper's statement, as far as it is known."""
    inference: str
    """Settings that had to be inferred since the paper does not say them, and from what; empty for
    none."""
    run: Callable[[Run], Outcome]
    """Does it."""
    clock: frozenset[Mode] = frozenset()
    """The modes in which its figures depend on the speed of the machine."""
    budgeted: bool = False
    """Whether `Run.run_seconds` says something to it."""


#: In the order of the paper. Module ``table_3`` runs the experiment ``table-3``.
NAMES = tuple(PAPER)

#: All of them, one after the other.
ALL = "all"


def find_experiment(name: str) -> Experiment:
    """An experiment by name; raises `InputError` if there is none of it."""
    if name not in NAMES:
        raise InputError(f"experiment is {quoted(name)}; allowed: {', '.join(NAMES)}, {ALL}")
    stated = PAPER[name]
    return Experiment(
        name,
        stated["title"],
        said(stated),
        stated["inference"],
        import_module(f"benchmarks.paper.{name.replace('-', '_')}").run,
        frozenset(map(Mode, stated.get("clock", ()))),
        stated.get("budgeted", False),
    )
