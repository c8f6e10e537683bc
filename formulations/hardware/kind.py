"""What hardware spaces need of the family that their accelerators are of: how files state one, what follows from figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
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

    def read(self, document: Any, where: object) -> Accelerator:
        """The accelerator that a file states. Raises `InputError`, which begins with ``where``."""

    def fields(self, accelerator: Any) -> dict[str, Any] | None:
        """An accelerator as such a document, whole; None if it is none of the family."""

    def completed(self, accelerator: Any, figures: Mapping[str, Figure]) -> Mapping[str, Figure]:
        """Figures with those that follow from them, such as energies of accesses from capacities."""

    def check(self, accelerator: Any, figure: str, value: Fraction) -> None:
        """Raise `InputError` if a figure cannot have a value."""

    def sized(self, accelerator: Any, figures: Mapping[str, Expression]) -> Mapping[str, Expression]:
        """What regressions of area and power are functions of, as far as the accelerator says (`silicon.Silicon.of`)."""
