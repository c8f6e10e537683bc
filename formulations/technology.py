"""Technology: what a clock cycle, an access and an operation cost on a platform, and how its
modules are timed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.machine import IDEAL, RTL, Machine, MemoryTiming

#: Clock unless a platform says otherwise (MHz).
DEFAULT_CLOCK_MHZ = Fraction(300)


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


DEFAULT_TECHNOLOGY = Technology()
