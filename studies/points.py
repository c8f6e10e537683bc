"""Answers with a configuration at every point, whatever computes them."""

from __future__ import annotations

from abc import abstractmethod

from ithaca.files.answer import StudyAnswer


class PointAnswer(StudyAnswer):
    """The base of fronts and what-if studies."""

    source: str
    """The file it was read from, for messages."""

    @property
    @abstractmethod
    def statements(self) -> tuple[str, ...]:
        """The statements of the answer, one a line."""
