"""Kinds of accelerators: how hardware spaces state those of a family, and figures that follow from
their quantities."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.monotonicity import trends
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, exactly
from ithaca.formulations.documents import Document
from ithaca.formulations.hardware.accelerator import Accelerator
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.formulations.region import Region
from ithaca.formulations.remembered import remembered


@dataclass(frozen=True)
class Figure:
    """A number that follows from quantities: an expression, perhaps the key of a table."""

    expression: Expression
    """Over quantities and other figures."""
    table: tuple[tuple[Fraction, Fraction], ...] = ()
    """The meaning of values of the expression; empty: they stand for themselves."""
    others: tuple[tuple[str, Figure], ...] = ()
    """The other figures that the expression speaks of, by name."""

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The quantities that the figure follows from."""
        others = dict(self.others)
        return (self.expression.symbols - others.keys()).union(
            *(figure.symbols for figure in others.values())
        )

    def at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """The figure's value for an accelerator. A `KeyError` if a table has no such entry."""
        known = exactly(values) | {n: figure.at(values) for n, figure in self.others}
        number = Fraction(self.expression.evaluate(known, FRACTION))
        return dict(self.table)[number] if self.table else number

    def range(self, region: Region) -> Interval:
        """Bounds over a region, the tightest where it depends on few quantities in both ways."""
        return self._range(Region(tuple(q for q in region.quantities if q.name in self.symbols)))

    @remembered
    def _range(self, region: Region) -> Interval:
        known = {} if self.table or self.others else moves(self.expression, region)
        if (
            options := region.combinations([name for name in self.symbols if not known.get(name)])
        ) is not None:
            ends = [region.corner(high=high) for high in (False, True)]
            least = {name: ends[move < 0][name] for name, move in known.items() if move}
            most = {name: ends[move > 0][name] for name, move in known.items() if move}
            ends_there = [
                (self.at({**values, **least}), self.at({**values, **most}) if most else None)
                for values in options
            ]
            return Interval(
                min(low for low, _ in ends_there),
                max(low if high is None else high for low, high in ends_there),
            )
        spans = region.intervals | {name: figure.range(region) for name, figure in self.others}
        reached = as_interval(self.expression.evaluate(spans, INTERVAL))
        if not self.table:
            return reached
        within = [value for key, value in self.table if key in reached]
        return Interval(min(within), max(within))


def moves(expression: Expression, region: Region) -> Mapping[str, int]:
    """1 or -1 for quantities with which an expression never falls or never rises, whatever part of
    a space a region is, else 0."""
    return _moves(expression, tuple((q.name, q.low, q.high) for q in region.quantities))


@lru_cache(256)
def _moves(expression: Expression, spans: tuple[tuple[str, Any, Any], ...]) -> Mapping[str, int]:
    ranges = {name: Interval(Fraction(low), Fraction(high)) for name, low, high in spans}
    directions = trends(expression, ranges)
    return {name: directions.get(Symbol(name), 0) for name in expression.symbols}


class About(NamedTuple):
    """Words on an accelerator."""

    name: str
    """The name of the space that it is of."""
    text: str
    """Its quantities."""
    source: str
    """The source of the space's figures."""


class AcceleratorKind(Protocol):
    """A kind of accelerator: how spaces state those of a family."""

    unnamed: ClassVar[bool] = False
    """Whether spaces that name no family have such accelerators."""

    @property
    def document(self) -> type[Document]:
        """The model of what files say of these accelerators beside what all spaces say."""

    @property
    def tags(self) -> Collection[str]:
        """YAML tags in documents of the accelerators."""
        return ()

    def read(self, document: Any, where: object) -> Accelerator:
        """The accelerator that a file states. Raises `InputError`, which begins with ``where``."""

    def fields(self, accelerator: Any) -> dict[str, Any]:
        """An accelerator as such a document, whole."""

    def completed(
        self, accelerator: Any, figures: Mapping[str, Figure]
    ) -> tuple[Accelerator, Mapping[str, Figure]]:
        """The accelerator of a space with its figures, and those that follow from them.

        Energies may follow from capacities, say.
        """
        return accelerator, figures

    def energies(self, accelerator: Any, path: Path) -> Mapping[str, Fraction]:
        """Figures by an ERT file of Accelergy's (pJ).

        Raises `InputError` if it is none, or says nothing of the accelerator.
        """
        raise InputError(
            f"{path}: accelerators of this kind have no parts that Accelergy's files name"
        )

    def areas(self, accelerator: Any, path: Path) -> Mapping[str, Fraction]:
        """Areas of an instance by part (µm²), by an ART file of Accelergy's.

        Raises `InputError` if it is none, or says nothing of the accelerator.
        """
        return self.energies(accelerator, path)

    def check(self, accelerator: Any, figure: str, value: Fraction) -> None:
        """Refuse a value that a figure cannot have.

        Parameters
        ----------
        accelerator : Accelerator
            The accelerator, of the family.
        figure : str
            Name of the figure.
        value : Fraction
            The value.

        Raises
        ------
        InputError
            If the figure cannot have it.
        """
        return

    def check_ranges(self, accelerator: Any, spans: Mapping[str, Interval]) -> None:
        """Refuse figures for what they may be over the whole space, rules or not.

        Raises `InputError` if they cannot be all of that.

        Parameters
        ----------
        accelerator : object
            The accelerator of the space.
        spans : mapping of str to Interval
            The values that each figure may have.
        """
        return

    def sized(
        self, accelerator: Any, figures: Mapping[str, Expression]
    ) -> Mapping[str, Expression]:
        """Arguments of `silicon.Silicon.of`, as far as the accelerator states them.

        Memory in bytes, bandwidth in words a cycle, by the names of `regressions.PARTS`.
        """
        return {}

    def alone(self, accelerator: Any, figures: Mapping[str, Fraction], about: About) -> Any:
        """An accelerator by itself, as its family's commands take it; None where none does.

        Parameters
        ----------
        accelerator : Accelerator
            The accelerator, which fixes what its figures do not.
        figures : mapping of str to Fraction
            Its figures.
        about : About
            Words on it.
        """
        return None

    def request(self, accelerator: Any, alone: Any, problems: tuple[Problem, ...]) -> Question:
        """The question that layers on an accelerator were asked.

        Parameters
        ----------
        accelerator : Accelerator
            The accelerator, which fixes what its figures do not.
        alone : object
            The accelerator by itself.
        problems : tuple of Problem
            The problems of the layers; their objective is that of the question.
        """
        raise InputError(f"family {accelerator.family} has no questions of layers by themselves")
