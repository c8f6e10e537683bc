"""Read architectures from Timeloop's files (formats v0.1 to v0.4), with their energies.

What a file says and would change the tool's costs is read or refused with its path; fields that
nothing depends on are `Architecture.unread`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.files.reading import is_there
from ithaca.files.refusals import refuse_answer
from ithaca.files.timeloop_files import load_timeloop
from ithaca.formulations.data_models import built
from ithaca.plugins.hierarchies.formulations.architecture import (
    Architecture,
    Bursts,
    Compute,
    Level,
    OperandNetworks,
)
from ithaca.plugins.hierarchies.formulations.architecture_elements import Element
from ithaca.plugins.hierarchies.formulations.architecture_trees import (
    DUMMY,
    ArchitectureTree,
    TreeDocument,
)
from ithaca.plugins.hierarchies.formulations.constraint_entries import SECTIONS, entries_of
from ithaca.plugins.hierarchies.formulations.energy_files import (
    BurstsFile,
    EnergyTables,
    NetworksFile,
    TensorizedFile,
    access_energies,
    compute_energy,
    read_tables,
    read_tensorized,
    unread_actions,
)
from ithaca.plugins.hierarchies.formulations.sparse.documents import read_sparsity

#: Names of files in a folder that has an architecture.
ARCHITECTURE_FILES = (
    *("arch.yaml", "architecture.yaml"),
    *("top.yaml.jinja2", "top.yaml.jinja", "parsed-processed-input.yaml"),
)
ENERGY_FILES = ("ert.yaml", "ERT.yaml", "timeloop-mapper.ERT.yaml", "timeloop-model.ERT.yaml")
VARIABLE_FILES = ("variables.yaml",)

#: Attributes of a word's bits, the first of which holds, as in the tool (`model/buffer.cpp`).
WORD_BITS = ("word_bits", "word_width", "datawidth")

#: Fields of files that say other things than an architecture.
ELSEWHERE = (
    "ART",
    "components",
    "compound_components",
    "dumped_by_timeloop_front_end",
    "globals",
    "mapper",
    "mapping",
    "problem",
)


def read_architecture(path: str | Path) -> Architecture:
    """The architecture of a file, or of a folder with ``arch.yaml``; its energies are its own or in
    ``ert.yaml`` beside it.

    Raises `InputError`, one line that names the path, if it cannot be read or says what is not
    supported.
    """
    file, document = architecture_document(path)
    name = file.stem if file.name not in ARCHITECTURE_FILES else file.resolve().parent.name
    energies = field_beside(file, document, "ERT", ENERGY_FILES)
    return architecture_of(document, energies, name, file)


def architecture_document(path: str | Path) -> tuple[Path, Any]:
    """The file of an architecture, perhaps in a folder, and its document with the variables beside
    it.

    Raises `InputError` if it cannot be read.
    """
    file = Path(path)
    if is_there(file, Path.is_dir):
        candidates = [each for name in ARCHITECTURE_FILES if (each := file / name).is_file()]
        if not candidates:
            raise refuse(
                path,
                f"has no architecture; allowed: a folder with {', '.join(ARCHITECTURE_FILES)}",
            )
        file = candidates[0]
    document = load_timeloop(file)
    refuse_answer(document, file, "an architecture")
    if isinstance(document, dict) and not document.keys() & {"architecture", "arch"}:
        start = "such as ithaca list architectures simple prints"
        raise refuse(file, f"architecture is missing; allowed: a file of Timeloop's, {start}")
    if variables := field_beside(file, document, "variables", VARIABLE_FILES):
        document = document | {"variables": variables}
    return file, document


def field_beside(file: Path, document: Any, field: str, names: tuple[str, ...]) -> Any:
    """A field that an architecture's file has not, of a file beside it; None if there is none.

    Raises `InputError` if that file cannot be read, or has other fields, too.

    Parameters
    ----------
    file : Path
        The architecture's file.
    document : object
        Its document.
    field : str
        The field.
    names : tuple of str
        Names that the other file may have, the first that exists is read.
    """
    beside = next((each for name in names if (each := file.parent / name).is_file()), None)
    if beside is None or not isinstance(document, dict) or field in document:
        return None
    read = load_timeloop(beside)
    if not isinstance(read, dict) or read.keys() != {field}:
        raise refuse(beside, f"has not the field '{field}' alone; allowed: a file of Timeloop")
    return read[field]


def architecture_of(
    document: Any, energies: Any, name: str, where: object, *, keeping: bool = True
) -> Architecture:
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
    keeping : bool, optional
        Whether a node that says what it keeps holds nothing else; if not, the others may be kept.

    Returns
    -------
    Architecture
        The architecture.

    Raises
    ------
    InputError
        If the document says what is not known here, or contradicts itself.
    """
    read, tree = read_tree(document, where, keeping=keeping)
    energies = read.ERT if energies is None else energies
    table, origins = ({}, {}) if energies is None else read_tables(energies, where)
    storage, units, networks = [], [], []
    for part in tree.elements:
        match part.role:
            case "storage":
                storage.append(part)
            case "compute":
                units.append(part)
            case "network":
                networks.append(f"{part.name} (a network, which is not counted)")
            case _:
                tree.unread.append(f"{part.where} ({part.name} of class {quoted(part.kind)})")
    if len(units) != 1 or not storage:
        names = " and ".join(part.name for part in units) or "nothing"
        raise refuse(
            f"{where}: architecture",
            f"has {len(storage)} storage levels, and {names} computes; allowed: components whose "
            "class has storage, SRAM, DRAM, regfile or smartbuffer in it, and one with mac or "
            "compute",
        )
    levels, compute = tuple(_level(part, table) for part in storage), _compute(units[0], table)
    for part in (*storage, *units):
        tree.unread += part.finish()
        actions = unread_actions(table.get(part.name, {}), computes=part in units)
        tree.unread += [f"{where}: ERT.{part.name}.{action}" for action in actions]
    unpriced = (*(part.name for part in (*storage, *units) if part.unpriced), *networks)
    sections = {name: own for name in SECTIONS if (own := getattr(read, name)) is not None}
    tree.entries += entries_of(sections, where, tree.unread)
    if read.sparse_optimizations:
        tree.sparse.append((f"{where}: sparse_optimizations", read.sparse_optimizations))
    tensorized = read_tensorized(read.tensorized, f"{where}: tensorized")
    sparsity = read_sparsity(tree.sparse, (*storage, *units), table)
    try:
        return Architecture(
            name,
            levels,
            compute,
            read.description,
            read.source,
            built(Bursts, read.dmazerunner),
            tensorized,
            built(OperandNetworks, read.network),
            unpriced,
            tuple(tree.entries),
            tuple(path for path, _ in tree.sparse),
            sparsity,
            tuple(tree.unread),
            tuple(origins.items()),
            tuple(tree.meshes.items()),
        )
    except InputError as error:
        raise refuse(where, str(error).removeprefix(f"{name}: ")) from None


