"""Read architectures from Timeloop's files (format v0.4), with their energies.

They come as ``subtree``/``local`` or as ``nodes`` with the tags ``!Container`` and ``!Component``.
What a file says and this reader does not know is refused with its path, never ignored: costs would
not be the tool's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ithaca.files.documents import Document, load_document, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.formulations.schema import Count
from ithaca.formulations.spatial.architecture import Architecture, Compute, Level
from ithaca.formulations.spatial.architecture_elements import Element
from ithaca.formulations.spatial.energy_files import (
    BurstsFile,
    EnergyTables,
    NetworksFile,
    TensorizedFile,
    access_energies,
    compute_energy,
    energy_tables,
    read_bursts,
    read_network,
    read_tensorized,
)

#: Largest file (bytes).
MAX_BYTES = 1 << 20

#: Deepest nesting of an architecture.
MAX_DEPTH = 40

TAGS = ("!Container", "!Component")

#: Names of files in a folder that has an architecture.
ARCHITECTURE_FILES, ENERGY_FILES = ("arch.yaml", "architecture.yaml"), ("ert.yaml", "ERT.yaml")


def load(path: Path) -> Any:
    """The document of a YAML or JSON file."""
    return load_document(path, MAX_BYTES, TAGS, MAX_DEPTH)


def read_architecture(path: str | Path) -> Architecture:
    """The architecture of a file, or of a folder with ``arch.yaml``; its energies are its own or in
    ``ert.yaml`` beside it.

    Raises `InputError`, one line that names the path, if it cannot be read or says what is not
    supported.
    """
    file = Path(path)
    if file.is_dir():
        candidates = [each for name in ARCHITECTURE_FILES if (each := file / name).is_file()]
        if not candidates:
            raise refuse(
                path,
                f"has no architecture; allowed: a folder with {' or '.join(ARCHITECTURE_FILES)}",
            )
        file = candidates[0]
    document = load(file)
    name = file.stem if file.name not in ARCHITECTURE_FILES else file.resolve().parent.name
    beside = next((each for name in ENERGY_FILES if (each := file.parent / name).is_file()), None)
    if beside is None or (isinstance(document, dict) and "ERT" in document):
        return architecture_of(document, None, name, file)
    energies = load(beside)
    if not isinstance(energies, dict) or energies.keys() != {"ERT"}:
        raise refuse(
            beside, "has not the field 'ERT' alone; allowed: a table of energies of Timeloop v0.4"
        )
    return architecture_of(document, energies["ERT"], name, file)


def architecture_of(document: Any, energies: Any, name: str, where: object) -> Architecture:
    """Read the architecture of a document.

    Parameters
    ----------
    document : object
        The document.
    energies : object
        A table of energies; None: its own.
    name : str
        The name of the architecture.
    where : object
        What error lines begin with.

    Returns
    -------
    Architecture
        The architecture.

    Raises
    ------
    InputError
        If the document says what is not known here, or contradicts itself.
    """
    read = validated(ArchitectureFile, document, where)
    table = energy_tables(read.ERT if energies is None else energies, where)
    parts = list(_parts(read.architecture, f"{where}: architecture"))
    if not parts:
        raise refuse(
            where, "architecture has no component; allowed: storage levels and multipliers"
        )
    *storage, last = parts
    if (inner := next((part for part in storage if part.is_compute), None)) is not None:
        raise refuse(
            inner.where,
            f"{inner.name} computes, but is not innermost; allowed: multipliers inside all storage",
        )
    if not last.is_compute:
        allowed = "one with mac, multiplier or compute in it"
        raise refuse(
            last.where,
            f"{last.name} is innermost and of class {quoted(last.kind)}; allowed: {allowed}",
        )
    levels, compute = tuple(_level(part, table) for part in storage), _compute(last, table)
    bursts = (
        None if read.dmazerunner is None else read_bursts(read.dmazerunner, f"{where}: dmazerunner")
    )
    tensorized = (
        None
        if read.tensorized is None
        else read_tensorized(read.tensorized, f"{where}: tensorized")
    )
    network = None if read.network is None else read_network(read.network, f"{where}: network")
    try:
        return Architecture(
            name, levels, compute, read.description, read.source, bursts, tensorized, network
        )
    except InputError as error:
        raise refuse(where, str(error).removeprefix(f"{name}: ")) from None


_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([0-9]{1,6})\.\.([0-9]{1,6})\])?")


def _checked(text: str) -> str:
    match = _NAME.fullmatch(text)
    if match is None or (match[2] and int(match[3]) < int(match[2])):
        raise ValueError("letters, digits and _, and perhaps a range [0..n]")
    return text


_Name = Annotated[str, AfterValidator(_checked)]


class _Component(Document):
    name: _Name
    kind: str = Field(default="", alias="class")
    attributes: dict[str, Any] | None = None


class _Branch(Document):
    name: _Name
    attributes: dict[str, Any] | None = None
    local: list[_Component] = Field(default=[])
    subtree: list[_Branch] = Field(default=[], max_length=1)


class _Mesh(Document):
    meshX: Count = 1  # noqa: N815  (as files have it)
    meshY: Count = 1  # noqa: N815


class _Dataspace(Document):
    keep: list[str]
    bypass: list[str] = Field(default=[])


class _NodeConstraints(Document):
    dataspace: _Dataspace | None = None


class _Node(_Component):
    tag: Literal["Container", "Component"] = Field(alias="!")
    subclass: str | None = None
    spatial: _Mesh = _Mesh()
    constraints: _NodeConstraints = _NodeConstraints()
    required_actions: list[str] | None = None
    enabled: Literal[True] = True


class _Tree(Document):
    version: str | float = 0.4
    subtree: list[_Branch] = Field(default=[], max_length=1)
    nodes: list[_Node] = Field(default=[])


class ArchitectureFile(Document):
    """An architecture, its energies, and what only some editions read."""

    architecture: _Tree
    ERT: EnergyTables | None = None
    description: str = ""
    source: str = ""
    dmazerunner: BurstsFile | None = None
    tensorized: TensorizedFile | None = None
    network: NetworksFile | None = None


def _parts(tree: _Tree, where: str) -> Iterator[Element]:
    if str(tree.version) not in ("0.2", "0.3", "0.4"):
        raise refuse(where, f"version is {quoted(tree.version)}; allowed: 0.4")
    if bool(tree.subtree) == bool(tree.nodes):
        raise refuse(
            where,
            f"has {'both' if tree.nodes else 'no'} subtree and nodes; "
            "allowed: one of them, written out",
        )
    if tree.nodes:
        yield from _of_nodes(tree.nodes, f"{where}.nodes")
    else:
        yield from _of_branch(tree.subtree[0], f"{where}.subtree[0]", 1)


def _of_branch(branch: _Branch, where: str, around: int) -> Iterator[Element]:
    name, times = _named(branch.name)
    Element(name, "", dict(branch.attributes or {}), 1, False, where).finish()
    for place, entry in enumerate(branch.local):
        own, more = _named(entry.name)
        at = f"{where}.local[{place}]"
        yield Element(
            own, entry.kind, dict(entry.attributes or {}), around * times * more, False, at
        )
    for inner in branch.subtree:
        yield from _of_branch(inner, f"{where}.subtree[0]", around * times)


def _of_nodes(nodes: list[_Node], where: str) -> Iterator[Element]:
    """Nodes are inside those before them; what is spatial in one multiplies all that follow."""
    x = y = 1
    for place, node in enumerate(nodes):
        name, times = _named(node.name)
        x, y = x * node.spatial.meshX * times, y * node.spatial.meshY
        kept = node.constraints.dataspace
        part = Element(
            name, node.kind, dict(node.attributes or {}), (x, y), True, f"{where}[{place}]"
        )
        if node.tag == "Component":
            part.keeps = None if kept is None else frozenset(kept.keep)
            yield part
        elif kept is not None:
            raise refuse(
                part.where,
                f"{name} is a container, which keeps nothing; allowed: constraints of components",
            )
        else:
            part.finish()


def _named(text: str) -> tuple[str, int]:
    """Name without its range, and how many instances the range names: ``PE[0..255]``."""
    match = _NAME.fullmatch(text)
    assert match is not None  # as `_checked`
    return match[1], int(match[3]) - int(match[2]) + 1 if match[2] else 1


def _level(part: Element, table: Mapping[str, Mapping[str, Fraction]]) -> Level:
    bits = part.integer("word_bits", "word-bits", "word_width", "datawidth") or 16
    block, cluster = (
        part.integer("block_size", "block-size", "n_words"),
        part.integer("cluster_size", "cluster-size"),
    )
    width = part.integer("width", "memory_width")
    if width is not None:
        if width % (bits * (block or cluster or 1)):
            raise refuse(
                part.where,
                f"{part.name}.width is {width}; allowed: a multiple of "
                f"{bits * (block or cluster or 1)} bits",
            )
        if block is None and (part.width_is_block or cluster is not None):
            block = width // (bits * (cluster or 1))
        elif cluster is None:
            cluster = width // (bits * (block or 1))
    block, cluster = block or 1, cluster or 1
    words, tensor_words = _capacity(part, bits, block * (cluster if part.width_is_block else 1))
    both = part.number("bandwidth")
    read, write = part.number("read_bandwidth"), part.number("write_bandwidth")
    half = None if both is None else both / 2
    level = Level(
        part.name,
        words,
        tensor_words,
        part.number("multiple_buffering", "multiple-buffering", least=1) or Fraction(1),
        part.keeps,
        half if read is None else read,
        half if write is None else write,
        part.number("shared_bandwidth"),
        bits,
        block,
        cluster,
        **_costs(part, table),
        **part.instances(),
    )
    part.finish()
    return level


def _capacity(part: Element, bits: int, row: int) -> tuple[int | None, tuple[tuple[str, int], ...]]:
    """Words of an instance, and of its parts for one tensor each, where sizes name tensors; a row
    has ``row`` words."""
    names = (("entries",), ("bytes",), ("depth", "memory_depth"), ("sizeKB", "size_kb"))
    stated = [(name[0], part.take(*name)) for name in names if part.attributes.keys() & set(name)]
    if len(stated) > 1:
        raise refuse(
            part.where, f"{part.name} has two sizes; allowed: one of entries, bytes, depth, sizeKB"
        )
    if not stated:
        return None, ()
    (unit, value), per_unit = (
        stated[0],
        {"entries": 1, "bytes": Fraction(8, bits), "depth": row, "sizeKB": Fraction(8192, bits)},
    )
    named = value if isinstance(value, dict) and unit in ("entries", "bytes") else {"": value}
    for tensor, size in named.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            at = f"{part.name}.{unit}{tensor and '.'}{tensor}"
            raise refuse(part.where, f"{at} is {quoted(size)}; allowed: a positive integer")
    words = {str(tensor): int(size * per_unit[unit]) for tensor, size in named.items()}
    return (words[""], ()) if "" in words else (None, tuple(words.items()))


def _costs(part: Element, table: Mapping[str, Mapping[str, Fraction]]) -> dict[str, Any]:
    """Energies of accesses: the table's, else the attributes'."""
    access = part.number("vector-access-energy", "vector_access_energy")
    own = {
        name: part.number(f"{name}_energy", f"energy_{name}")
        for name in ("read", "write", "update", "leak")
    }
    stated = table.get(part.name)
    if stated is not None:
        own = access_energies(stated, access)
    read, write = (value if value is not None else access for value in (own["read"], own["write"]))
    if read is None or write is None:
        raise refuse(
            part.where,
            f"{part.name} has no energy of reads and writes; allowed: an "
            "ERT, or read_energy and write_energy",
        )
    update = own["update"] if own["update"] is not None else write
    return {
        "read_energy": read,
        "write_energy": write,
        "update_energy": update,
        "leak": own["leak"] or Fraction(0),
    }


def _compute(part: Element, table: Mapping[str, Mapping[str, Fraction]]) -> Compute:
    part.integer("word_bits", "word-bits", "word_width", "datawidth")
    energy = part.number("energy", "compute_energy", "energy_per_op")
    part.number("leak_energy", "energy_leak")  # the tool counts none
    tabled = compute_energy(table.get(part.name, {}))
    energy = energy if tabled is None else tabled
    if energy is None:
        raise refuse(
            part.where,
            f"{part.name} has no energy of a computation; allowed: an ERT, or the attribute energy",
        )
    compute = Compute(part.name, **part.instances(), energy=energy)
    part.finish()
    return compute
