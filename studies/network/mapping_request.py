"""What a network is mapped onto a memory hierarchy for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.question import Minimise
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.mapping_space import MappingOptions
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY
from ithaca.studies.network.problems import LayerProblems
from ithaca.workloads.networks.network import Network


@dataclass(frozen=True)
class MappingRequest:
    """What a network is mapped for: like `ithaca.studies.network.problems.NetworkRequest`, of
    memory hierarchies."""

    architecture: Architecture
    """As it is written: what it keeps is named by role, perhaps."""
    edition: str
    """Edition of the model."""
    options: MappingOptions
    """Which mappings are allowed."""
    limits: tuple[Limit, ...]
    """Upper limits on metrics of every layer."""
    objective: Objective
    """What is minimised, of each run of a layer."""
    posed: tuple[Problem, ...]
    """The problem of every layer, in the order of the network."""
    arrays: int = 1
    minimise: Minimise = Minimise.TOTAL

    @property
    def platform(self) -> Platform:
        """A name for it."""
        return Platform(
            self.architecture.name, self.architecture.description, DEFAULT_TECHNOLOGY, {}
        )

    @property
    def title(self) -> str:
        """What runs, for people."""
        return "mapped"

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What runs, as terms with values."""
        return ()

    @property
    def model(self) -> str:
        """The model edition, for people."""
        return self.edition

    def minimising(self, objective: Objective) -> MappingRequest:
        """The same with another objective."""
        posed = tuple(replace(problem, objective=objective) for problem in self.posed)
        return replace(self, objective=objective, posed=posed)

    def pose(self, network: Network) -> tuple[LayerProblems, ...]:
        """One problem per layer."""
        return tuple(
            LayerProblems(layer, (problem,))
            for layer, problem in zip(network.layers, self.posed, strict=True)
        )
