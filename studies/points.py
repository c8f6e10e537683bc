"""Answers with a configuration at every point, whatever computes them."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ithaca.files.answer import StudyAnswer
from ithaca.files.numbers import counted
from ithaca.solver.certificate import Status, least
from ithaca.studies.grid import Cell, Index, StudyAxis


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
    def cells(self) -> Mapping[Index, Cell]:
        """Value, proof and choice of every point."""

    def labels(self, index: Index) -> dict[str, str | int | float]:
        """The coordinates of a point by axis name."""
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
