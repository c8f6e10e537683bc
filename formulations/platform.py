"""Platforms: what a device offers and how much of it a design may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import json_number
from ithaca.formulations.technology import Technology

#: Share of a resource a design may use unless the platform says otherwise: above it FPGA
#: routing usually fails.
DEFAULT_USABLE = Fraction(7, 10)


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of resource."""

    total: Fraction
    """How many the device has; of the bandwidth of its memory GB/s."""
    usable: Fraction = DEFAULT_USABLE
    """Share of them a design may use, in (0, 1]."""

    @property
    def limit(self) -> Fraction:
        """The number that a design may use."""
        return self.total * self.usable


@dataclass(frozen=True, slots=True)
class Share:
    """A bound as a share of what a platform has."""

    percent: Fraction
    """Per cent of a resource's total."""

    def __str__(self) -> str:
        return f"{json_number(self.percent)}%"


#: An upper bound as users state it: a number, a share of a resource, or None for no limit.
Bound = Fraction | Share | None


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory beside a device."""

    kind: str
    """Such as DDR4-2400."""
    channels: int
    """How many it has."""
    bandwidth: Resource
    """Peak of all channels (GB/s), and the share that a design may use."""
    capacity: Fraction | None = None
    """Size of all channels (GB, of 10^9 bytes); None where it is not stated."""


@dataclass(frozen=True)
class Platform:
    """A device: its clock, resources, memory and technology.

    Examples
    --------
    >>> next(p for p in ithaca.list_platforms() if p.name == "u250")
    <Platform u250: AMD Alveo U250 (XCU250, four super logic regions)>
    """

    name: str
    """Name on the command line."""
    description: str
    """Vendor and part."""
    technology: Technology
    """Its clock, energies, and area and power regressions."""
    resources: Mapping[str, Resource]
    """By metric name: dsp, bram18k, bandwidth, area, power; others (uram) limit
    what takes them, if anything does."""
    memory: Memory | None = None
    """Its memory, whose bandwidth is one of the resources."""
    own_energies: bool = True
    """Whether its energies are its own, of every data type; else they are the data type's."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where its figures are from, by what they are of."""

    def __repr__(self) -> str:
        return f"<Platform {self.name}: {self.description}>"

    def bounds(self, changes: Mapping[str, Bound]) -> dict[str, Fraction]:
        """The limits of its resources, replaced or extended by those given.

        Raises `InputError` if a share is of what the platform does not state, or what is lifted is
        no limit of it.

        Examples
        --------
        >>> u250 = next(p for p in ithaca.list_platforms() if p.name == "u250")
        >>> u250.bounds({"dsp": 100})
        {'dsp': 100, 'bram18k': Fraction(18816, 5), 'uram': Fraction(896, 1), 'bandwidth':
        Fraction(77, 1)}
        """
        own: dict[str, Bound] = {name: resource.limit for name, resource in self.resources.items()}
        bounds: dict[str, Fraction] = {}
        for name, bound in {**own, **changes}.items():
            if bound is None and name not in self.resources:
                text = f"limit {quoted(name)} is none, but {self.name} states no limit of that name"
                raise InputError(f"{text}; allowed: none for {', '.join(self.resources)}")
            if isinstance(bound, Share):
                if name not in self.resources:
                    known = ", ".join(self.resources)
                    text = (
                        f"limit {quoted(name)} is a share, but {self.name} "
                        "does not state that resource"
                    )
                    raise InputError(f"{text}; allowed: a number, or a share of {known}")
                bound = self.resources[name].total * bound.percent / 100
            if bound is not None:
                bounds[name] = bound
        return bounds

    @property
    def clock_mhz(self) -> Fraction:
        """Clock of the device (MHz)."""
        return self.technology.clock_mhz
