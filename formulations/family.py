"""A family of accelerators, as far as documents go: how its designs and configurations are written
and read."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design, Metric

if TYPE_CHECKING:
    from ithaca.formulations.schema import Document


class Family(Protocol):
    """What a result needs of the family its designs belong to; a design names it by its ``family``.

    Fields of its models are fields of every result of the family; the configuration is the field
    ``tiling``.
    """

    def __hash__(self) -> int:
        return id(self)

    @property
    def head(self) -> type[Document]:
        """Model of what was asked, with the fields ``platform`` and ``objective`` of
        `ithaca.formulations.schema`."""

    @property
    def choice(self) -> type[Document]:
        """Model of which design a solution is of."""

    @property
    def tiling(self) -> Any:
        """Type of a configuration in documents: a model, or what pydantic can validate."""

    def head_fields(self, design: Design) -> Mapping[str, Any]:
        """The head's fields beside platform and objective, for any design of a result."""

    def choice_fields(self, design: Design) -> Mapping[str, Any]:
        """Which design it is."""
        return {}

    def tiling_fields(self, design: Design, configuration: Configuration) -> Mapping[str, Any]:
        """A configuration as documents state it."""

    def detail_fields(
        self, design: Design, configuration: Configuration
    ) -> Mapping[str, Mapping[str, Fraction]]:
        """What documents state beside the metrics, by the exact reference."""
        return {}

    def setting(self, head: Any) -> Any:
        """What all designs of a result share, read from its head; an `InputError` begins with the
        field."""

    def vocabulary(self, setting: Any) -> Mapping[str, Metric]:
        """The metrics that objectives and limits may speak of."""

    def design(self, setting: Any, choice: Any) -> Design:
        """The design that a document states; an `InputError` if there is none."""

    def configuration(self, design: Design, tiling: Any) -> Configuration:
        """The configuration that a document states, legal or not; an `InputError` begins with the
        field."""

    def unmet(self, design: Design) -> str:
        """What a configuration that breaks the design's own conditions is told."""
        return ""
