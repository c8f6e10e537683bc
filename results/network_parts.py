"""The documents that networks of all families share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted
from ithaca.formulations.data_models import PAIRS, built
from ithaca.formulations.documents import Document, Number, Text
from ithaca.formulations.problem import Objective, Problem, read_objective
from ithaca.results.files import read_shortfalls, read_solution
from ithaca.results.schema import FirstPart
from ithaca.solver.certificate import Certificate
from ithaca.solver.documents import ProofDocument, ShortfallDocument, check_certificate
from ithaca.solver.solution import Solution
from ithaca.studies.network.front import LayerFront
from ithaca.studies.network.result import (
    Edge,
    Failure,
    Fusing,
    LayerResult,
    NetworkResult,
    Total,
)
from ithaca.workloads.networks.network import LayerRun, Network, Omission, OmissionKind, Part, Run

Names = Annotated[tuple[str, ...], Field(strict=False)]

Count = Annotated[int, Field(ge=1, le=10**9)]

Words = Annotated[int, Field(ge=0, le=10**18)]


class OmissionDocument(Document):
    """Operations that are no layer."""

    operator: Text
    count: Count
    kind: Annotated[OmissionKind, Field(strict=False)]
    operations: Annotated[int, Field(ge=0)] | None = None


class LayerRunDocument(Document):
    """A layer of the network's own, where it runs."""

    source: Text
    count: Count
    follows: bool = False


class RunPart(Document):
    """The phase of a model that one run is (see `ithaca.workloads.networks.network.Run`)."""

    phase: Text
    batch: Count
    tokens: Count
    weights: Words
    read: Words
    cache: Words = 0


class PartDocument(Document):
    """A network among several that one machine runs, and how often."""

    name: Text
    runs: Count
    parameters: Annotated[dict[str, int], PAIRS] = Field(default_factory=dict)
    run: RunPart | None = None


class NetworkPart(Document):
    """The network of the layers, and the order they run in where that matters."""

    name: Text
    parameters: dict[str, int]
    omissions: list[OmissionDocument]
    order: list[LayerRunDocument] = Field(default_factory=list)
    run: RunPart | None = None
    parts: list[PartDocument] = Field(default_factory=list)

    def network(self, results: Iterable[LayerResult | LayerFront]) -> Network:
        """The network, of these layers. Raises `InputError` if the order has others."""
        layers = tuple(result.layer for result in results)
        omissions = tuple(built(Omission, each) for each in self.omissions)
        parameters = tuple(self.parameters.items())
        nests = {source: layer.nest for layer in layers for source in layer.sources}
        for run in self.order:
            if run.source not in nests:
                raise InputError(
                    f"network.order: {quoted(run.source)} is no source of a "
                    "layer; allowed: those of layers"
                )
        order = tuple(
            LayerRun(run.source, nests[run.source], run.count, run.follows) for run in self.order
        )
        return Network(
            self.name,
            layers,
            unsupported=omissions,
            parameters=parameters,
            order=order,
            run=None if self.run is None else built(Run, self.run),
            parts=tuple(built(Part, each) for each in self.parts),
        )


class NetworkHead(FirstPart):
    """The first fields of networks' documents."""

    study: Literal["network"]
    mode: Text
    network: NetworkPart
    finished: bool | None = None
    """Whether all was searched as far as it was asked for, where it is not complete."""


class CountedDocument(Document):
    """The counted share of the arithmetic."""

    operations: Number
    share: Number | None = None
    """The share in all multiply-accumulates; None where these are not all known."""
    left_out: Number = Fraction(0)
    uncounted: Names = ()


class ProvenDocument(Document):
    """A value, and what is proven of it."""

    value: Number | None
    certificate: ProofDocument | None


class TotalPart(CountedDocument, ProvenDocument):
    """The first fields of what a whole network takes."""

    latency: Number | None


class EdgeDocument(Document):
    """A layer that reads just what the one before wrote."""

    producer: Text
    consumer: Text
    words: Annotated[int, Field(ge=1)]
    kept: bool
    fits: bool = True
    tile: Annotated[int, Field(ge=0)] = 0


class FusingDocument(Document):
    """The tensors that stay on chip between layers, and the network's total where none do."""

    edges: list[EdgeDocument]
    value: Number | None
    certificate: ProofDocument

    def fusing(self) -> Fusing:
        """The edges and the total without fusing, as the fields state them."""
        without = Total(
            self.value, read_certificate(self.certificate, self.value, "fusing.certificate")
        )
        return Fusing(tuple(Edge(**dict(edge)) for edge in self.edges), without)


class FailureDocument(Document):
    """A problem that could not be solved."""

    place: str
    reason: str


class DesignShortfallDocument(ShortfallDocument):
    """A limit that a design cannot meet."""

    design: Text


def read_layer_objective(read: Any, metrics: Collection[str]) -> Objective:
    """The objective of each run that a document states."""
    if read.layer_objective is None:
        return read_objective(read.objective, "objective", metrics)
    return read_objective(read.layer_objective, "layer_objective", metrics)


def read_layers(
    documents: Sequence[Any], read: Callable[[Any], LayerResult]
) -> tuple[LayerResult, ...]:
    """The layers of a document; errors say which it is."""
    layers = []
    for index, document in enumerate(documents):
        with errors_at(f"layers[{index}]"):
            layers.append(read(document))
    return tuple(layers)


def read_result(
    read: Any, request: Any, layers: tuple[LayerResult, ...], **more: Any
) -> NetworkResult:
    """The result that a document states.

    Parameters
    ----------
    read : Document
        The document.
    request : Question
        What it says was asked.
    layers : tuple of LayerResult
        Its layers.
    **more
        Further fields of the result.

    Returns
    -------
    NetworkResult
        The result.

    Raises
    ------
    InputError
        Naming the place, if its parts contradict each other.
    """
    total, proof = None, read.total.certificate
    if proof is not None:
        own = read_certificate(proof, read.total.value, "total.certificate")
        total = Total(read.total.value, own)
    return NetworkResult(
        read.mode,
        read.network.network(layers),
        request,
        read.method,
        layers,
        total,
        read.complete if read.finished is None else read.finished,
        failures=tuple(Failure(failure.place, failure.reason) for failure in read.failures),
        fusing=None if read.fusing is None else read.fusing.fusing(),
        **more,
    )


def read_answer(read: Any, problem: Problem, tiling: Any) -> Solution:
    """The answer that a document states of a layer's problem (see `read_solution`).

    Parameters
    ----------
    read : object
        The part of a validated document that states certificate and shortfalls.
    problem : Problem
        The layer's problem.
    tiling : object
        The configuration as the family's documents state it; None if there is none.

    Raises
    ------
    InputError
        If the document states what is false of the problem.
    """
    certificate = read_certificate(read.certificate, read.value, "certificate")
    known = read_shortfalls(read.shortfalls, problem.limits, "shortfalls", problem.design.name)
    return read_solution(problem, tiling, certificate, "best", known)


def read_certificate(read: ProofDocument, value: Fraction | None, at: str) -> Certificate:
    """The certificate that a document states.

    Parameters
    ----------
    read : ProofDocument
        Its fields.
    value : Fraction or None
        The value that it is about.
    at : str
        Place in the document.

    Returns
    -------
    Certificate
        The certificate.

    Raises
    ------
    InputError
        If the value contradicts it.
    """
    certificate = read.certificate()
    check_certificate(certificate, value, at)
    return certificate
