"""Area and power of an ASIC, from published regressions.

MAESTRO's cost tables (Kwon et al., MICRO 2019; regressions over synthesised blocks in 28 nm at 1
GHz): the PEs with their private (L1) memories grow with the number of PEs and lanes, the shared
(L2) memory with its size, the bus with bandwidth and PEs, the arbiter with the square of the PEs.
They were fitted for up to a few thousand PEs with memories in whole 64-byte and 32-KiB blocks;
outside of that, and for other technologies, they extrapolate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.number_systems import NumberSystem

#: Bytes of one block of private and of shared memory.
L1_BLOCK, L2_BLOCK = 64, 32_768


@dataclass(frozen=True, slots=True)
class Silicon:
    """Arguments of the regressions of area and power, in any number system."""

    numbers: NumberSystem
    """The number system."""
    pes: Any
    """Number of PEs."""
    lanes: Any
    """Multipliers per PE, each with an adder."""
    l1: Any
    """Blocks of private memory per PE, and of shared memory."""
    l2: Any
    bandwidth: Any
    """Words that the bus moves per cycle."""

    @staticmethod
    def of(
        numbers: NumberSystem, pes: Any, lanes: Any, private: Any, shared: Any, bandwidth: Any
    ) -> Silicon:
        """The arguments, of memories in bytes.

        Parameters
        ----------
        numbers : NumberSystem
            The number system of the others.
        pes, lanes : number
            PEs, and multipliers of each.
        private, shared : number
            Memory of a PE, and memory that all share (bytes).
        bandwidth : number
            Words that the bus moves per cycle.

        Returns
        -------
        Silicon
            The arguments, with memories in whole blocks.
        """
        l1, l2 = (
            numbers.ceil_div(held, numbers.number(Fraction(block)))
            for held, block in ((private, L1_BLOCK), (shared, L2_BLOCK))
        )
        return Silicon(numbers, pes, lanes, l1, l2, bandwidth)

    @property
    def area(self) -> Any:
        """Area of the accelerator (mm², of the regression's µm²)."""
        c = self._decimals
        return c("0.000001") * (
            self.pes * (c("4470.9") * self.lanes + c("4505.19") * self.l1)
            + c("4161.536") * self.l2
            + c("101.7938") * self._bus
            + c("395.473") * self.numbers.maximum(c("1"), self._arbiter)
        )

    @property
    def power(self) -> Any:
        """Power of the accelerator (W, of the regression's mW)."""
        c = self._decimals
        return c("0.001") * (
            self.pes * (c("1.2223") * self.lanes + c("0.2208") * self.l1)
            + c("4") * self.l2
            + c("0.0008") * self._bus
            + self.numbers.maximum(c("0.34"), c("0.00034") * self._arbiter)
        )

    @property
    def _bus(self) -> Any:
        """Size of the bus, which grows with bandwidth and PEs."""
        c = self._decimals
        return self.bandwidth * (c("14.662") * self.pes + c("28.895"))

    @property
    def _arbiter(self) -> Any:
        """Size of the arbiter, which grows with the square of the PEs."""
        c = self._decimals
        return c("1.2886") * self.pes * self.pes + c("5.5814") * self.pes - c("23.711")

    @property
    def _decimals(self) -> Callable[[str], Any]:
        """Exact decimals in the number system."""
        return lambda decimal: self.numbers.number(Fraction(decimal))
