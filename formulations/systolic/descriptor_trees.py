"""The loop trees of a published design description.

Each module of a description states its schedule as a tree of loops, marks (such as ``array``,
below which one array tile is handled), conditionals, blocks, calls and transfers of array tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from ithaca.formulations.algebra.expression import ONE, Expression, add
from ithaca.formulations.documents import Field
from ithaca.formulations.systolic.descriptor_quantities import Vocabulary, product

#: Bounds that no published tree comes near (levels; nodes).
MAX_DEPTH, MAX_NODES = 100, 10_000


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of ``trips`` iterations."""

    trips: Expression
    child: Node


@dataclass(frozen=True, slots=True)
class Mark:
    """A named place; below ``simd`` everything happens at once."""

    content: str
    child: Node


@dataclass(frozen=True, slots=True)
class Branch:
    """A conditional; the first alternative states the cost."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Things done one after the other."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A statement, opaque to the model."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The transfer of an array tile: its words, those of its last dimension, its data pack."""

    size: Expression
    last: Expression
    pack: str


Node: TypeAlias = Loop | Mark | Branch | Block | Call | Transfer


@dataclass(frozen=True, slots=True)
class Spine:
    """A tree without side branches, as the trees of I/O modules are.

    Attributes
    ----------
    above : tuple of Expression
        Trips of the loops above the mark ``array``, outermost first; empty without the mark.
    below : tuple of Expression
        Trips of all other loops.
    leaf : Node
        What they end in.
    """

    above: tuple[Expression, ...]
    below: tuple[Expression, ...]
    leaf: Node

    @property
    def trips(self) -> Expression:
        """How often the leaf is reached."""
        return product(*self.above, *self.below)


def read_tree(field: Field, names: Vocabulary) -> Node:
    """Read a loop tree.

    Raises
    ------
    InputError
        If it is malformed or unreasonably large.
    """
    nodes = count(1)

    def read(field: Field, depth: int) -> Node:
        if depth > MAX_DEPTH or next(nodes) > MAX_NODES:
            field.refuse(f"a tree of at most {MAX_DEPTH} levels and {MAX_NODES} nodes")
        kind = field["type"].text()
        match kind:
            case "for":
                bounds = list(field["bounds"])
                if len(bounds) != 2:
                    field["bounds"].refuse("two bounds")
                trips = names.expression(bounds[1])
                if bounds[0].text().strip() != "0":
                    bounds[0].refuse("'0'")
                return Loop(trips, read(field["child"], depth + 1))
            case "mark":
                return Mark(field["content"].text(), read(field["child"], depth + 1))
            case "if" | "block":
                children = tuple(read(child, depth + 1) for child in field["child"])
                if not children:
                    field["child"].refuse("a list of one or more nodes")
                return Branch(children) if kind == "if" else Block(children)
            case "user":
                field["child"]["user_expr"].text()
                return Call()
            case "array_tile":
                field["ele_size"].positive()
                pack, _ = names.pack(field["data_pack_factor"])
                return Transfer(names.expression(field["size"]), names.expression(field["last_dim"]), pack)
        return field["type"].refuse("for, mark, if, block, user, array_tile")

    return read(field, 0)


def spine(node: Node, field: Field) -> Spine:
    """Take a tree without side branches apart; ``field`` names it in messages."""
    above: list[Expression] = []
    trips: list[Expression] = []
    while not isinstance(node, Block | Call | Transfer):
        match node:
            case Loop():
                trips.append(node.trips)
                node = node.child
            case Mark():
                if node.content == "array":
                    above, trips = [*above, *trips], []
                node = node.child
            case Branch():
                node = node.children[0]
    if has_loops(node):
        field.refuse("a tree whose blocks contain no loops")
    return Spine(tuple(above), tuple(trips), node)


def above_array(node: Node, field: Field) -> tuple[tuple[Expression, ...], Node]:
    """Trips of the loops above the mark ``array``, and the tree of one array tile."""
    loops: list[Expression] = []
    marked = False
    while not marked:
        match node:
            case Loop():
                loops.append(node.trips)
                node = node.child
            case Mark():
                marked = node.content == "array"
                node = node.child
            case _:
                field.refuse("loops over tiles and the mark 'array' below them")
    while isinstance(node, Mark) and node.content != "simd":
        node = node.child
    return tuple(loops), node


def has_loops(node: Node) -> bool:
    """Whether a tree takes more than one step."""
    match node:
        case Loop():
            return True
        case Mark():
            return node.content != "simd" and has_loops(node.child)
        case Branch():
            return has_loops(node.children[0])
        case Block():
            return any(has_loops(child) for child in node.children)
    return False


def steps(node: Node) -> Expression:
    """Cycles of a tree: a step per innermost iteration, and one per loopless part beside a loop."""
    match node:
        case Loop():
            return node.trips * steps(node.child)
        case Mark():
            return ONE if node.content == "simd" else steps(node.child)
        case Branch():
            return steps(node.children[0])
        case Block():
            if has_loops(node):
                return add(*(steps(child) for child in node.children))
    return ONE
