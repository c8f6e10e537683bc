"""Flow graphs of accelerators: components, supernodes, edges, and the intervals of a workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.files.documents import find_document, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, meant, quoted
from ithaca.files.numbers import counted
from ithaca.files.reading import is_there, packaged_names
from ithaca.formulations.algebra.expression import ONE, ZERO
from ithaca.formulations.documents import ALONE, Document, Name, Number, Positive
from ithaca.plugins.flow.formulations.component import (
    Component,
    Term,
    check_name,
    library,
    terms,
)
from ithaca.workloads.library import workload_names

#: The graphs that come with Ithaca; largest file of another (bytes), and its nesting.
PACKAGE, MAX_BYTES, MAX_DEPTH = "ithaca.plugins.flow.formulations.graphs", 1 << 20, 24


class Connection(Document):
    """A connection of two ports."""

    of: str
    """From an output port to an input port: ``dma.out -> buffer.in``."""
    pipelined: bool = True
    """Whether its ends work at the same time, rather than one after the other."""


class GraphNode(Document):
    """A component, or a supernode: a graph in the graph."""

    of: Name | None = None
    """The component."""
    parameters: dict[Name, Term] = Field(default_factory=dict)
    """Its parameters that are not as the library has them."""
    copies: Term = ONE
    """How many copies of a supernode there are in the one around it."""
    components: dict[Name, Annotated[GraphNode, ALONE]] = Field(default_factory=dict)
    """The components of a supernode."""
    edges: list[Annotated[Connection, ALONE]] = Field(default_factory=list)
    """The connections in it."""


class TensorData(Document):
    """The data of a tensor: types, zeros and storage."""

    density: Term = ONE
    """Share of values that are not zero."""
    zeros: Literal["random", "balanced"] = "random"
    """Whether values are zero by chance, or every step as often."""
    bits: Term
    """Bits of a value."""
    format: str = "dense"
    """How it is stored."""
    index: Term = ZERO
    """Bits of a position."""
    rows: Term = ZERO
    """Rows of a step, for formats with pointers."""


class Feed(Document):
    """The values that a port receives in each step of an interval."""

    of: str
    """The tensor."""
    shape: list[Term]
    """Extents of the values."""
    steps: Term = ONE
    """Steps of an interval."""
    bursts: Term = ONE
    """Transfers that a step's values come in."""


class TimeInterval(Document):
    """An interval of time: its repetitions, and the values that ports receive in it."""

    repeat: Term = ONE
    """How often, one after the other."""
    inputs: Annotated[dict[str, Feed], Field(min_length=1)]
    """The values that ports receive."""


