"""A mapping's statistics beside those that Timeloop printed of it (``.stats.txt``)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.numbers import rounded
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest
from ithaca.plugins.hierarchies.exports.timeloop.mapper import statistics_text
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

#: Counts that a file may be of.
KINDS = (TimeloopModel, FirstFillsModel, LinkedLanesModel)

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
    first_fills: bool = False
    """Whether outputs take fills for the first time, as versions of the tool until 2022 count."""
    neighbours: bool = False
    """Whether multipliers take words from their neighbours, as the tool counts unless told not
    to."""

    @property
    def failure(self) -> str:
        """The line on figures that differ; empty where none does."""
        return f"{self.summary} differ from {self.file}" if self.different else ""

    @property
    def summary(self) -> str:
        """The number of figures that differ, of those that both have, in words."""
        own = "first fills of outputs" if self.first_fills else "words of neighbouring multipliers"
        as_there = (
            f", {own} counted as the file does," if self.first_fills or self.neighbours else ""
        )
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
            "first_fills": self.first_fills,
            "neighbours": self.neighbours,
            "different": [
                {"part": part, "figure": field, "here": str(own), "file": str(other)}
                for part, field, own, other in self.different
            ],
            "not_counted": list(self.absent),
        }


def compared(point: SpatialPoint, path: Path) -> Comparison:
    """A mapping compared with a file of statistics: by the edition's counts, those of older
    versions, or those with words of neighbours, whichever differ less.

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
    return min(
        (_compared(point, path, theirs, kind) for kind in KINDS),
        key=lambda each: len(each.different),
    )


def _metrics(point: SpatialPoint, kind: type[TimeloopModel]) -> dict[str, Fraction]:
    """The metrics of a mapping by name, by one kind of model; of sparse tensors by theirs."""
    design, mapping = point.design, point.mapping
    sparse = isinstance(design.architecture.sparsity, Sparsity)
    model = SparseModel(design, mapping) if sparse else model_of(design, [mapping], kind)
    figures = {name: model.metric(name) for name in design.vocabulary}
    return {
        name: own if isinstance(own, Fraction) else Fraction(*next(iter(own.entries(1))))
        for name, own in figures.items()
    }


def _compared(
    point: SpatialPoint, path: Path, theirs: Statistics, kind: type[TimeloopModel]
) -> Comparison:
    design = point.design
    mapped = MappedNest(design.nest, design.architecture, point.mapping, _metrics(point, kind))
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
        kind is FirstFillsModel,
        kind is LinkedLanesModel,
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
