"""Timeloop's counts of a mapping, written anew from the rules of its model, for tests.

Nothing here is Ithaca's: `read_export` takes the YAML files of a folder as they are,
`read_published` a row that the real tool evaluated, and `count` follows these rules (link transfers
off), which `test_timeloop_rules.py` holds against such rows:

1. A level's tile of a tensor is its bounding box; a level's tiles fit its capacity, divided by its
  multiple buffering.
2. Of all temporal loops outside a level, those inside the innermost one that indexes a tensor cost
   nothing; loops of one trip do not exist. So a tile of T words is filled with T · n_1 ⋯ n_j words.
3. Along that loop j alone, what two neighbouring tiles share stays (a sliding window).
4. The next outer level that keeps the tensor reads what is filled, once for all lanes that want the
  same (multicast).
5. Outputs travel the other way, and are read back but for the first time.
6. Cycles are the trips of all temporal loops, or what a level's words take at its bandwidths.

Lanes may not take tiles from each other (``no_link_transfer``), which the tool otherwise allows.
``no_reuse`` of a temporal directive reloads a tile in every trip (2 and 3 do not hold there); of a
spatial one it loads every lane by itself (4 does not). Both follow the tool's source; the rows have
neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, prod

import yaml

#: Trips of loops, outermost first.
Loops = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Tensor:
    name: str
    ranks: tuple[tuple[tuple[str, int], ...], ...]
    """Dimension and coefficient of every term, by rank."""
    output: bool

    def indexed_by(self, dimension):
        return any(dimension == name for rank in self.ranks for name, _ in rank)

    def box(self, extents):
        return tuple(1 + sum(c * (extents[d] - 1) for d, c in rank) for rank in self.ranks)


@dataclass(frozen=True)
class Storage:
    name: str
    keeps: frozenset[str]
    loops: Loops
    capacity: int | None = None
    """Words of an instance that tiles may fill."""
    read_bandwidth: Fraction | None = None
    """Words per cycle of an instance; so is the next."""
    write_bandwidth: Fraction | None = None
    shared_bandwidth: Fraction | None = None
    no_reuse: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lanes:
    loops: Loops
    no_reuse: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Mapped:
    tensors: tuple[Tensor, ...]
    nodes: tuple[Storage | Lanes, ...]
    """Outermost first; the multipliers are inside all."""
    padded: Mapping[str, int]
    """Extents that the factors multiply to."""

    def inside(self, node):
        """Extents that a node and everything inside it cover."""
        extents = dict.fromkeys(self.padded, 1)
        for dimension, trips in (pair for found in self.nodes[node:] for pair in found.loops):
            extents[dimension] *= trips
        return extents

    def keepers(self, tensor):
        return [
            i for i, n in enumerate(self.nodes) if isinstance(n, Storage) and tensor.name in n.keeps
        ]


@dataclass
class Counts:
    """The counts of an instance of a level, by tensor."""

    reads: dict[str, int] = field(default_factory=dict)
    fills: dict[str, int] = field(default_factory=dict)
    updates: dict[str, int] = field(default_factory=dict)
    capacity: dict[str, int] = field(default_factory=dict)


@dataclass
class Statistics:
    levels: dict[str, Counts]
    compute_cycles: int
    cycles: int
    macs: int
    multipliers: int
    overfull: dict[str, tuple[int, int]]
    """Words needed and had, of levels whose tiles do not fit."""

    @property
    def utilization(self):
        return Fraction(self.macs, self.cycles * self.multipliers)


def count(mapped):
    levels = {node.name: Counts() for node in mapped.nodes if isinstance(node, Storage)}
    for tensor in mapped.tensors:
        for name, what, words in _moved(mapped, tensor):
            getattr(levels[name], what)[tensor.name] = words
    compute = prod(
        trips for node in mapped.nodes if isinstance(node, Storage) for _, trips in node.loops
    )
    lanes = prod(
        trips for node in mapped.nodes if isinstance(node, Lanes) for _, trips in node.loops
    )
    cycles, overfull = compute, {}
    for node in mapped.nodes:
        if isinstance(node, Storage):
            found = levels[node.name]
            read, written = (
                sum(found.reads.values()),
                sum(found.fills.values()) + sum(found.updates.values()),
            )
            limits = (
                (read, node.read_bandwidth),
                (written, node.write_bandwidth),
                (read + written, node.shared_bandwidth),
            )
            cycles = max(
                cycles, *(ceil(words / rate) for words, rate in limits if rate is not None), 0
            )
            needed = sum(found.capacity.values())
            if node.capacity is not None and needed > node.capacity:
                overfull[node.name] = needed, node.capacity
    return Statistics(levels, compute, cycles, prod(mapped.padded.values()), lanes, overfull)


def _moved(mapped, tensor):
    """Level, what is counted, and words of a tensor."""
    keepers = mapped.keepers(tensor)
    whole = prod(tensor.box(mapped.inside(keepers[0])))
    for parent, child in zip(keepers, [*keepers[1:], len(mapped.nodes)], strict=True):
        node, tile = mapped.nodes[parent], prod(tensor.box(mapped.inside(parent)))
        yield node.name, "capacity", tile
        moved = _fills(mapped, tensor, child) * _distinct(mapped, tensor, parent, child)
        if tensor.output:
            yield node.name, "updates", moved
            yield node.name, "reads", moved - whole
        else:
            yield node.name, "reads", moved
        if parent == keepers[0]:
            yield node.name, "fills", 0
        else:
            yield (
                node.name,
                "fills",
                _fills(mapped, tensor, parent) - (whole if tensor.output else 0),
            )
        if child < len(mapped.nodes):
            lanes = [n for n in mapped.nodes[parent:child] if isinstance(n, Lanes)]
            extents = mapped.inside(child)
            inner = prod(tensor.box(extents))
            for dimension, trips in (pair for found in lanes for pair in found.loops):
                extents[dimension] *= trips
            whole = whole * inner // prod(tensor.box(extents))


def _fills(mapped, tensor, child):
    """Words that an instance of a node is filled with; of the multipliers, what one takes."""
    temporal = [
        (index, position, dimension, trips)
        for index, node in enumerate(mapped.nodes[:child])
        if isinstance(node, Storage)
        for position, (dimension, trips) in enumerate(node.loops)
        if trips > 1
    ]
    if child == len(mapped.nodes):
        return prod(trips for *_, trips in temporal)
    node, extents = mapped.nodes[child], mapped.inside(child)
    box = list(tensor.box(extents))
    if tensor.name in node.no_reuse:
        return prod(box) * prod(trips for *_, trips in temporal)
    while temporal and not tensor.indexed_by(temporal[-1][2]):
        temporal.pop()
    if not temporal:
        return prod(box)
    index, position, dimension, trips = temporal.pop()
    step = prod(n for d, n in mapped.nodes[index].loops[position + 1 :] if d == dimension)
    step *= prod(n for found in mapped.nodes[index + 1 :] for d, n in found.loops if d == dimension)
    for rank, terms in enumerate(tensor.ranks):
        shift = sum(c for d, c in terms if d == dimension) * step
        if shift:
            width = box[rank]
            box[rank] = width + (trips - 1) * shift if shift < width else trips * width
    return prod(box) * prod(n for *_, n in temporal)


def _distinct(mapped, tensor, parent, child):
    """The number of different tiles that the children of one instance want, stage by stage."""
    found = 1
    for index in range(parent, child):
        node = mapped.nodes[index]
        if isinstance(node, Lanes):
            if tensor.name in node.no_reuse:
                found *= prod(trips for _, trips in node.loops)
            else:
                found *= _positions(tensor, node.loops, mapped.inside(index + 1))
    return found


def _positions(tensor, loops, inner):
    """Different positions of a tile over lanes; loops of the same dimension count outermost
    first."""
    steps, reach = [], dict(inner)
    for dimension, trips in reversed(loops):
        if trips > 1 and tensor.indexed_by(dimension):
            coefficients = tuple(sum(c for d, c in rank if d == dimension) for rank in tensor.ranks)
            steps.append((trips, tuple(c * reach[dimension] for c in coefficients)))
        reach[dimension] *= trips
    ranges = [range(trips) for trips, _ in steps]
    if len(steps) < 2 or all(
        sum(map(bool, (shift[r] for _, shift in steps))) < 2 for r in range(len(tensor.ranks))
    ):
        return prod(len(found) for found in ranges)
    return len({tuple(sum(n * s[r] for n, (_, s) in zip(at, steps, strict=True)) for r in range(len(tensor.ranks)))
                for at in product(*ranges)})  # fmt: skip


# -- reading -----------------------------------------------------------------------------


def read_problem(document):
    """Tensors and extents of a problem."""
    shape, instance = document["problem"]["shape"], document["problem"]["instance"]
    numbers = {
        c["name"]: instance.get(c["name"], c["default"]) for c in shape.get("coefficients", ())
    }

    def term(factors):
        (dimension,) = (f for f in factors if f not in numbers)
        return dimension, prod(numbers[f] for f in factors if f in numbers)

    tensors = tuple(
        Tensor(
            space["name"],
            tuple(tuple(term(factors) for factors in rank) for rank in space["projection"]),
            space.get("read_write", False),
        )
        for space in shape["data_spaces"]
    )
    return tensors, {dimension: instance[dimension] for dimension in shape["dimensions"]}


class _Loader(yaml.SafeLoader):
    """Reads tagged nodes of an architecture as mappings with a key ``tag``."""


_Loader.add_multi_constructor(
    "!", lambda loader, suffix, node: {"tag": suffix, **loader.construct_mapping(node, deep=True)}
)


def read_export(files):
    """The mapping of an exported folder (format v0.4)."""
    tensors, padded = read_problem(yaml.load(files["problem.yaml"], _Loader))
    directives = {}
    for entry in yaml.load(files["mapping.yaml"], _Loader)["mapping"]:
        directives[entry["target"], entry["type"]] = entry
    nodes = []
    for node in yaml.load(files["architecture.yaml"], _Loader)["architecture"]["nodes"]:
        if (node["name"], "spatial") in directives:
            entry = directives[node["name"], "spatial"]
            loops = _loops(entry)
            assert prod(n for _, n in loops) == prod(node["spatial"].values())
            assert entry["no_link_transfer"] == [
                tensor.name for tensor in tensors
            ]  # else the rules do not hold
            nodes.append(Lanes(loops, frozenset(entry.get("no_reuse", ()))))
        elif (node["name"], "temporal") in directives:
            entry, kept = (
                directives[node["name"], "temporal"],
                directives[node["name"], "dataspace"].get("keep", ()),
            )
            attributes, reuse = node["attributes"], frozenset(entry.get("no_reuse", ()))
            nodes.append(
                Storage(
                    node["name"],
                    frozenset(kept),
                    _loops(entry),
                    **_attributes(attributes),
                    no_reuse=reuse,
                )
            )
    for dimension, extent in padded.items():
        assert prod(n for found in nodes for d, n in found.loops if d == dimension) == extent
    return Mapped(tensors, tuple(nodes), padded)


def _loops(entry):
    trips = {text.partition("=")[0]: int(text.partition("=")[2]) for text in entry["factors"]}
    return tuple((dimension, trips[dimension]) for dimension in reversed(entry["permutation"]))


def _attributes(attributes):
    rates = ("read_bandwidth", "write_bandwidth", "shared_bandwidth")
    found = {name: Fraction(str(attributes[name])) for name in rates if name in attributes}
    if "depth" in attributes:
        words = attributes["depth"] * attributes["width"] // attributes["datawidth"]
        found["capacity"] = words // attributes.get("multiple_buffering", 1)
    return found


def read_hierarchy(files):
    """The mapping of an exported folder of a memory hierarchy, in the form that the tool itself
    reads."""
    tensors, padded = read_problem(yaml.safe_load(files["problem.yaml"]))
    directives = {
        (e["target"], e["type"]): e for e in yaml.safe_load(files["mapping.yaml"])["mapping"]
    }
    nodes = []
    for level in _published_levels(
        yaml.safe_load(files["arch.yaml"])["architecture"]["subtree"][0]
    ):
        name, attributes = level["name"], level["attributes"]
        if (name, "temporal") not in directives:
            continue
        capacity = (
            attributes["entries"] // attributes.get("multiple_buffering", 1)
            if "entries" in attributes
            else None
        )
        rates = {
            r: Fraction(str(attributes[r]))
            for r in ("read_bandwidth", "write_bandwidth")
            if r in attributes
        }
        kept = frozenset(directives[name, "bypass"]["keep"])
        nodes.append(Storage(name, kept, _spelled(directives[name, "temporal"]), capacity, **rates))
        if (name, "spatial") in directives:
            entry = directives[name, "spatial"]
            assert entry["no_link_transfer"] == [
                tensor.name for tensor in tensors
            ]  # else the rules do not hold
            nodes.append(Lanes(_spelled(entry)))
    for dimension, extent in padded.items():
        assert prod(n for found in nodes for d, n in found.loops if d == dimension) == extent
    return Mapped(tensors, tuple(nodes), padded)


def _spelled(entry):
    trips = _published_factors(entry["factors"])
    return tuple((dimension, trips[dimension]) for dimension in reversed(entry["permutation"]))


def read_published(architecture, problem, row):
    """A mapping of ``golden/spatial``: one line of its table, whose permutations name the innermost
    loop first."""
    tensors, extents = read_problem(problem)
    keeps = {
        "Buffer": {"Weights", "Inputs", "Outputs"},
        "GLB": {"Inputs", "Outputs"},
        "ifmap_spad": {"Inputs"},
        "weights_spad": {"Weights"},
        "psum_spad": {"Outputs"},
    }
    nodes = []
    padded = dict.fromkeys(extents, 1)
    for level in _published_levels(architecture["architecture"]["subtree"][0]):
        name, attributes = level["name"], level["attributes"]
        if "mac" in name:
            continue
        trips = dict.fromkeys(extents, 1) | _published_factors(row[f"T:{name}.factors"])
        loops = tuple((d, trips[d]) for d in reversed(row[f"T:{name}.permutation_innermost_first"]))
        rates = {
            rate: Fraction(str(attributes[rate])) for rate in ("read_bandwidth", "write_bandwidth")
        }
        kept = frozenset(keeps.get(name, {t.name for t in tensors}))
        nodes.append(Storage(name, kept, loops, attributes.get("entries"), **rates))
        if f"S:{name}.factors" in row:
            lanes = _published_factors(row[f"S:{name}.factors"])
            nodes.append(Lanes(tuple(lanes.items())))
    for node in nodes:
        for dimension, trip in node.loops:
            padded[dimension] *= trip
    return Mapped(tensors, tuple(nodes), padded)


def _published_levels(tree):
    yield from tree["local"]
    for inner in tree.get("subtree", ()):
        yield from _published_levels(inner)


def _published_factors(text):
    return {part.partition("=")[0]: int(part.partition("=")[2]) for part in text.split()}
