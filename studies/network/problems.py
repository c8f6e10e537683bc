"""What is asked of a network, and the problems that it poses: every layer under every design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.data_types import DataType
from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.derivation import choose_designs
from ithaca.formulations.systolic.design import SpaceOptions, systolic_problem
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.workloads.networks.network import Layer, Network


@dataclass(frozen=True)
class NetworkRequest:
    """What a network is solved for."""

    data: DataType
    """The type of all tensors."""
    platform: Platform
    """The device."""
    limits: tuple[Limit, ...]
    """Upper limits on metrics: the platform's, and those that replace or extend them."""
    objective: Objective
    """What is minimised, of each run of a layer."""
    edition: Edition = Edition.EXACT
    """Statement of the cost model."""
    dataflow: tuple[str, ...] | None = None
    """The dataflow of every layer; None for all."""
    permutation: str | None = None
    """The permutation of every layer; None for all."""
    include_unbuildable: bool = False
    """Whether to consider designs that HLS cannot build."""
    space: SpaceOptions = field(default_factory=SpaceOptions)
    """Restrictions of the design space."""
    arrays: int = 1
    """How many arrays share the budget."""
    minimise: Minimise = Minimise.TOTAL
    """What of several arrays is minimised."""
    shares: Mapping[str, Fraction] = field(default_factory=dict)
    """Sizes of what arrays take whole shares of, DSP blocks and block RAM; of a bandwidth, which
    each has to itself."""

    @property
    def title(self) -> str:
        """What runs, for people."""
        return self.data.name

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What runs, as terms with values."""
        return (("data type", self.title),)

    @property
    def model(self) -> str:
        """The model edition, for people."""
        return self.edition.value

    def minimising(self, objective: Objective) -> NetworkRequest:
        """The same with another objective."""
        return replace(self, objective=objective)

    def pose(self, network: Network) -> tuple[LayerProblems, ...]:
        """One problem per layer and design.

        Raises `InputError` if a layer has no such dataflow or permutation, or no design that can be
        built, or the platform does not know a metric.
        """
        setting = (self.data, self.limits, self.objective, self.space, self.technology)
        posed = []
        for layer in network.layers:
            try:
                designs = choose_designs(
                    layer.nest,
                    self.edition,
                    self.dataflow,
                    self.permutation,
                    include_unbuildable=self.include_unbuildable,
                    target=self.space.target,
                    sums=self.platform.technology.machine.sums,
                )
            except InputError as error:
                raise InputError(
                    f"layer {layer.name}: {error}; --layers leaves layers out"
                ) from None
            problems = (systolic_problem(layer.nest, array, *setting) for array in designs)
            posed.append(LayerProblems(layer, tuple(problems)))
        posed[0].problems[0].symbolic()  # refuses a metric that the platform does not know
        return tuple(posed)

    @property
    def technology(self) -> Technology:
        """Clock of the platform, and energies of its own or of the data type."""
        return self.data.on(self.platform)


@dataclass(frozen=True)
class LayerProblems:
    """A layer, and its problem under each design, in the order of dataflows and permutations."""

    layer: Layer
    problems: tuple[Problem, ...]


def only_layers(network: Network, patterns: Sequence[str]) -> Network:
    """A network reduced to the layers that some patterns name; without patterns the network itself.

    Patterns are names of layers or of their kernels, with ``*``, ``?`` and ``[…]`` as in file
    names, e.g. ``conv3_*``.

    Raises `InputError` if a pattern matches no layer.
    """
    if not patterns:
        return network
    kept: set[int] = set()
    for pattern in patterns:
        hits = {
            index
            for index, layer in enumerate(network.layers)
            if fnmatchcase(layer.name, pattern) or fnmatchcase(layer.nest.name, pattern)
        }
        if not hits:
            kernels = ", ".join(dict.fromkeys(layer.nest.name for layer in network.layers))
            names = ", ".join(layer.name for layer in network.layers)
            raise InputError(
                f"--layers: {quoted(pattern)} is no layer of {network.name}; "
                f"allowed: kernels {kernels}; layers {names}"
            )
        kept |= hits
    return replace(
        network, layers=tuple(layer for index, layer in enumerate(network.layers) if index in kept)
    )


def common_designs(
    network: Network, request: NetworkRequest, mode: str
) -> list[tuple[Problem, ...]]:
    """One problem per layer for every design that all layers have.

    Raises `InputError` if the layers are not of one kernel (see
    `ithaca.workloads.networks.folding`), or have no design in common.
    """
    kernels = list(dict.fromkeys((layer.nest.name, layer.nest.loops) for layer in network.layers))
    if len(kernels) > 1:
        names = ", ".join(dict.fromkeys(name for name, _ in kernels))
        raise InputError(
            f"--mode {mode} needs layers of one kernel, or that can be folded into "
            f"one, but {network.name} has {names}; "
            "select with --layers"
        )
    each = [{p.design.name: p for p in part.problems} for part in request.pose(network)]
    shared = [name for name in each[0] if all(name in own for own in each)]
    if not shared:
        raise InputError(
            f"the layers of {network.name} have no design in common; see --dataflow and --layers"
        )
    return [tuple(own[name] for own in each) for name in shared]