class FlowGraph(Document):
    """An accelerator with a workload. All expressions are over its parameters."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    """Its name."""
    source: Annotated[str, Field(max_length=4000)] = ""
    """Where its figures are from."""
    megahertz: Positive | None = None
    """Its clock."""
    seed: Annotated[int, Field(ge=0)] = 0
    """The seed of the zeros that are drawn."""
    parameters: dict[Name, Number] = Field(default_factory=dict)
    """With their defaults."""
    library: dict[Name, Component] = Field(default_factory=dict)
    """Components of its own."""
    tensors: dict[Name, TensorData]
    """The tensors of the workload."""
    components: dict[Name, Annotated[GraphNode, ALONE]]
    """Components and supernodes."""
    edges: list[Annotated[Connection, ALONE]] = Field(default_factory=list)
    """The connections of these."""
    intervals: Annotated[dict[Name, TimeInterval], Field(min_length=1)]
    """One after the other."""

    def __repr__(self) -> str:
        return f"<FlowGraph {self.name}: {counted(len(self.order), 'component')}>"

    @cached_property
    def kinds(self) -> Mapping[str, Component]:
        """The kinds of components that the graph may have."""
        return {**library().components, **self.library}

    @cached_property
    def nodes(self) -> Mapping[str, GraphNode]:
        """Components and supernodes by their whole names, such as ``pe.index``."""
        return dict(_nodes(self.components, ""))

    @cached_property
    def sources(self) -> Mapping[str, tuple[str, bool]]:
        """The source of every input port with an edge: the output port, and whether the two are
        pipelined."""
        before: dict[str, tuple[str, bool]] = {}
        groups = {"": self.edges, **{f"{n}.": node.edges for n, node in self.nodes.items()}}
        for prefix, edges in groups.items():
            for place, edge in enumerate(edges):
                where = f"{self.path(prefix)}edges[{place}]"
                ends = [prefix + end.strip() for end in edge.of.split("->")]
                if len(ends) != 2:
                    raise InputError(f"{where} is {quoted(edge.of)}; allowed: A.PORT -> B.PORT")
                self._check_port(ends[0], where, inwards=False)
                self._check_port(ends[1], where, inwards=True)
                if ends[1] in before:
                    raise InputError(f"{where}: {ends[1]} has an edge already; allowed: a mux")
                before[ends[1]] = ends[0], edge.pipelined
        return before

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Components, each behind those that it receives data from."""
        before: dict[str, list[str]] = {name: [] for name, node in self.nodes.items() if node.of}
        for sink, (source, _) in self.sources.items():
            before[owner(sink)].append(owner(source))
        try:
            return tuple(TopologicalSorter(before).static_order())
        except CycleError as circle:
            raise InputError(
                f"edges go in a circle: {' → '.join(circle.args[1])}; allowed: no circle"
            ) from None

    def check(self) -> None:
        """Refuse a graph that names what does not exist."""
        for name, component in self.library.items():
            component.check(f"library.{name}")
        for where, term in terms(self.model_copy(update={"library": {}}), ""):
            for name in sorted(term.symbols):
                check_name(name, self.parameters, where)
        for name, tensor in self.tensors.items():
            check_name(tensor.format, library().formats, f"tensors.{name}.format")
        for name, node in self.nodes.items():
            self._check_node(node, self.path(f"{name}.").removesuffix("."))
        _ = self.order
        for name, interval in self.intervals.items():
            for port, feed in interval.inputs.items():
                where = f"intervals.{name}.inputs.{port}"
                self._check_port(port, where, inwards=True)
                check_name(feed.of, self.tensors, f"{where}.of")
                if port in self.sources:
                    raise InputError(f"{where} has an edge; allowed: ports without one")

    def _check_node(self, node: GraphNode, where: str) -> None:
        if (node.of is None) != bool(node.components):
            raise InputError(f"{where} is neither; allowed: a component, or those of a supernode")
        if node.of is not None:
            kind = self.kinds[check_name(node.of, self.kinds, where)]
            for name in node.parameters:
                check_name(name, kind.parameters, f"{where}.parameters.{name}")
            needed = kind.cycles.symbols.union(*(t.symbols for _, t in terms(kind.outputs, "")))
            for name in sorted(needed & kind.parameters.keys() - node.parameters.keys()):
                if kind.parameters[name] is None:
                    raise InputError(f"{where}.parameters.{name} is missing; allowed: a number")

    def _check_port(self, text: str, where: str, *, inwards: bool) -> None:
        known = [name for name, node in self.nodes.items() if node.of]
        kind = self.kinds[self.nodes[check_name(owner(text), known, where)].of or ""]
        check_name(text.rpartition(".")[2], kind.inputs if inwards else kind.outputs, where)

    @staticmethod
    def path(name: str) -> str:
        """The path in the document of a component, with a dot in the end."""
        return "".join(f"components.{part}." for part in name.split(".")[:-1])


def _nodes(nodes: Mapping[str, GraphNode], prefix: str) -> Iterator[tuple[str, GraphNode]]:
    for name, node in nodes.items():
        yield prefix + name, node
        yield from _nodes(node.components, f"{prefix}{name}.")


def owner(name: str) -> str:
    """The component of a port, or the supernode of a component; empty for none."""
    return name.rpartition(".")[0]


def graph_names() -> tuple[str, ...]:
    """Names of the graphs that come with Ithaca."""
    return packaged_names(PACKAGE)


def find_graph(source: str | Mapping[str, Any] | FlowGraph) -> FlowGraph:
    """A graph by its name, of a file, or of the same fields as a mapping.

    Raises `InputError`, one line that names the field, its value and what is allowed, if there is
    none.
    """
    document, where = (
        find_document("graph", source, PACKAGE, MAX_BYTES, depth=MAX_DEPTH)
        if isinstance(source, str)
        else (source, "graph")
    )
    with errors_at(where):
        graph = validated(FlowGraph, document, where)
        graph.check()
    return graph


def is_graph(source: object) -> bool:
    """Whether a source is a flow graph, rather than a workload; names near to a graph's are meant
    for graphs."""
    if isinstance(source, str) and source.lower().endswith((".yaml", ".yml")):
        if not is_there(source, Path.is_file):
            return False
        with Path(source).open(errors="replace") as file:
            return "\nintervals:" in "\n" + file.read(MAX_BYTES)
    if isinstance(source, str) and source not in workload_names():
        return bool(meant(source, graph_names()))
    return isinstance(source, Mapping | FlowGraph)
