"""Platform files: the devices that come with Ithaca, and a user's own.

A platform is a YAML or JSON document::

    name: u250
    description: AMD Alveo U250
    clock_mhz: 300                         # default 300
    resources:
      dsp: {total: 12288, usable: 0.7}     # usable: share a design may use, default 0.7
      bram18k: {total: 5376}
      uram: {total: 1280}
    memory: {kind: DDR4-2400, channels: 4, bandwidth: 77, usable: 1, capacity: 68.7}  # GB/s, GB
                                           # for ithaca simulate also latency, refresh,
                                           # refresh_period (cycles)
    sources: {resources: DS962, memory: DS962}
    energy: {dram: 200, buffer: 6}         # relative to one MAC; also hop, register, mac,
                                           # mac_pj (pJ); default: the data type's
    cost_tables: maestro-28nm              # for ASICs: what area and power are
    logic:                                 # fitted, by resource and data types
    - {resource: lut, types: [fp32], base: 21400, pes: 812.5, mac_bits: 4.12}
    # cycles, of the cycle model edition
    machine: {swap: 1, entry: 0, hop: 2, mac: 8, fifo_depth: 2, sums: first, fitted_fifos: false}

How YAML is read stands in `ithaca.files.yaml_documents`.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from os import PathLike
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from ithaca.files.documents import InputDocument, find_document, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, refuse
from ithaca.files.numbers import fraction
from ithaca.files.reading import packaged_names
from ithaca.formulations import machine
from ithaca.formulations.data_models import built, model_of
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.documents import Note
from ithaca.formulations.machine import Few, MachineDocument
from ithaca.formulations.platform import DEFAULT_USABLE, Memory, Platform, Resource
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, LogicFit, Technology

#: Largest platform file (bytes); the packaged ones have 300.
MAX_BYTES = 65_536

PACKAGE = "ithaca.formulations.platforms"


class ResourceDocument(InputDocument):
    """One kind of resource: how many there are, and the share a design may use."""

    total: Annotated[int, Field(ge=0, le=10**9)]
    usable: Annotated[float, Field(gt=0, le=1)] = float(DEFAULT_USABLE)


class AmountDocument(ResourceDocument):
    """An amount, of which there may be parts: more than any wafer has (70,000 mm²) is an area in
    µm²."""

    total: Annotated[float, Field(gt=0, le=100_000)]  # type: ignore[assignment]


class ResourcesDocument(InputDocument):
    """The resources of a device: blocks of an FPGA, area (mm²) and power (W) of an ASIC."""

    dsp: ResourceDocument | None = None
    bram18k: ResourceDocument | None = None
    uram: ResourceDocument | None = None
    lut: ResourceDocument | None = None
    ff: ResourceDocument | None = None
    area: AmountDocument | None = None
    power: AmountDocument | None = None


class MemoryDocument(InputDocument):
    """The memory beside a device: GB/s of all channels together, the share that a design may use,
    and what they hold (GB).

    Simulated memory is ideal unless cycles are stated: from a request to its first word, that a
    refresh takes, and from one to the next. Then all DRAM modules share the bandwidth, too.
    """

    kind: Annotated[str, Field(max_length=100)] = ""
    channels: Annotated[int, Field(ge=1, le=10**6)]
    bandwidth: Annotated[float, Field(gt=0, le=10**9)]
    usable: Annotated[float, Field(gt=0, le=1)] = 1.0
    capacity: Annotated[float, Field(gt=0, le=10**9)] | None = None
    latency: Few = 0
    refresh: Few = 0
    refresh_period: Few = 0

    def waits(self, clock_mhz: Fraction) -> machine.MemoryTiming:
        """Delays of simulated DRAM modules; `InputError` if a refresh outlasts its period."""
        if not (self.latency or self.refresh or self.refresh_period):
            return machine.IDEAL
        shared = floor(fraction(self.bandwidth) * fraction(self.usable) * 1000 / clock_mhz)
        return machine.MemoryTiming(self.latency, self.refresh, self.refresh_period, max(shared, 1))


class SourcesDocument(InputDocument):
    """The sources of figures."""

    resources: Note = ""
    memory: Note = ""
    energy: Note = ""
    logic: Annotated[str, Field(max_length=5_000)] = ""


class LogicDocument(model_of(LogicFit)):  # type: ignore[misc]
    """Look-up tables or flip-flops of arrays, in proportion to their features."""

    @field_validator("types")
    @classmethod
    def _known(cls, types: list[str]) -> list[str]:
        for name in types:
            if name not in DATA_TYPES:
                raise ValueError(f"one of {', '.join(DATA_TYPES)}")
        return types


Energy = Annotated[float, Field(ge=0, le=10**9)]


class EnergyDocument(InputDocument):
    """Energies relative to one multiply-accumulate, and its own (pJ), of every data type."""

    dram: Energy = float(DEFAULT_TECHNOLOGY.dram)
    buffer: Energy = float(DEFAULT_TECHNOLOGY.buffer)
    hop: Energy = float(DEFAULT_TECHNOLOGY.hop)
    register_: Energy = float(DEFAULT_TECHNOLOGY.register)
    mac: Energy = float(DEFAULT_TECHNOLOGY.mac)
    mac_pj: Energy = float(DEFAULT_TECHNOLOGY.mac_pj)


class PlatformFile(InputDocument):
    """A device as a platform file describes it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
    description: Note = ""
    clock_mhz: Annotated[float, Field(ge=0.001, le=100_000)] = float(DEFAULT_TECHNOLOGY.clock_mhz)
    resources: ResourcesDocument
    memory: MemoryDocument | None = None
    sources: SourcesDocument = SourcesDocument()
    energy: EnergyDocument | None = None
    cost_tables: Literal["maestro-28nm"] | None = None
    logic: Annotated[list[LogicDocument], Field(max_length=100)] = Field(default_factory=list)
    machine: MachineDocument = MachineDocument()


