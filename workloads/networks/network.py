"""Networks: loop nests with multiplicities, and the operations that have none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from math import prod

from ithaca.files.errors import InputError
from ithaca.files.messages import among
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.share import Share


class OmissionKind(Enum):
    """The reason why an operation of a network is no layer."""

    UNSUPPORTED = "unsupported"
    """Arithmetic that an array could do, but no loop nest here describes it."""
    ELEMENTWISE = "elementwise"
    """A few operations per element (activations, normalisation, pooling, sums): not modelled."""
    MOVEMENT = "movement"
    """No arithmetic: shapes are changed or data moved."""
    DESELECTED = "deselected"
    """Layers that were not asked for."""

    @property
    def multiplies(self) -> bool:
        """Whether multiply-accumulates are left out."""
        return self in (OmissionKind.UNSUPPORTED, OmissionKind.DESELECTED)


@dataclass(frozen=True, slots=True)
class Omission:
    """Operations of a network that are not among its layers."""

    operator: str
    """Type of the operations, by its name in ONNX."""
    count: int
    """How many of them the network has."""
    kind: OmissionKind
    """Whether arithmetic is missing, and how much."""
    reason: str = ""
    """Why they are not modelled; empty where the kind says it all."""
    sources: tuple[str, ...] = ()
    """Their names in the network; empty where it does not name them."""
    operations: int | None = None
    """Multiply-accumulates of all of them; None where there are none to count, or where they cannot
    be counted."""

    def __post_init__(self) -> None:
        _check_count(f"operator {self.operator}", self.count)
        if self.operations is not None and not self.kind.multiplies:
            raise InputError(
                f"operator {self.operator}: operations of kind {self.kind.value} are "
                f"{self.operations}; allowed: none, as they are no multiply-accumulates"
            )

    def times(self, runs: int) -> Omission:
        """The operations of so many runs."""
        operations = None if self.operations is None else runs * self.operations
        return replace(self, count=runs * self.count, operations=operations)


@dataclass(frozen=True, slots=True)
class Layer:
    """One loop nest of a network, as often as the network runs it."""

    name: str
    """Name in the network; after merging that of the first member."""
    nest: LoopNest
    """The nest of one run."""
    count: int
    """How many times the network runs the nest: layers of this shape, times the images of a batch
    and the groups of a convolution where the nest has no loop for them."""
    sources: tuple[str, ...]
    """Names of the network's own layers that the nest stands for, in order of appearance."""
    folded: str | None = None
    """The kernel and sizes before it was folded into another kernel, if it was."""

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("name of a layer is empty; allowed: text")
        _check_count(f"layer {self.name}", self.count)
        if not self.sources:
            raise InputError(f"layer {self.name}: sources are empty; allowed: at least one name")

    @property
    def operations(self) -> int:
        """Multiply-accumulate operations of all runs."""
        return self.count * self.nest.operations


@dataclass(frozen=True, slots=True)
class LayerRun:
    """A layer of the network's own, where it runs; several may be one `Layer`."""

    source: str
    """Its name."""
    nest: LoopNest
    """The nest of one run."""
    count: int
    """Runs: images of a batch and groups of a convolution."""
    follows: bool = False
    """Whether it reads, as its first input, what the one before wrote, all of it and as it is, and
    nothing else reads that."""

    @property
    def written_words(self) -> int:
        """Words of what all its runs write."""
        return self.count * prod(self.nest.sizes[loop] for loop in self.nest.parallel_loops)


@dataclass(frozen=True, slots=True)
class Run:
    """A phase of a model that one run of its network is, and what the run finds in memory."""

    phase: str
    """Such as decode (a new position of every sequence), prefill (all of a prompt)."""
    batch: int
    """Sequences, or images, side by side."""
    tokens: int
    """New positions of each."""
    weights: int
    """Words of all weights."""
    read: int
    """Words of weights that the run reads."""
    cache: int = 0
    """Words that it keeps of earlier positions, new ones among them."""

    def __post_init__(self) -> None:
        for name in ("batch", "tokens", "weights"):
            _check_count(f"run: {name}", getattr(self, name))

    @property
    def rows(self) -> int:
        """New positions of all sequences."""
        return self.batch * self.tokens


#: What ends the name of a part in the names of its layers.
PART_ENDS = "/"


