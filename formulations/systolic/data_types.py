"""Data types: what a word weighs and what a multiply-accumulate costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.workloads.errors import InputError

#: Width of a DRAM port, and of the widest SIMD vector (bytes; DESIGN.md §4 and §6).
DRAM_PORT_BYTES = 64
MAX_SIMD_BYTES = 32


@dataclass(frozen=True, slots=True)
class DataType:
    """A number format on an FPGA."""

    name: str  #: Name on the command line
    c_type: str  #: Its type in C
    bytes: int  #: Bytes per word
    dsp_per_mac: Fraction  #: DSP blocks per multiply-accumulate unit
    dsp_per_factor: Fraction  #: DSP blocks to multiply a product of two words by one more
    #: A PE that accumulates in place needs Π t2 ≥ factor · SIMD (the adder's latency); 0 where additions take one cycle and
    #: need no hiding.
    accumulator_factor: int

    def dsp(self, factors: int) -> Fraction:
        """DSP blocks that multiply so many words and accumulate the product, once per cycle."""
        return self.dsp_per_mac + (factors - 2) * self.dsp_per_factor

    @property
    def bits(self) -> int:
        """Bits per word."""
        return 8 * self.bytes

    @property
    def port_words(self) -> int:
        """Words a DRAM port moves at once (``W`` in DESIGN.md §6)."""
        return DRAM_PORT_BYTES // self.bytes

    @property
    def max_simd(self) -> int:
        """Widest SIMD factor (words)."""
        return MAX_SIMD_BYTES // self.bytes


#: The published condition is one of fp32 only: integer additions take one cycle.
#:
#: An fp32 multiplier takes 3 DSP blocks and an adder 2. So a product of three tensors takes 8, as measured: AutoSA's
#: TTMc and MTTKRP on a U250 have 1,024 lanes and 8,192 DSP blocks (docs/examples/ttmc_large, mttkrp_large).
#: Integer products keep all their bits: a 32-bit product of two int16 words times a third needs two blocks with their
#: 27 × 18 bit multipliers, a 16-bit one of two int8 words needs one, and shares it with no other.
DATA_TYPES: Mapping[str, DataType] = {
    t.name: t
    for t in (
        DataType("fp32", "float", 4, Fraction(5), Fraction(3), 8),
        DataType("int16", "short", 2, Fraction(1), Fraction(2), 0),
        DataType("int8", "signed char", 1, Fraction(1, 2), Fraction(1), 0),
    )
}


def data_type(name: str) -> DataType:
    """Look up a data type; raises `InputError` for an unknown name."""
    if name not in DATA_TYPES:
        raise InputError(f"unknown data type '{name}'; allowed: {', '.join(DATA_TYPES)}")
    return DATA_TYPES[name]
