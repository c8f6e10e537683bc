"""Answers that are layers of several workloads on one thing that was chosen."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from ithaca.files.answer import StudyAnswer
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.share import Share


class NetworksAnswer(StudyAnswer):
    """The base of answers that are layers of several workloads on one thing that was chosen.

    Later layers make of each kind its ``checks``, ``explanation``, ``page`` and ``exported`` files.
    """

    what: ClassVar[str]
    """The kind for messages, such as ``a network``."""
    source: str
    """The file it was read from, for messages."""

    @property
    @abstractmethod
    def networks(self) -> tuple[NetworkResult, ...]:
        """The layers of every workload, as `ithaca.network` answers."""

    @abstractmethod
    def network_of(self, layer: str | None) -> NetworkResult:
        """The workload that has a layer; without one the first. Raises `InputError` if there is
        none."""

    @property
    @abstractmethod
    def share(self) -> Share:
        """The share of all workloads' multiply-accumulates that the layers are."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether everything is proven, and nothing that multiplies is left out."""
