"""A mapping's statistics beside those that Timeloop printed of it (``.stats.txt``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.numbers import rounded
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest
from ithaca.plugins.hierarchies.exports.timeloop.mapper import statistics_text
from ithaca.plugins.hierarchies.formulations.architecture import Level
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.halos import (
    DirectedModel,
    RestartedModel,
    SteppedModel,
)
from ithaca.plugins.hierarchies.formulations.mapping import Mapping
from ithaca.plugins.hierarchies.formulations.points import SpatialPoint, model_of
from ithaca.plugins.hierarchies.formulations.sparse.model import SparseModel
from ithaca.plugins.hierarchies.formulations.sparse.parts import Sparsity
from ithaca.plugins.hierarchies.formulations.statistics_files import (
    ENERGIES,
    WHOLE,
    Figure,
    Statistics,
    read_statistics,
    statistics,
)
from ithaca.plugins.hierarchies.formulations.timeloop import (
    FirstFillsModel,
    LinkedLanesModel,
    TimeloopModel,
)
from ithaca.results.view import Block, tabled

#: Names of counts that differ from the edition's, by the models that count so.
COUNTS: dict[type[TimeloopModel], str] = {
    FirstFillsModel: "first fills of outputs",
    LinkedLanesModel: "words of neighbouring multipliers",
    SteppedModel: "halos by the second trips of loops",
    RestartedModel: "halos as from 2022 to 2024",
    DirectedModel: "halos as until 2021",
}


@dataclass(frozen=True)
class Manner:
    """A way in which versions of the tool count."""

    kinds: tuple[type[TimeloopModel], ...] = ()
    """The models of its counts that differ from the edition's."""
    dearest: bool = False
    """Whether every access costs as much as a level's dearest action."""

    @cached_property
    def kind(self) -> type[TimeloopModel]:
        """The model of its counts."""
        return type("MannerModel", (*self.kinds, TimeloopModel), {})

    @property
    def words(self) -> str:
        """The names of counts that differ from the edition's; empty for its own."""
        prices = ["every access at a level's dearest price"] * self.dearest
        return " and ".join([*(COUNTS[kind] for kind in self.kinds), *prices])

    @property
    def halos(self) -> str:
        """The name of the halos' counts; empty for the edition's."""
        return next((COUNTS[each] for each in self.kinds if issubclass(each, SteppedModel)), "")

    def priced(self, design: SpatialDesign) -> SpatialDesign:
        """A design with the prices of this manner."""
        if not self.dearest:
            return design
        levels = tuple(map(_dearest, design.architecture.levels))
        return replace(design, architecture=replace(design.architecture, levels=levels))


def _dearest(level: Level) -> Level:
    """A level of which every access costs as much as the dearest."""
    price = max(level.prices.values())
    return replace(level, read_energy=price, write_energy=price, update_energy=price)


#: Manners that a file may be of: of today, of 2022, unless told not to link lanes, and until 2021;
#: then with halos as versions have them.
MANNERS = (
    Manner(),
    Manner((FirstFillsModel,)),
    Manner((LinkedLanesModel,)),
    Manner((FirstFillsModel,), dearest=True),
    Manner((SteppedModel,)),
    Manner((RestartedModel,)),
    Manner((RestartedModel, FirstFillsModel)),
    Manner((RestartedModel, LinkedLanesModel)),
    Manner((DirectedModel, FirstFillsModel)),
    Manner((DirectedModel, FirstFillsModel), dearest=True),
)

#: Rows that are printed of figures that differ; documents have all of them.
PRINTED = 20


