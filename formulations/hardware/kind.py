"""Kinds of accelerators: how hardware spaces state those of a family."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.documents import Document
from ithaca.formulations.hardware.accelerator import Accelerator
from ithaca.formulations.hardware.figure import Figure
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question


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