def read_tree(
    document: Any, where: object, *, keeping: bool = True
) -> tuple[ArchitectureFile, ArchitectureTree]:
    """A document as it is stated, and the components of its architecture; ``keeping`` is that of
    `architecture_of`.

    Raises `InputError` if it is malformed.

    Parameters
    ----------
    document : object
        The document of a file.
    where : object
        The file, for messages.
    keeping : bool, optional
        Whether bypasses of tensors are read, too.
    """
    if isinstance(document, dict):
        document = {name: own for name, own in document.items() if name not in ELSEWHERE}
        if "arch" in document and "architecture" not in document:
            document["architecture"] = document.pop("arch")
    unread: list[str] = []
    read = validated(ArchitectureFile, document, where, unread=unread)
    tree = ArchitectureTree(
        read.variables, unread=[f"{where}: {path}" for path in unread], keeping=keeping
    )
    tree.read(read.architecture, f"{where}: architecture")
    return read, tree


class ArchitectureFile(InputDocument):
    """An architecture, its energies, and what only some editions read."""

    architecture: TreeDocument
    variables: dict[str, Any] = Field(default={})
    ERT: EnergyTables | None = None
    architecture_constraints: Any = None
    arch_constraints: Any = None
    extra_mapping_constraints: Any = None
    constraints: Any = None
    mapspace_constraints: Any = None
    mapspace: Any = None
    sparse_optimizations: Any = None
    description: str = ""
    source: str = ""
    dmazerunner: BurstsFile | None = None
    tensorized: TensorizedFile | None = None
    network: NetworksFile | None = None


#: Fields of files that say what an architecture is, beside constraints.
ARCHITECTURE_FIELDS = tuple(name for name in ArchitectureFile.model_fields if name not in SECTIONS)


