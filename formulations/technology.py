"""Technology: what a clock cycle, an access and an operation cost on a platform, and how its
modules are timed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Literal

from ithaca.files.errors import InputError
from ithaca.formulations.machine import IDEAL, RTL, Machine, MemoryTiming

#: Clock unless a platform says otherwise (MHz).
DEFAULT_CLOCK_MHZ = Fraction(300)


#: Largest coefficient of a resource, and the most that its unit is divided into.
MOST = 10**6


@dataclass(frozen=True, slots=True)
class LogicFit:
    """A resource of logic in proportion to features of arrays, fitted to synthesized ones."""

    resource: Literal["lut", "lutram", "ff"]
    """Its name."""
    types: tuple[str, ...]
    """Data types of the words of these arrays, such as int8."""
    base: Fraction = Fraction(0)
    """How much of it an array takes, whatever its size; and then for each buffer, bit of a pack of
    an I/O module, bit of a word between buffers and PEs, PE, bit of a PE's sums, and bit of the
    sums of a MAC unit."""
    buffers: Fraction = Fraction(0)
    pack_bits: Fraction = Fraction(0)
    word_bits: Fraction = Fraction(0)
    pes: Fraction = Fraction(0)
    sum_bits: Fraction = Fraction(0)
    mac_bits: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name, rate in zip(FEATURES, self.rates, strict=True):
            if not 0 <= rate <= MOST or (rate * MOST).denominator != 1:
                raise InputError(
                    f"{name} of {self.resource} is {float(rate)}; allowed: 0 to {MOST:,}, with six "
                    "decimals at most"
                )

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The coefficients, in the order of their fields."""
        return tuple(getattr(self, name) for name in FEATURES)


#: Names of the features, in the order of the fields.
FEATURES = tuple(each.name for each in fields(LogicFit))[2:]


@dataclass(frozen=True, slots=True)
class Technology:
    """Clock and energies of a platform.

    The default energies are the ratios of Eyeriss (Chen et al., ISCA 2016, Fig. 22), normalised to
    one multiply-accumulate; they are ratios, not measurements of a device. Where a platform states
    none of its own, data types have theirs (`ithaca.formulations.data_types.DataType.on`).
    """

    clock_mhz: Fraction = DEFAULT_CLOCK_MHZ
    """Clock (MHz)."""
    dram: Fraction = Fraction(200)
    """Energy of moving one word from or to DRAM, of one access to an on-chip buffer, of one step
    between neighbouring modules, of one register access, and of one multiply-accumulate, each
    relative to the last."""
    buffer: Fraction = Fraction(6)
    hop: Fraction = Fraction(2)
    register: Fraction = Fraction(1)
    mac: Fraction = Fraction(1)
    mac_pj: Fraction = Fraction(1)
    """Energy of one multiply-accumulate (pJ)."""
    cost_tables: str | None = None
    """Name of the area and power regressions that hold (`ithaca.formulations.hardware.silicon`);
    None where none do, as on FPGAs."""
    machine: Machine = RTL
    """Cycles of loops, buffers and FIFOs, for the cycle model edition and simulation."""
    memory: MemoryTiming = IDEAL
    """Timing of DRAM modules, for simulation."""
    uram: bool = False
    """Whether buffers inside DRAM modules are of URAM, not of block RAM."""
    logic: tuple[LogicFit, ...] = ()
    """Look-up tables and flip-flops as the platform states them."""

    @property
    def giga(self) -> Fraction:
        """One in a cycle, such as a byte or an operation, in 10⁹ in a second."""
        return self.clock_mhz / 1000

    @property
    def watts(self) -> Fraction:
        """One pJ in a cycle (W)."""
        return self.clock_mhz / 10**6

    @property
    def cycles_per_ms(self) -> Fraction:
        """Cycles of a millisecond."""
        return self.clock_mhz * 1000


DEFAULT_TECHNOLOGY = Technology()