def platform_names() -> tuple[str, ...]:
    """Names of the platforms that come with Ithaca."""
    return packaged_names(PACKAGE)


def platform_file(name_or_path: str) -> tuple[PlatformFile, object]:
    """The document of a platform, as `load_platform` finds it, and where it stands."""
    document, where = find_document("platform", name_or_path, PACKAGE, MAX_BYTES)
    return validated(PlatformFile, document, where), where


def load_platform(name_or_path: str) -> Platform:
    """Load a platform by name, one of `platform_names`, or from a user's own file.

    A path contains a separator or ends in .yaml, .yml or .json. Raises `InputError` if there is no
    such platform, or its file is not a platform file.
    """
    return platform_of(*platform_file(name_or_path))


def platform_of(read: PlatformFile, where: object) -> Platform:
    """The platform that a document states, which stands at a place."""
    resources = {
        name: Resource(fraction(resource.total), fraction(resource.usable))
        for name in ResourcesDocument.model_fields
        if (resource := getattr(read.resources, name)) is not None
    }
    if not resources:
        raise refuse(
            where,
            "resources is empty; allowed: at least one of "
            + ", ".join(ResourcesDocument.model_fields),
        )
    if read.cost_tables is None and read.resources.area is not None:
        raise refuse(
            where,
            "resources.area needs cost_tables, which say what area is; "
            "allowed: cost_tables: maestro-28nm",
        )
    memory, clock, waits = None, fraction(read.clock_mhz), machine.IDEAL
    if (stated := read.memory) is not None:
        resources["bandwidth"] = Resource(fraction(stated.bandwidth), fraction(stated.usable))
        holds = None if stated.capacity is None else fraction(stated.capacity)
        memory = Memory(stated.kind, stated.channels, resources["bandwidth"], holds)
        try:
            waits = stated.waits(clock)
        except InputError as error:
            raise refuse(where, f"memory: {error}") from None
    stated_energy = read.energy or EnergyDocument()
    energies: dict[str, Any] = {
        name: fraction(value) for name, value in stated_energy.model_dump(by_alias=True).items()
    }
    timed = built(machine.Machine, read.machine)
    with errors_at(f"{where}: logic"):
        fits = tuple(built(LogicFit, each) for each in read.logic)
    technology = Technology(
        clock_mhz=clock,
        cost_tables=read.cost_tables,
        machine=timed,
        memory=waits,
        logic=fits,
        **energies,
    )
    sources = {of: text for of, text in read.sources if text}
    return Platform(
        read.name, read.description, technology, resources, memory, read.energy is not None, sources
    )


def read_platform(platform: str | PathLike[str] | Platform) -> Platform:
    """A platform, or the name or path of one."""
    return platform if isinstance(platform, Platform) else load_platform(str(platform))
