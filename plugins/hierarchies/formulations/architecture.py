"""An architecture: storage levels above multipliers, as data."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import pairwise

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse
from ithaca.plugins.hierarchies.formulations.sparse.parts import Sparsity
from ithaca.workloads.nest import LoopNest, Sizes

#: Most storage levels; spaces grow exponentially with them.
MAX_LEVELS = 16

#: Names of levels: they stand in the names of metrics and quantities.
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Level:
    """A storage level: equal instances on a mesh. Words are those of the level; None is no
    limit."""

    name: str
    """Its name."""
    words: int | None = None
    """Capacity of an instance (words)."""
    tensor_words: Sizes = ()
    """Capacities of parts of an instance that hold one tensor each (words)."""
    buffering: Fraction = Fraction(1)
    """How often a tile is held: tiles may fill a capacity divided by it (2: double-buffered)."""
    keeps: frozenset[str] | None = None
    """The tensors it may hold; the others pass by. None: all."""
    read_bandwidth: Fraction | None = None
    """Words that an instance reads a cycle."""
    write_bandwidth: Fraction | None = None
    """Words that it takes a cycle, as fills and updates."""
    shared_bandwidth: Fraction | None = None
    """Words of both kinds a cycle."""
    word_bits: int = 16
    """Bits of a word."""
    block: int = 1
    """Words that an access moves."""
    cluster: int = 1
    """Instances that share an access."""
    read_energy: Fraction = Fraction(0)
    """Energy of a read access (pJ)."""
    write_energy: Fraction = Fraction(0)
    """Energy of an access that fills (pJ)."""
    update_energy: Fraction = Fraction(0)
    """Energy of an access that writes results (pJ)."""
    leak: Fraction = Fraction(0)
    """Energy that an instance in use leaks a cycle (pJ)."""
    instances: int = 1
    """Instances in all."""
    mesh_x: int = 1
    """Instances along the first direction."""
    mesh_y: int = 1
    """Instances along the second one."""
    resident: Sizes = ()
    """Tensors that it holds all of, with their words, whatever the tiles: nothing comes from, or
    goes to, levels around it."""

    @property
    def rates(self) -> tuple[tuple[str, Fraction, tuple[str, ...]], ...]:
        """The bandwidths of a level: a word for each, words a cycle, and the counts that share
        it."""
        known = (
            ("reads", self.read_bandwidth, ("reads",)),
            ("writes", self.write_bandwidth, ("fills", "updates")),
            ("words", self.shared_bandwidth, ("reads", "fills", "updates")),
        )
        return tuple((what, rate, counts) for what, rate, counts in known if rate is not None)

    @property
    def prices(self) -> dict[str, Fraction]:
        """Energies of accesses (pJ), by what is counted."""
        return {
            "reads": self.read_energy,
            "fills": self.write_energy,
            "updates": self.update_energy,
        }

    @property
    def charged(self) -> int:
        """Instances whose accesses cost energy, at most: of those that share them, one."""
        return max(self.instances // self.cluster, 1)

    @property
    def share(self) -> Fraction:
        """Accesses that a word of an instance costs at least, however many instances and words
        share them."""
        return Fraction(self.charged, self.instances * self.block)

    def usable(self, words: int) -> int:
        """The words of a capacity that tiles may fill."""
        return int(words / self.buffering)

    def kept(self, tensors: Collection[str]) -> frozenset[str]:
        """The subset of some tensors that the level holds."""
        return frozenset(tensors) if self.keeps is None else self.keeps & frozenset(tensors)


@dataclass(frozen=True, slots=True)
class Compute:
    """The multipliers: number, mesh and energy."""

    name: str
    """Their name."""
    instances: int = 1
    """How many there are."""
    mesh_x: int = 1
    """Instances along the first direction."""
    mesh_y: int = 1
    """Instances along the second one."""
    energy: Fraction = Fraction(0)
    """Energy of a multiply-accumulate (pJ)."""


@dataclass(frozen=True, slots=True)
class Bursts:
    """Figures that edition `dmazerunner` reads beside levels: banks, bursts and the network."""

    bank_words: int
    """Words of a scratchpad bank; tensors share none."""
    setup: Fraction
    """Cycles to begin a burst."""
    word: Fraction
    """Cycles of every word of a burst."""
    network_energy: Fraction
    """Energy of a word over the network (pJ)."""
    energies: tuple[tuple[str, tuple[tuple[int, Fraction], ...]], ...] = ()
    """Energy of an access (pJ) by level and capacity (words), which takes the place of the level's
    where it is given."""


#: The networks of edition `explainable`, each with links of its own.
NETWORKS = ("input", "weight", "read", "write")


@dataclass(frozen=True, slots=True)
class OperandNetworks:
    """Figures that edition `explainable` reads beside levels: networks between scratchpad and PEs,
    one an operand, and banks.

    Outputs have two: ``write`` takes them from the PEs, ``read`` brings partial sums back. Links
    are unicast: each goes to one group of PEs at a time; ``virtual`` is how many groups may take
    turns at one.
    """

    width: int
    """Bits that a link moves a cycle."""
    input_links: int
    """Links of the first operand."""
    weight_links: int
    """Links of the second one."""
    read_links: int
    """Links of partial sums to the PEs."""
    write_links: int
    """Links of outputs from the PEs."""
    input_virtual: int = 1
    """Groups that take turns at a link."""
    weight_virtual: int = 1
    read_virtual: int = 1
    write_virtual: int = 1
    bank_words: int = 1024
    """Words of a scratchpad bank; tensors share none."""
    energy: Fraction = Fraction(0)
    """Energy of a word that a PE takes or gives (pJ)."""

    def links(self, network: str) -> int:
        """Links of one of the `NETWORKS`."""
        count: int = getattr(self, f"{network}_links")
        return count

    def virtual(self, network: str) -> int:
        """Groups that may take turns at a link of one of the `NETWORKS`."""
        count: int = getattr(self, f"{network}_virtual")
        return count


@dataclass(frozen=True, slots=True)
class TensorUnit:
    """The intrinsic that the multipliers run under one of the dataflows, with its sizes."""

    intrinsic: str
    """The computation of a call: a name, or a statement (`intrinsics`)."""
    sizes: Sizes = ()
    """Iterations of a call along loops on no side."""


@dataclass(frozen=True, slots=True)
class Tensorized:
    """Figures that edition `intrinsic` reads beside levels: the operation that the multipliers run,
    and what feeds them."""

    intrinsic: str
    """The computation of a call: a name, or a statement (`intrinsics`)."""
    dataflows: tuple[tuple[str, tuple[str, ...]], ...]
    """Name, and the loops along the sides of the multipliers' mesh, as many iterations as that has;
    one alone lies along the whole mesh."""
    sizes: Sizes = ()
    """Iterations of a call along loops on no side."""
    units: tuple[tuple[str, TensorUnit], ...] = ()
    """By dataflow, what the multipliers run there instead."""
    dataflow: int = 1
    """Which of the dataflows is built, from 1."""
    banks: int = 1
    """Scratchpad banks."""
    bus_bits: int = 64
    """Width of the bus off chip, which costs no cycles here."""
    burst_bytes: int = 64
    """Longest burst on it, which costs none either."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """Storage levels, and the multipliers inside them. An `InputError` says what contradicts
    itself.

    Examples
    --------
    >>> arch = next(a for a in ithaca.list_architectures() if a.name == "simple")
    >>> arch
    <Architecture simple: DRAM, Buffer, RF, mac>
    >>> [level.name for level in arch.levels]
    ['DRAM', 'Buffer', 'RF']
    """

    name: str
    """Its name."""
    levels: tuple[Level, ...]
    """Outermost first; the outermost keeps every tensor."""
    compute: Compute
    """The multipliers."""
    description: str = field(default="", compare=False)
    """One line for people."""
    source: str = field(default="", compare=False)
    """Where its figures are from."""
    bursts: Bursts | None = None
    """Bursts, which only edition `dmazerunner` reads."""
    tensorized: Tensorized | None = None
    """The tensor unit, which only edition `intrinsic` reads."""
    network: OperandNetworks | None = None
    """Networks of operands, which only edition `explainable` reads."""
    unpriced: tuple[str, ...] = ()
    """Components of which nothing says what their accesses, or computations, cost."""
    entries: tuple[tuple[str, str], ...] = ()
    """Restrictions that it sets on mappings, as entries of constraints files: the path, and the
    entry as JSON."""
    sparse: tuple[str, ...] = field(default=(), compare=False)
    """Paths of what its file says about sparse tensors."""
    sparsity: Sparsity | str | None = field(default=None, hash=False)
    """The handling of sparse tensors, or why it is not modelled."""
    unread: tuple[str, ...] = field(default=(), compare=False)
    """Paths of what nothing here depends on."""
    energy_sources: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """By component, what its energies are from, as far as it is stated."""
    meshes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Names of spatial nodes in its file, and the levels that hold their instances."""

    def spreading(self, name: str) -> str:
        """The level inside which the loops of a spatial node lie; others as they are named.

        Examples
        --------
        >>> arch = next(a for a in ithaca.list_architectures() if a.name == "simple")
        >>> arch.spreading("PE")
        'Buffer'
        """
        own = dict(self.meshes).get(name, name)
        names = [level.name for level in self.levels]
        inside = name in names and self.inner_mesh(names.index(name)) is not None
        return name if inside else own

    def __repr__(self) -> str:
        return f"<Architecture {self.name}: {', '.join(part.name for part in self.parts)}>"

    def __post_init__(self) -> None:
        if not 1 <= len(self.levels) <= MAX_LEVELS:
            raise InputError(
                f"{self.name}: has {len(self.levels)} storage levels; allowed: 1 to {MAX_LEVELS}"
            )
        for complaint in self._complaints():
            raise refuse(self.name, complaint)

    def _complaints(self) -> Iterator[str]:
        parts = self.parts
        names = [part.name for part in parts]
        for name in names:
            if not NAME.fullmatch(name):
                yield (
                    f"{quoted(name)} is no name of a level; allowed: up to 64 letters, digits and _"
                )
            if names.count(name) > 1:
                yield f"the name {quoted(name)} occurs twice; allowed: names that differ"
        for part in parts:
            for name in ("instances", "mesh_x", "mesh_y"):
                if getattr(part, name) < 1:
                    yield (
                        f"{part.name}.{name} is {getattr(part, name)}; allowed: a positive integer"
                    )
            if part.mesh_x * part.mesh_y != part.instances:
                yield (
                    f"{part.name}.instances is {part.instances}; allowed: "
                    f"{part.mesh_x}·{part.mesh_y}, as its mesh has"
                )
        for outer, inner in pairwise(parts):
            for name in ("mesh_x", "mesh_y"):
                if getattr(inner, name) % getattr(outer, name):
                    yield (
                        f"{inner.name}.{name} is {getattr(inner, name)}; allowed: a "
                        f"multiple of {getattr(outer, name)}, "
                        f"that of {outer.name} around it"
                    )
        for level in self.levels:
            yield from _of_level(level)
        for each in () if self.network is None else fields(self.network):
            least = int(each.name != "energy")
            if (value := getattr(self.network, each.name)) < least:
                allowed = "a positive integer" if least else "a number that is not negative"
                yield f"network.{each.name} is {value}; allowed: {allowed}"
        if self.compute.energy < 0:
            yield (
                f"{self.compute.name}.energy is {self.compute.energy}; "
                "allowed: a number that is not negative"
            )

    @property
    def parts(self) -> tuple[Level | Compute, ...]:
        """Levels and multipliers, outermost first."""
        return (*self.levels, self.compute)

    def keeping(self, keeps: dict[str, frozenset[str]]) -> Architecture:
        """The architecture with other tensors kept; levels that are not named stay as they are.

        Examples
        --------
        >>> arch = next(a for a in ithaca.list_architectures() if a.name == "simple")
        >>> inner = arch.keeping({"RF": frozenset({"C"})})
        >>> inner.levels[-1].keeps
        frozenset({'C'})
        """
        levels = tuple(
            replace(level, keeps=keeps.get(level.name, level.keeps)) for level in self.levels
        )
        return replace(self, levels=levels)

    def retaining(
        self, kept: Sequence[tuple[str, int]], tensors: Collection[str]
    ) -> Architecture | None:
        """The architecture with some of a nest's tensors, and their words, in the outermost level
        inside the first that may keep them; None if there is none of one instance.

        Examples
        --------
        >>> arch = next(a for a in ithaca.list_architectures() if a.name == "simple")
        >>> arch.retaining([("B", 1024)], {"A", "B", "C"}).levels[1].resident
        (('B', 1024),)
        """
        levels = [replace(level, keeps=level.kept(tensors)) for level in self.levels]
        for tensor, words in kept:
            home = next(
                (n for n, level in enumerate(levels) if n and tensor in level.kept(tensors)), None
            )
            if home is None or levels[home].instances > 1 or tensor not in levels[0].kept(tensors):
                return None
            levels[0] = replace(levels[0], keeps=levels[0].kept(tensors) - {tensor})
            levels[home] = replace(levels[home], resident=(*levels[home].resident, (tensor, words)))
        return replace(self, levels=tuple(levels))

    def inner_mesh(self, level: int) -> tuple[int, int] | None:
        """The mesh that lies directly inside a level: X and Y up to there; None where there are no
        more instances inside.

        Examples
        --------
        >>> arch = next(a for a in ithaca.list_architectures() if a.name == "simple")
        >>> arch.inner_mesh(1)
        (16, 16)
        """
        inner = self.levels[level + 1] if level + 1 < len(self.levels) else self.compute
        return (
            (inner.mesh_x, inner.mesh_y) if inner.instances > self.levels[level].instances else None
        )

    def check_tensors(self, nest: LoopNest) -> None:
        """Refuse levels that keep tensors that a nest does not have, and an outermost one that does
        not keep all it has.

        Examples
        --------
        >>> arch = next(a for a in ithaca.list_architectures() if a.name == "simple")
        >>> arch.check_tensors(ithaca.nest("ik,kj->ij", i=4, j=4, k=4))
        """
        tensors = [access.tensor for access in nest.accesses]
        for level in self.levels:
            named = {
                *(level.keeps or ()),
                *(tensor for tensor, _ in (*level.tensor_words, *level.resident)),
            }
            if unknown := min(named - set(tensors), default=None):
                known = among(unknown, tensors, f" of {nest.name}")
                raise refuse(
                    self.name, f"{level.name} keeps the unknown tensor {quoted(unknown)}{known}"
                )


def _of_level(level: Level) -> Iterator[str]:
    for name in ("words", "word_bits", "block", "cluster", "buffering"):
        value = getattr(level, name)
        if value is not None and value < 1:
            yield f"{level.name}.{name} is {value}; allowed: at least 1"
    for name in ("tensor_words", "resident"):
        for tensor, words in getattr(level, name):
            if words < 1:
                yield f"{level.name}.{name}.{tensor} is {words}; allowed: at least 1"
    for name in ("read_bandwidth", "write_bandwidth", "shared_bandwidth"):
        value = getattr(level, name)
        if value is not None and value <= 0:
            yield f"{level.name}.{name} is {value}; allowed: a positive number"
    for name in ("read_energy", "write_energy", "update_energy", "leak"):
        if getattr(level, name) < 0:
            yield (
                f"{level.name}.{name} is {getattr(level, name)}; allowed: "
                "a number that is not negative"
            )