def _level(part: Element, table: Mapping[str, Mapping[str, Fraction]]) -> Level:
    stated = [name for name in WORD_BITS if name in part.attributes]
    for name in stated[1:]:
        part.attributes.pop(name)  # the tool looks for the first alone
    bits = part.integer(*WORD_BITS) or 16
    block, cluster = (
        part.integer("block_size", "n_words"),
        part.integer("cluster_size"),
    )
    width = part.integer("width", "memory_width", "data_storage_width")
    if width is not None:
        if width % (bits * (block or 1)):
            raise refuse(
                part.where,
                f"{part.name}.width is {width}; allowed: a multiple of {bits * (block or 1)} bits",
            )
        if block is None:
            block = width // (bits * (cluster or 1))
        elif cluster is None:
            cluster = width // (bits * block)
    block, cluster = block or 1, cluster or 1
    words, tensor_words = _capacity(part, bits, block)
    if words == 0:
        words, part.keeps = None, frozenset()
    both = part.number("bandwidth")
    read, write = part.number("read_bandwidth"), part.number("write_bandwidth")
    half = None if both is None else both / 2
    return Level(
        part.name,
        words,
        tensor_words,
        part.number("multiple_buffering", least=1) or Fraction(1),
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


def _capacity(part: Element, bits: int, row: int) -> tuple[int | None, tuple[tuple[str, int], ...]]:
    """Words of an instance, and of its parts for one tensor each, where sizes name tensors; a row
    has ``row`` words."""
    depths = [n for n in ("depth", "memory_depth", "data_storage_depth") if n in part.attributes]
    # of several the tool reads the first; the others are named as not read
    alike = [n for n in depths if part.attributes[n] == part.attributes[depths[0]]]
    sizes = ("entries", ["entries"]), ("bytes", ["bytes"]), ("depth", alike)
    names = (*sizes, ("sizeKB", ["sizeKB", "size_kb"]))
    stated = [(unit, part.take(*n)) for unit, n in names if part.attributes.keys() & {*n}]
    if len({str(value) for _, value in stated}) > 1:
        raise refuse(
            part.where, f"{part.name} has two sizes; allowed: one of entries, bytes, depth, sizeKB"
        )
    if not stated:
        return None, ()
    (unit, value), per_unit = (
        stated[0],
        {"entries": 1, "bytes": Fraction(8, bits), "depth": row, "sizeKB": Fraction(8192, bits)},
    )
    by_tensor = isinstance(value, dict) and unit in ("entries", "bytes")
    named = dict(value) if by_tensor else {"": value}
    for tensor, size in named.items():
        at = f"{unit}{tensor and '.'}{tensor}"
        count = named[tensor] = part.value(size, at)
        number = isinstance(count, int | Fraction) and not isinstance(count, bool)
        if not number or count != int(count) or count < (tensor != ""):
            raise refuse(
                part.where, f"{part.name}.{at} is {quoted(size)}; allowed: a positive integer"
            )
    words = {str(tensor): int(size * per_unit[unit]) for tensor, size in named.items()}
    return (words[""], ()) if "" in words else (None, tuple(words.items()))


def _costs(part: Element, table: Mapping[str, Mapping[str, Fraction]]) -> dict[str, Any]:
    """Energies of accesses: the table's, else the attributes'."""
    access = part.number("vector_access_energy")
    own = {
        name: part.number(f"{name}_energy", f"energy_{name}")
        for name in ("read", "write", "update", "leak")
    }
    stated = table.get(part.name)
    if stated is not None:
        own = access_energies(stated, access)
    read, write = (value if value is not None else access for value in (own["read"], own["write"]))
    free = part.kind == DUMMY or part.keeps == frozenset()
    part.unpriced = (read is None or write is None) and not free
    read, write = (value if value is not None else Fraction(0) for value in (read, write))
    update = own["update"] if own["update"] is not None else write
    return {
        "read_energy": read,
        "write_energy": write,
        "update_energy": update,
        "leak": own["leak"] or Fraction(0),
    }


def _compute(part: Element, table: Mapping[str, Mapping[str, Fraction]]) -> Compute:
    for name in ("word_bits", "word_width", "datawidth", "width"):
        part.attributes.pop(name, None)  # of operands, which says nothing of their words in levels
    energy = part.number("energy", "compute_energy", "energy_per_op")
    part.number("leak_energy", "energy_leak")  # the tool counts none
    tabled = compute_energy(table.get(part.name, {}))
    energy = energy if tabled is None else tabled
    part.unpriced = energy is None
    return Compute(part.name, **part.instances(), energy=energy or Fraction(0))
