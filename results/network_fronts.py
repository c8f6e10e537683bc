"""Fronts of networks: their documents and words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import counted
from ithaca.files.writing import SCHEMA
from ithaca.formulations.directions import goal
from ithaca.formulations.documents import Document, Number, Text
from ithaca.formulations.families import profile_of
from ithaca.results.consistency import check_once
from ithaca.results.files import check_same
from ithaca.results.network_parts import Count, Names, NetworkPart
from ithaca.results.schema import FirstPart
from ithaca.results.studies import front_document
from ithaca.results.study_explanation import front_lines, value_cell
from ithaca.results.study_files import read_front
from ithaca.results.view import View, tabled
from ithaca.solver.certificate import as_stated
from ithaca.studies.network.front import LayerFront, NetworkFront, check_sums
from ithaca.studies.network.totals import adds_up
from ithaca.workloads.networks.network import Layer

#: Most points of the table in terminals; ``--table`` and documents have all.
SHOWN = 20


class LayerFrontDocument(Document):
    """A layer, and its front."""

    name: Text
    count: Count
    sources: Names
    folded: Text | None = None
    front: dict[str, Any]


class NetworkFrontPointDocument(Document):
    """A point of a network's front: by layer the number of the point of its front."""

    values: dict[str, Number]
    choice: list[Annotated[int, Field(ge=0)]]


class NetworkFrontDocument(FirstPart):
    """A Pareto front of a network."""

    study: Literal["network-pareto"]
    network: NetworkPart
    objectives: list[str]
    complete: bool
    unfinished: str | None
    layers: Annotated[list[LayerFrontDocument], Field(min_length=1)]
    points: list[NetworkFrontPointDocument]


def network_front_document(front: NetworkFront) -> dict[str, Any]:
    """The document of ``ithaca pareto`` about a network."""
    names, network = [o.text for o in front.objectives], front.network
    fields = {
        "schema": SCHEMA,
        "study": "network-pareto",
        "network": {
            "name": network.name,
            "parameters": dict(network.parameters),
            "omissions": list(network.unsupported),
            "run": network.run,
        },
        "objectives": names,
        "complete": front.complete and front.share.whole,
        "unfinished": front.unfinished,
        "layers": [
            {
                "name": each.layer.name,
                "count": each.layer.count,
                "sources": each.layer.sources,
                "folded": each.layer.folded,
                "front": front_document(each.front),
            }
            for each in front.layers
        ],
        "points": [
            {"values": dict(zip(names, point.values, strict=True)), "choice": list(point.choice)}
            for point in front.points
        ],
    }
    return NetworkFrontDocument.model_validate(fields, from_attributes=True).as_json()


def read_network_front(document: Any, path: Path) -> NetworkFront:
    """The front that a document states: the fronts of its layers are read, and are to sum up to its
    points."""
    read = validated(NetworkFrontDocument, document, path)
    layers = []
    for place, each in enumerate(read.layers):
        with errors_at(path, f"layers[{place}].front."):
            front = read_front(each.front, path)
        nest = profile_of(front.problems[0].design).nest
        assert nest is not None
        layers.append(
            LayerFront(Layer(each.name, nest, each.count, each.sources, each.folded), front)
        )
    with errors_at(path):
        check_once("layer", [each.name for each in read.layers])
        objectives = layers[0].front.objectives
        terms = [(x.front.objectives, x.front.problems[0].limits, _terms(x)) for x in layers]
        for place, stated in enumerate(terms):
            if stated != terms[0]:
                raise InputError(f"layers[{place}].front is of another question: {EDITED}")
        check_sums(objectives)
        front_of_all = NetworkFront(read.network.network(layers), objectives, tuple(layers))
        check_same(document, network_front_document(front_of_all), "")
    return front_of_all


def _terms(each: LayerFront) -> dict[str, str]:
    """The terms of a layer's question that are those of the network's."""
    nest = profile_of(each.front.problems[0].design).nest
    own = {"workload", "statement", "sizes", "title", *({} if nest is None else nest.labels)}
    return {name: text for name, text in each.front.provenance.items() if name not in own}


# -- words and tables ------------------------------------------------------------------


def network_front_view(front: NetworkFront) -> View:
    """The view of a network's front: its proof, then its points, some of them if there are many."""
    many = counted(len(front.points), "point")
    among = f" among {front.among}" * bool(front.among)
    known = f"complete: {many}, and no other vector of totals is on the front{among}{front.basis}"
    if not front.complete:
        known = (
            f"partial ({front.unfinished}): {many} that networks reach{front.basis}; "
            "others may be better"
        )
    view: list[Any] = [front.title, known]
    if front.points:
        view.append(tabled(_shown_rows(front), ()))
    if len(front.points) > SHOWN:
        view.append(f"{SHOWN} of {many} are shown, evenly; --table and -o have all")
    if most := [o.text for o in front.objectives if not adds_up(o)]:
        view.append(f"{', '.join(most)}: the most that one of the layers takes")
    return tuple(view)


def _shown_rows(front: NetworkFront) -> list[list[tuple[str, str]]]:
    """Heading and cell of every column of the points that are shown, the ends among them."""
    many, design = len(front.points), front.layers[0].front.problems[0].design
    some = range(many) if many <= SHOWN else [n * (many - 1) // (SHOWN - 1) for n in range(SHOWN)]
    texts = [objective.text for objective in front.objectives]
    return [
        [
            ("point", f"{place + 1:,}"),
            *(
                value_cell(t, v, design)
                for t, v in zip(texts, front.points[place].values, strict=True)
            ),
        ]
        for place in some
    ]


def network_front_statements(front: NetworkFront) -> tuple[str, ...]:
    """Statements, one a line: the points of the front, and the price of one objective in terms of
    another."""
    texts = [objective.text for objective in front.objectives]
    points = [(f"point {n}", point.values) for n, point in enumerate(front.points, start=1)]
    lines = front_lines(texts, points) if points else [f"No point: {front.failure}."]
    many = f"{counted(len(points), 'point')} ({front.status}{front.basis}{as_stated(front)})"
    counts = ", ".join(f"{x.layer.name} {len(x.front.points)}" for x in front.layers)
    return (
        f"Front: {front.title}, {goal(texts)}; {many}.",
        f"Counted: {front.share.statement}.",
        *lines,
        f"Layers: points of their own fronts: {counts}.",
    )
