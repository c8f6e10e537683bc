"""Flow graphs of accelerators: components, supernodes, edges, and the intervals of a workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.files.documents import find_document, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted
from ithaca.files.reading import packaged_names
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.parsing import FUNCTIONS
from ithaca.formulations.flow.component import (
    Component,
    ComponentDocument,
    Format,
    formula,
    library,
    read_component,
)
from ithaca.formulations.hardware.documents import ALONE, Formula, Name
from ithaca.formulations.schema import Document, Number, Positive

#: The graphs that come with Ithaca; largest file of another (bytes), and its nesting.
PACKAGE, MAX_BYTES, MAX_DEPTH = "ithaca.formulations.flow.graphs", 1 << 20, 24


class EdgeDocument(Document):
    """From a port to a port, as ``dma.out -> buffer.in``."""

    of: str
    pipelined: bool = True


class NodeDocument(Document):
    """A component with its parameters, or a supernode."""

    of: Name | None = None
    parameters: dict[Name, Formula] = {}
    copies: Formula | None = None
    components: dict[Name, Annotated[NodeDocument, ALONE]] = {}
    edges: list[Annotated[EdgeDocument, ALONE]] = []


class TensorDocument(Document):
    """How a tensor's values are."""

    density: Formula = "1"
    zeros: Literal["random", "balanced"] = "random"
    bits: Formula
    format: str = "dense"
    index: Formula = "0"
    rows: Formula = "0"


class FeedDocument(Document):
    """What a port receives in an interval: in each step values of a shape, of a tensor."""

    of: str
    shape: Annotated[list[Formula], Field(min_length=1)]
    steps: Formula = "1"
    bursts: Formula = "1"


class IntervalDocument(Document):
    """What happens at a time, so many times one after the other."""

    repeat: Formula = "1"
    inputs: Annotated[dict[str, FeedDocument], Field(min_length=1)]


class GraphDocument(Document):
    """The fields of a flow graph."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    source: Annotated[str, Field(max_length=4000)] = ""
    megahertz: Positive | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    parameters: dict[Name, Number] = {}
    library: dict[Name, ComponentDocument] = {}
    tensors: Annotated[dict[Name, TensorDocument], Field(min_length=1)]
    components: Annotated[dict[Name, Annotated[NodeDocument, ALONE]], Field(min_length=1)]
    edges: list[Annotated[EdgeDocument, ALONE]] = []
    intervals: Annotated[dict[Name, IntervalDocument], Field(min_length=1)]


Port = tuple[str, str]
"""A component, by its whole name, and one of its ports."""


@dataclass(frozen=True)
class Node:
    """A component of a graph."""

    name: str
    """With the supernodes it stands in, such as ``pe.index``."""
    component: Component
    """What it is."""
    parameters: Mapping[str, Expression]
    """Those that are stated, over the graph's."""

    @property
    def group(self) -> str:
        """The supernode it stands in; empty for none."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class Edge:
    """A connection of two ports."""

    source: Port
    """The output port."""
    pipelined: bool
    """Whether its ends work at the same time, rather than one after the other."""


@dataclass(frozen=True)
class Tensor:
    """How a tensor's values are; expressions are over the graph's parameters."""

    density: Expression
    """Share of values that are not zero."""
    random: bool
    """Whether each value is zero by chance, rather than every step as often."""
    bits: Expression
    """Bits of a value."""
    format: Format
    """How it is stored."""
    index: Expression
    """Bits of a position."""
    rows: Expression
    """Rows of a step, for formats with pointers."""


@dataclass(frozen=True)
class Feed:
    """What a port receives in each of several steps."""

    tensor: Tensor
    """The tensor."""
    shape: tuple[Expression, ...]
    """Extents of the values of a step."""
    steps: Expression
    """Steps of an interval."""
    bursts: Expression
    """Transfers that a step's values come in."""


@dataclass(frozen=True)
class Interval:
    """What happens at a time."""

    repeat: Expression
    """How often, one after the other."""
    feeds: Mapping[Port, Feed]
    """What ports receive."""