@dataclass(frozen=True)
class Comparison:
    """Figures of a mapping beside those of a file."""

    file: str
    """The file."""
    both: int
    """How many figures both have."""
    different: tuple[tuple[str, str, Figure, Figure], ...]
    """Part, field and both figures, own ones first, of those that differ."""
    absent: tuple[str, ...]
    """Fields of the file that are not counted here."""
    manner: Manner = MANNERS[0]
    """How the file counts."""

    @property
    def failure(self) -> str:
        """The line on figures that differ; empty where none does."""
        return f"{self.summary} differ from {self.file}" if self.different else ""

    @property
    def summary(self) -> str:
        """The number of figures that differ, of those that both have, in words."""
        own = self.manner.words
        as_there = f", {own} counted as the file does," if own else ""
        return f"{len(self.different) or 'none'} of {self.both} figures{as_there}"

    @property
    def view(self) -> tuple[Block, ...]:
        """A table of what differs, and the number of figures compared."""
        rows = [
            [("part", part), ("figure", field), ("here", str(own)), ("file", str(other))]
            for part, field, own, other in self.different[:PRINTED]
        ]
        more = len(self.different) - PRINTED
        few, rest = (
            ", ".join(self.absent[:3]),
            " and others, which --json has" * (len(self.absent) > 3),
        )
        return (
            *((tabled(rows, {"part", "figure"}),) if rows else ()),
            *((f"and {more} more, which --json has",) if more > 0 else ()),
            *(() if rows else (f"{self.summary} differ from {self.file}",)),
            *((f"of the file not compared: {few}{rest}",) if few else ()),
        )

    @property
    def document(self) -> dict[str, Any]:
        """The comparison for JSON."""
        return {
            "file": self.file,
            "figures": self.both,
            "first_fills": FirstFillsModel in self.manner.kinds,
            "neighbours": LinkedLanesModel in self.manner.kinds,
            "halos": self.manner.halos,
            "dearest_prices": self.manner.dearest,
            "different": [
                {"part": part, "figure": field, "here": str(own), "file": str(other)}
                for part, field, own, other in self.different
            ],
            "not_counted": list(self.absent),
        }


def compared(point: SpatialPoint, path: Path) -> Comparison:
    """A mapping compared with a file of statistics: in the manner in which the fewest figures
    differ.

    Raises `InputError` if the file is no statistics, or of other levels.
    """
    theirs = read_statistics(path)
    levels = [level.name for level in point.design.architecture.levels]
    known = {*levels, point.design.architecture.compute.name}
    if others := sorted({part.partition(".")[0] for part, _ in theirs if " " not in part} - known):
        raise InputError(
            f"{path} is of another machine: it has {', '.join(others)}; allowed: statistics of "
            f"{', '.join(known)}"
        )
    tried = []
    for manner in MANNERS:
        tried.append(_compared(point, path, theirs, manner))
        if not tried[-1].different:
            break
    return min(tried, key=lambda each: len(each.different))


def _metrics(
    design: SpatialDesign, mapping: Mapping, kind: type[TimeloopModel]
) -> dict[str, Fraction]:
    """The metrics of a mapping by name, by one kind of model; of sparse tensors by theirs."""
    sparse = isinstance(design.architecture.sparsity, Sparsity)
    model = SparseModel(design, mapping, kind) if sparse else model_of(design, [mapping], kind)
    figures = {name: model.metric(name) for name in design.vocabulary}
    return {
        name: own if isinstance(own, Fraction) else Fraction(*next(iter(own.entries(1))))
        for name, own in figures.items()
    }


def _compared(point: SpatialPoint, path: Path, theirs: Statistics, manner: Manner) -> Comparison:
    design = manner.priced(point.design)
    metrics = _metrics(design, point.mapping, manner.kind)
    mapped = MappedNest(design.nest, design.architecture, point.mapping, metrics)
    ours = statistics(statistics_text(mapped))
    both = [place for place in ours if place in theirs]
    return Comparison(
        str(path),
        len(both),
        tuple(
            (*place, ours[place], theirs[place])
            for place in both
            if not ours[place].equals(theirs[place])
        ),
        tuple(dict.fromkeys(field for part, field in theirs if (part, field) not in ours)),
        manner,
    )


def beside(mapped: MappedNest, theirs: Statistics, file: str) -> tuple[Block, ...]:
    """A table of figures of the whole run of a mapping, and energies of its parts, beside those of
    another mapping.

    Parameters
    ----------
    mapped : MappedNest
        The mapping.
    theirs : Statistics
        Figures of the other one.
    file : str
        The file that they are from.
    """
    ours = statistics(statistics_text(mapped))
    places = [each for each in ours if each[0] in (WHOLE, ENERGIES) and each in theirs]
    rows = [
        [
            ("figure", f"{part}: {field}"),
            ("here", str(ours[part, field])),
            ("file", str(theirs[part, field])),
            ("file over here", _ratio(theirs[part, field], ours[part, field])),
        ]
        for part, field in places
    ]
    return (tabled(rows, {"figure"}, f"beside {file}"),)


def _ratio(over: Figure, under: Figure) -> str:
    return f"{rounded(over.value / under.value)} ×" if under.value else ""
