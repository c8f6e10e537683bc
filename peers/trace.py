"""What a search method found, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from ithaca.formulations.configuration import Configuration


class Ended(Enum):
    """Why a search ended."""

    SAMPLES = "samples"
    """Its budget in samples is used up."""
    SECONDS = "seconds"
    """Its budget in seconds is used up."""
    EXHAUSTED = "exhausted"
    """It has been through the whole design space, or has proven its answer optimal."""
    STOPPED = "stopped"
    """It has nothing new to ask for."""


@dataclass(frozen=True, slots=True)
class Improvement:
    """A configuration better than all before it: samples (its own included) and seconds until then, and its exact objective."""

    samples: int
    seconds: float
    value: Fraction


@dataclass(frozen=True)
class Trace:
    """One run of a search method: improvements in order, their values falling strictly; samples and seconds in all.

    ``best`` is the configuration of the last improvement, None if no feasible one was met.
    """

    method: str
    seed: int
    improvements: tuple[Improvement, ...]
    samples: int
    seconds: float
    best: Configuration | None
    ended: Ended

    @property
    def value(self) -> Fraction | None:
        """The best objective; None if no feasible configuration was met."""
        return self.improvements[-1].value if self.improvements else None

    def value_at(self, samples: int) -> Fraction | None:
        """The best objective after so many samples."""
        return _last([found.value for found in self.improvements if found.samples <= samples])

    def value_after(self, seconds: float) -> Fraction | None:
        """The best objective after so many seconds."""
        return _last([found.value for found in self.improvements if found.seconds <= seconds])


def _last(values: list[Fraction]) -> Fraction | None:
    return values[-1] if values else None