@dataclass(frozen=True)
class FlowGraph:
    """An accelerator with a workload."""

    name: str
    """Its name."""
    source: str
    """Where its figures are from."""
    megahertz: Fraction | None
    """Its clock."""
    seed: int
    """Of the zeros that are drawn."""
    parameters: Mapping[str, Fraction]
    """Numbers that all expressions may speak of, with their defaults."""
    nodes: tuple[Node, ...]
    """Its components, each behind those that it receives data from."""
    edges: Mapping[Port, Edge]
    """By the port that an edge leads to."""
    copies: Mapping[str, Expression]
    """How many copies of each supernode there are in the one around it."""
    intervals: Mapping[str, Interval]
    """One after the other."""


def graph_names() -> tuple[str, ...]:
    """Names of the graphs that come with Ithaca."""
    return packaged_names(PACKAGE)


def find_graph(source: str | Mapping[str, Any]) -> FlowGraph:
    """A graph by its name, of a file, or of the same fields as a mapping.

    Raises `InputError`, one line that names the field, its value and what is allowed, if there is
    none.
    """
    if isinstance(source, Mapping):
        return read_graph(dict(source), "graph")
    return read_graph(*find_document("graph", source, PACKAGE, MAX_BYTES, depth=MAX_DEPTH))


def is_graph(source: object) -> bool:
    """Whether a source is a flow graph, rather than a workload."""
    if isinstance(source, str | Path) and str(source).lower().endswith((".yaml", ".yml")):
        path = Path(source)
        if not path.is_file():
            return False
        with path.open(errors="replace") as file:
            return "\nintervals:" in "\n" + file.read(MAX_BYTES)
    return isinstance(source, Mapping) or source in graph_names()


def read_graph(document: Any, where: object) -> FlowGraph:
    """The graph of a document; ``where`` begins error lines."""
    with errors_at(where):
        return _Reader(validated(GraphDocument, document, where)).graph()


