"""What an experiment is, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from ithaca.experiments.claim import Claim
from ithaca.solver.options import SolveOptions
from ithaca.studies.charts.chart import Chart

#: What a cell of a table holds; None is left empty.
Cell = str | int | float | Fraction | bool | None


class Mode(Enum):
    """How much an experiment does."""

    QUICK = "quick"
    """Small sizes and budgets: seconds to a minute. The signs of the claims hold, the figures are not the paper's."""
    FULL = "full"
    """The sizes and budgets of the paper."""


@dataclass(frozen=True)
class Run:
    """How an experiment is run.

    Attributes
    ----------
    mode : Mode
        Quick or full.
    seed : int
        First seed of the random numbers; experiments that repeat use it and those that follow.
    threads : int
        How many problems to solve at a time, where there are many.
    run_seconds : float or None
        Most seconds of each run of a search method, where methods are compared, and of each search for several arrays;
        None for those of the mode.
    stop : callable or None
        Asked now and then; when true the experiment ends by KeyboardInterrupt.
    tell : callable or None
        Told what is being done.
    """

    mode: Mode = Mode.QUICK
    seed: int = 0
    threads: int = 1
    run_seconds: float | None = None
    stop: Callable[[], bool] | None = None
    tell: Callable[[str], None] | None = None

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
        """Begin a step.

        Raises
        ------
        KeyboardInterrupt
            If the experiment is to end.
        """
        self.check()
        if self.tell is not None:
            self.tell(what)

    def check(self) -> None:
        """End the experiment if it was asked to.

        Raises
        ------
        KeyboardInterrupt
            If so: what is known then is no result, and nothing is to be written.
        """
        if self.stop is not None and self.stop():
            raise KeyboardInterrupt


@dataclass(frozen=True)
class Table:
    """What was measured.

    Attributes
    ----------
    columns : tuple of str
        Names, with units in parentheses.
    rows : tuple of tuple
        One cell per column.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells for {len(self.columns)} columns")


@dataclass(frozen=True)
class Outcome:
    """What an experiment found.

    Attributes
    ----------
    table : Table
        What was measured.
    claims : tuple of Claim
        What it says about the paper's claims.
    chart : Chart
        The plot.
    settings : mapping of str to value
        All that decides the figures, apart from mode and seed: sizes, budgets, limits.
    """

    table: Table
    claims: tuple[Claim, ...]
    chart: Chart
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def differing(self) -> Sequence[Claim]:
        """The claims that do not hold."""
        return [claim for claim in self.claims if not claim.holds]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    Attributes
    ----------
    name : str
        As on the command line, such as ``table-3``.
    title : str
        One line.
    published : str
        What the paper says, as far as it is known.
    inference : str
        What had to be inferred since the paper's text was not at hand, and from what; empty for nothing.
    run : callable
        Does it.
    clock : frozenset of Mode
        The modes in which its figures depend on the speed of the machine.
    budgeted : bool
        Whether `Run.run_seconds` says something to it.
    """

    name: str
    title: str
    published: str
    inference: str
    run: Callable[[Run], Outcome]
    clock: frozenset[Mode] = frozenset()
    budgeted: bool = False
