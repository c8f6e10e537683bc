"""What hardware spaces need of the family that their accelerators are of: how files state one, what
follows from figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.hardware.accelerator import Accelerator
from ithaca.formulations.hardware.quantities import Figure
from ithaca.formulations.schema import Document


class AcceleratorKind(Protocol):
    """How spaces state the accelerators of a family."""

    @property
    def document(self) -> type[Document]:
        """Model of what files say of them beside what all spaces say."""

    @property
    def tags(self) -> Collection[str]:
        """YAML tags in it."""
        return ()

    def read(self, document: Any, where: object) -> Accelerator:
        """The accelerator that a file states. Raises `InputError`, which begins with ``where``."""

    def fields(self, accelerator: Any) -> dict[str, Any] | None:
        """An accelerator as such a document, whole; None if it is none of the family."""

    def completed(
        self, accelerator: Any, figures: Mapping[str, Figure]
    ) -> tuple[Accelerator, Mapping[str, Figure]]:
        """The accelerator of a space with such figures, and those that follow from them, too:
        energies from capacities, say."""
        return accelerator, figures

    def energies(self, accelerator: Any, path: Path) -> Mapping[str, Fraction]:
        """Figures by an ERT file of Accelergy's. Raises `InputError` if it is none, or says nothing
        of the accelerator."""

    def areas(self, accelerator: Any, path: Path) -> Mapping[str, Fraction]:
        """Areas of an instance by part (µm²), by an ART file of Accelergy's. Raises `InputError`
        likewise."""

    def check(self, accelerator: Any, figure: str, value: Fraction) -> None:
        """Raise `InputError` if a figure cannot have a value."""
        return

    def sized(
        self, accelerator: Any, figures: Mapping[str, Expression]
    ) -> Mapping[str, Expression]:
        """What regressions of area and power are functions of, as far as the accelerator says
        (`silicon.Silicon.of`)."""
        return {}