@dataclass
class _Reader:
    """Reads a graph's document, supernode by supernode."""

    stated: GraphDocument
    nodes: dict[str, Node] = field(default_factory=dict)
    copies: dict[str, Expression] = field(default_factory=dict)
    edges: dict[Port, Edge] = field(default_factory=dict)

    def graph(self) -> FlowGraph:
        stated = self.stated
        if wrong := [name for name in stated.parameters if name in FUNCTIONS]:
            raise InputError(f"parameters has {quoted(wrong[0])}, a function; allowed: other names")
        known, self.formats = library()
        own = {
            name: read_component(name, each, f"library.{name}")
            for name, each in stated.library.items()
        }
        self.library = {**known, **own}
        self._group("", stated.components, stated.edges)
        tensors = {name: self._tensor(name, each) for name, each in stated.tensors.items()}
        intervals = {
            name: self._interval(f"intervals.{name}", each, tensors)
            for name, each in stated.intervals.items()
        }
        before = {name: list[str]() for name in self.nodes}
        for (sink, _), edge in self.edges.items():
            before[sink].append(edge.source[0])
        try:
            order = tuple(TopologicalSorter(before).static_order())
        except CycleError as circle:
            around = " → ".join(circle.args[1])
            raise InputError(f"edges go in a circle: {around}; allowed: no circle") from None
        return FlowGraph(
            stated.name,
            stated.source,
            stated.megahertz,
            stated.seed,
            stated.parameters,
            tuple(self.nodes[name] for name in order),
            self.edges,
            self.copies,
            intervals,
        )

    def _formula(self, text: str, where: str) -> Expression:
        return formula(text, where, list(self.stated.parameters))

    def _group(
        self, prefix: str, nodes: Mapping[str, NodeDocument], edges: list[EdgeDocument]
    ) -> None:
        """The components of a supernode; ``prefix`` begins their names."""
        at = "".join(f"components.{name}." for name in prefix.split(".")[:-1])
        for name, each in nodes.items():
            where, whole = f"{at}components.{name}", prefix + name
            if (each.of is None) == (not each.components) or (each.of is None and each.parameters):
                raise InputError(
                    f"{where} is neither; allowed: of, a component, with its parameters, or "
                    "components of a supernode, with copies and edges"
                )
            if each.of is None:
                self.copies[whole] = self._formula(each.copies or "1", f"{where}.copies")
                self._group(f"{whole}.", each.components, each.edges)
                continue
            if each.copies is not None or each.edges:
                raise InputError(f"{where} has copies or edges; allowed: those of supernodes")
            if each.of not in self.library:
                raise InputError(
                    f"{where} is {quoted(each.of)}, unknown{among(each.of, self.library)}"
                )
            component, parameters = self.library[each.of], dict[str, Expression]()
            for parameter, text in each.parameters.items():
                place = f"{where}.parameters.{parameter}"
                if parameter not in component.parameters:
                    raise InputError(f"{place} is unknown{among(parameter, component.parameters)}")
                parameters[parameter] = self._formula(text, place)
            needed = component.cycles.symbols.union(
                *(value.symbols for port in component.outputs.values() for value in port.values())
            )
            for parameter, default in component.parameters.items():
                if default is None and parameter in needed and parameter not in parameters:
                    raise InputError(
                        f"{where}.parameters.{parameter} is missing; allowed: a number, or an "
                        "expression over the graph's parameters"
                    )
            self.nodes[whole] = Node(whole, component, parameters)
        for place, edge in enumerate(edges):
            self._edge(edge, prefix, f"{at}edges[{place}]")

    def _edge(self, edge: EdgeDocument, prefix: str, where: str) -> None:
        ends = [end.strip() for end in edge.of.split("->")]
        if len(ends) != 2:
            raise InputError(f"{where} is {quoted(edge.of)}; allowed: NAME.PORT -> NAME.PORT")
        source = self._port(prefix + ends[0], where, inwards=False)
        sink = self._port(prefix + ends[1], where, inwards=True)
        if sink in self.edges:
            raise InputError(f"{where}: {ends[1]} has an edge already; allowed: one, or a mux")
        self.edges[sink] = Edge(source, edge.pipelined)

    def _port(self, text: str, where: str, *, inwards: bool) -> Port:
        name, _, port = text.rpartition(".")
        if name not in self.nodes:
            raise InputError(f"{where}: {quoted(name)} is no component{among(name, self.nodes)}")
        component = self.nodes[name].component
        ports = component.inputs if inwards else tuple(component.outputs)
        if port not in ports:
            raise InputError(f"{where}: {name} has no port {quoted(port)}{among(port, ports)}")
        return name, port

    def _tensor(self, name: str, each: TensorDocument) -> Tensor:
        where = f"tensors.{name}"
        if each.format not in self.formats:
            raise InputError(
                f"{where}.format is {quoted(each.format)}{among(each.format, self.formats)}"
            )
        density, bits, index, rows = (
            self._formula(getattr(each, part), f"{where}.{part}")
            for part in ("density", "bits", "index", "rows")
        )
        form, random = self.formats[each.format], each.zeros == "random"
        return Tensor(density, random, bits, form, index, rows)

    def _interval(
        self, where: str, each: IntervalDocument, tensors: Mapping[str, Tensor]
    ) -> Interval:
        feeds = {}
        for text, feed in each.inputs.items():
            at = f"{where}.inputs.{text}"
            port = self._port(text, at, inwards=True)
            if port in self.edges:
                raise InputError(f"{at} has an edge; allowed: ports without one")
            if feed.of not in tensors:
                raise InputError(f"{at}.of is {quoted(feed.of)}{among(feed.of, tensors)}")
            shape = tuple(
                self._formula(extent, f"{at}.shape[{n}]") for n, extent in enumerate(feed.shape)
            )
            steps, bursts = (
                self._formula(getattr(feed, part), f"{at}.{part}") for part in ("steps", "bursts")
            )
            feeds[port] = Feed(tensors[feed.of], shape, steps, bursts)
        return Interval(self._formula(each.repeat, f"{where}.repeat"), feeds)
