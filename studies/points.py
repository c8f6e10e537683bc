"""Answers with a configuration at every point, whatever computes them, and their titles."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ithaca.files.answer import StudyAnswer
from ithaca.files.numbers import counted
from ithaca.formulations.question import Question
from ithaca.formulations.target import Target
from ithaca.solver.certificate import Status, least
from ithaca.studies.grid import Cell, Index, StudyAxis
from ithaca.workloads.nest import LoopNest

#: Axes that say on what a study runs.
PLACES = ("platform", "arch", "architecture")


class PointAnswer(StudyAnswer):
    """The base of fronts and what-if studies."""

    source: str
    """The file it was read from, for messages."""

    @property
    @abstractmethod
    def statements(self) -> tuple[str, ...]:
        """The statements of the answer, one a line."""


class GridAnswer(PointAnswer):
    """The base of what-if studies: an answer at every point of a grid."""

    axes: tuple[StudyAxis, ...]
    """The quantities that were varied."""
    points: Mapping[Index, Any]
    """Every point of the grid, in its order."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The title for people: the question of the study."""

    @property
    @abstractmethod
    def objective(self) -> str:
        """The objective of every point, as text; ``objective`` where points differ."""

    @property
    @abstractmethod
    def cells(self) -> Mapping[Index, Cell]:
        """Value, proof and choice of every point."""

    def labels(self, index: Index) -> dict[str, str | int | float]:
        """The coordinates of a point by axis name.

        Examples
        --------
        >>> w = ithaca.whatif("mm", vary="dsp=5,40", i=4, j=4, k=4, dataflow="i,j")
        >>> w.labels((1,))
        {'dsp_limit': 40}
        """
        return {axis.name: axis.labels[i] for axis, i in zip(self.axes, index, strict=True)}

    @property
    def basis(self) -> str:
        return max((cell.basis for cell in self.cells.values()), key=len)

    @property
    def headline(self) -> str:
        known = Counter(cell.certificate.status.value for cell in self.cells.values())
        many = [f"{count:,} {status}" for status, count in known.items()]
        ended = self.status if len(known) == 1 else ", ".join(many)
        return f"{self.title}: {counted(len(self.points), 'point')} ({ended}{self.basis})"

    @property
    def status(self) -> str:
        """The least that is proven at any point: unknown, feasible or optimal; infeasible if that
        is proven of all."""
        known = {cell.certificate.status for cell in self.cells.values()}
        return least(known - {Status.INFEASIBLE} or known).value


def stated_terms(question: Question, nest: LoopNest) -> dict[str, str]:
    """The terms of a question about a nest by name, for titles and the attributes of a Dataset."""
    sizes = ",".join(f"{loop}={n}" for loop, n in nest.sizes.items())
    of_nest = {"workload": nest.name, "statement": str(nest), "sizes": sizes}
    return {**of_nest, **nest.labels, **question.of(nest).facts}


def places_text(axes: Sequence[StudyAxis], places: str) -> str:
    """The place of a study for its title, where an axis says it: its name, or that there are
    several."""
    stated = [axis.labels for axis in axes if axis.name in PLACES]
    return str(stated[0][0]) if stated and len(stated[0]) == 1 else f"several {places}"


def study_title(fixed: Mapping[str, str], several: str = "") -> str:
    """The title of a study by what is fixed; ``several`` says on what it runs where that varies."""
    stated = (fixed.get(name) for name in ("block_sparse", "format"))
    known = fixed.get("sizes", "").replace(",", ", "), *stated
    sentence = f"{fixed['workload']} ({'; '.join(filter(None, known))}) {fixed.get('dtype', '')}"
    title = (
        f"{' '.join(sentence.replace('()', '').split())}, "
        f"{fixed.get('platform', fixed.get('arch', several))}, "
    )
    title += f"{fixed['edition']} model edition" if "edition" in fixed else "several model editions"
    return title + (f", for {Target(fixed['for']).title}" if "for" in fixed else "")