@dataclass(frozen=True, slots=True)
class Part:
    """A network, or a phase of a model, that one machine runs among others."""

    name: str
    """A name that the others do not have; the names of its layers begin with it."""
    runs: int
    """How often it runs."""
    parameters: tuple[tuple[str, int], ...] = ()
    """Its own sizes, as those of a network."""
    run: Run | None = None
    """The phase of a model that one run is."""

    def __post_init__(self) -> None:
        _check_count(f"network {self.name}", self.runs)

    def has(self, layer: Layer) -> bool:
        """Whether a layer is one of this part."""
        return layer.name.startswith(self.name + PART_ENDS)


@dataclass(frozen=True, slots=True)
class Network:
    """A network as an accelerator sees it.

    Examples
    --------
    >>> alexnet = ithaca.list_networks()[0]
    >>> [layer.name for layer in alexnet.layers][:3]
    ['conv1', 'conv2', 'conv3']
    """

    name: str
    """Name on the command line, or of the file."""
    layers: tuple[Layer, ...]
    """At least one, in order of first appearance."""
    description: str = ""
    """The source in words: what the network is and where its figures are published."""
    unsupported: tuple[Omission, ...] = ()
    """Everything else the network computes, arithmetic or not."""
    parameters: tuple[tuple[str, int], ...] = ()
    """Sizes the layers were made for, such as batch and sequence length."""
    order: tuple[LayerRun, ...] = ()
    """Its own layers in the order they run; empty where that is not known."""
    unordered: str = "it is no network file"
    """Why the order is not known, where it is not."""
    remarks: tuple[str, ...] = field(default=(), compare=False)
    """Lines on its file: the kind it is taken for, and faults that are tolerated."""
    run: Run | None = None
    """The phase of a model that it is; None where that is not known."""
    parts: tuple[Part, ...] = ()
    """The networks that it joins, where it is several."""

    def __repr__(self) -> str:
        return f"<Network {self.name}: {len(self.layers)} distinct layers>"

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("name of a network is empty; allowed: text")
        if not self.layers:
            raise InputError(f"network {self.name}: layers are empty; allowed: at least one layer")

    @property
    def operations(self) -> int:
        """Multiply-accumulate operations of all layers."""
        return sum(layer.operations for layer in self.layers)

    @property
    def share(self) -> Share:
        """The share of the network's multiply-accumulates that are those of the layers."""
        return share_of(self.operations, self.unsupported)

    def omissions(self, kind: OmissionKind) -> tuple[Omission, ...]:
        """The operations that are left out for one kind of reason.

        Examples
        --------
        >>> alexnet = ithaca.list_networks()[0]
        >>> [each.operator for each in alexnet.omissions(alexnet.unsupported[0].kind)]
        ['Bias', 'Relu', 'LRN', 'MaxPool', 'Softmax']
        """
        return tuple(omission for omission in self.unsupported if omission.kind is kind)


def share_of(counted: Fraction | int, omissions: Iterable[Omission]) -> Share:
    """The share of multiply-accumulates that are counted, beside what is left out."""
    missing = [omission for omission in omissions if omission.kind.multiplies]
    unknown = (omission.operator for omission in missing if omission.operations is None)
    left_out = sum(omission.operations or 0 for omission in missing)  # at least
    return Share(Fraction(counted), Fraction(left_out), tuple(dict.fromkeys(unknown)))


def merge(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    """Merge layers that compute the same nest.

    The result has one per distinct nest, in order of first appearance, named after its first
    member; counts are added and sources joined, so the operations of all layers together stay the
    same.
    """
    merged: dict[LoopNest, list[Layer]] = {}
    for layer in layers:
        merged.setdefault(layer.nest, []).append(layer)
    return tuple(
        Layer(
            members[0].name,
            nest,
            sum(member.count for member in members),
            tuple(source for member in members for source in member.sources),
        )
        for nest, members in merged.items()
    )


def chosen_parameters(
    where: object, defaults: Mapping[str, int], sizes: Mapping[str, int]
) -> dict[str, int]:
    """The parameters of a network: its own values, replaced by those that are asked for.

    Parameters
    ----------
    where : object
        The network, for error lines.
    defaults : mapping of str to int
        Its own values.
    sizes : mapping of str to int
        Values to take instead.

    Returns
    -------
    dict of str to int
        Every parameter of the network.

    Raises
    ------
    InputError
        If a name is no parameter of the network, or a value no positive integer.
    """
    for name, value in sizes.items():
        if name not in defaults:
            raise InputError(f"unknown size '{name}' of network {where}{among(name, defaults)}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(
                f"size '{name}' of network {where} is {value}; allowed: a positive integer"
            )
    return {name: sizes.get(name, value) for name, value in defaults.items()}


def _check_count(what: str, count: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"{what}: count is {count}; allowed: a positive integer")
