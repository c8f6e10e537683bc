"""Platforms: what a device offers and how much of it a design may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.technology import Technology

#: Share of a resource a design may use unless the platform says otherwise: above it FPGA
#: routing usually fails.
DEFAULT_USABLE = Fraction(7, 10)


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of resource."""

    total: int  #: How many the device has
    usable: Fraction = DEFAULT_USABLE  #: Share of them a design may use, in (0, 1]

    @property
    def limit(self) -> Fraction:
        """What a design may use."""
        return self.total * self.usable


@dataclass(frozen=True)
class Platform:
    """A device."""

    name: str  #: Name on the command line
    description: str  #: Vendor and part
    technology: Technology  #: Its clock, energies, and area and power regressions
    #: By metric name: dsp, bram18k, area, power; others (uram) are recorded but limit nothing yet.
    resources: Mapping[str, Resource]

    @property
    def clock_mhz(self) -> Fraction:
        """Clock (MHz)."""
        return self.technology.clock_mhz
