"""Data types: what a word weighs and what a multiply-accumulate costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from ithaca.files.errors import InputError
from ithaca.files.messages import among
from ithaca.files.words import parse_choice
from ithaca.formulations.platform import Platform
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology

#: Width of a DRAM port, and of the widest SIMD vector (bytes).
DRAM_PORT_BYTES = 64
MAX_SIMD_BYTES = 32

#: Bits that a sum of hardware may have, unless words are wider: the most where nothing is said.
ACCUMULATORS = (16, 32)


@dataclass(frozen=True, slots=True)
class DataType:
    """A number format on an FPGA."""

    name: str
    """Name on the command line."""
    c_type: str
    """Its type in C."""
    bytes: int
    """Bytes per word."""
    dsp_per_mac: Fraction
    """DSP blocks per multiply-accumulate unit."""
    dsp_per_factor: Fraction
    """DSP blocks to multiply a product of two words by one more."""
    add_pj: Fraction
    """Energy of an addition and of a multiplication (pJ)."""
    multiply_pj: Fraction
    accumulator_factor: int
    """A PE that accumulates in place needs Π t2 ≥ factor · SIMD (the adder's latency); 0 where
    additions take one cycle and need no hiding."""
    accumulator_bits: int = max(ACCUMULATORS)
    """Bits of a sum of hardware; 0 in files of versions that counted sums as wide as words."""
    as_built: bool = False
    """Whether the output and products are counted as hardware has them: sums of their own width,
    and products that share no DSP block; else as published."""

    @property
    def built(self) -> DataType:
        """The type as hardware has it."""
        bits = self.accumulator_bits or max(ACCUMULATORS)
        return replace(self, as_built=True, accumulator_bits=bits)

    @property
    def counted(self) -> DataType:
        """The type as the default edition counts it."""
        return self.built if self.accumulator_bits else self

    @property
    def published(self) -> DataType:
        """The type as published estimators count it."""
        return replace(self, as_built=False)

    def accumulating(self, bits: object) -> DataType:
        """The type with sums of so many bits; `InputError` if there are none."""
        allowed = [str(n) for n in ACCUMULATORS if n >= self.bits]
        chosen = int(parse_choice(f"--accumulator of {self.words}", bits, allowed))
        name = self.words if chosen == max(ACCUMULATORS) else f"{self.words}/{chosen}"
        return replace(self, name=name, accumulator_bits=chosen)

    def on(self, platform: Platform) -> Technology:
        """The platform's technology; where it states no energies of its own, with those published
        for the type (pJ).

        Moving a word costs in proportion to its bits; the default ratios are Eyeriss's, whose words
        and operations are int16.
        """
        return platform.technology if platform.own_energies else self.energies(platform.technology)

    def energies(self, technology: Technology = DEFAULT_TECHNOLOGY) -> Technology:
        """A technology with the energies of the type."""
        word = DATA_TYPES["int16"].mac_pj * self.bits / DATA_TYPES["int16"].bits
        moves = {
            kind: getattr(DEFAULT_TECHNOLOGY, kind) * word
            for kind in ("dram", "buffer", "hop", "register")
        }
        return replace(technology, **moves, mac=self.mac_pj, mac_pj=Fraction(1))

    @property
    def mac_pj(self) -> Fraction:
        """Energy of one multiply-accumulate (pJ)."""
        return self.add_pj + self.multiply_pj

    def dsp(self, factors: int) -> Fraction:
        """DSP blocks that multiply so many words and accumulate the product, once per cycle.

        As built, products that are cut to sums no wider than a word take a block each.
        """
        per_mac, per_factor = self.dsp_per_mac, self.dsp_per_factor
        if self.as_built:
            per_mac = Fraction(ceil(per_mac))
            if self.integer and self.accumulator_bits <= self.bits:
                per_factor = Fraction(1)
        return per_mac + (factors - 2) * per_factor

    @property
    def stated(self) -> str:
        """Name in files, with the bits of sums where these are counted: words of other widths
        alone are those of earlier versions (see `stated_data_type`)."""
        if self.as_built and self.bits < max(ACCUMULATORS):
            return f"{self.words}/{self.accumulator_bits}"
        return self.name

    @property
    def words(self) -> str:
        """Name of the type of words, whatever their sums."""
        return self.name.partition("/")[0]

    @property
    def integer(self) -> bool:
        """Whether words are integers."""
        return self.name.startswith("int")

    @property
    def sum_bytes(self) -> int:
        """Bytes per word of the output."""
        return self.accumulator_bits // 8 if self.as_built else self.bytes

    @property
    def bits(self) -> int:
        """The width of a word, in bits."""
        return 8 * self.bytes

    @property
    def port_words(self) -> int:
        """Words of tensors that are read that a DRAM port moves at once (W in
        `docs/cost-model.md`)."""
        return DRAM_PORT_BYTES // self.bytes

    @property
    def max_simd(self) -> int:
        """Widest SIMD factor (words)."""
        return MAX_SIMD_BYTES // self.bytes


def _type(
    name: str,
    c_type: str,
    size: int,
    dsp: str,
    per_factor: int,
    energy: tuple[str, str],
    factor: int,
) -> DataType:
    return DataType(
        name,
        c_type,
        size,
        Fraction(dsp),
        Fraction(per_factor),
        Fraction(energy[0]),
        Fraction(energy[1]),
        factor,
    )


#: The published condition is one of fp32 only: integer additions take one cycle. Half-precision
#: adders of Vitis HLS are pipelined as deeply as those of fp32 at the same clock, so 16-bit
#: floating point is held to the same.
#:
#: An fp32 multiplier takes 3 DSP blocks and an adder 2. So a product of three tensors takes 8, as
#: measured: AutoSA's TTMc and MTTKRP on a U250 have 1,024 lanes and 8,192 DSP blocks
#: (docs/examples/ttmc_large, mttkrp_large). Integer products keep all their bits: a 32-bit product
#: of two int16 words times a third needs two blocks with their 27 × 18 bit multipliers, a 16-bit
#: one of two int8 words needs one, and shares it with no other. fp16: multiplier (hmul, maximal
#: use) and adder (hadd, full use) of Vitis HLS take 2 each on UltraScale+. bf16: the 8-bit
#: significands multiply in one block; adders of custom formats are logic (AMD PG060, Floating-Point
#: Operator).
#:
#: Energies: 45 nm, 0.9 V, M. Horowitz, "Computing's energy problem", ISSCC 2014, Fig. 1.1.9 (int8,
#: fp16, fp32) and W. Dally's tutorial of NIPS 2015, which adds int16 additions. Between the
#: multipliers of 8 bits (0.2 pJ) and of 32 (3.1 pJ) that of 16 follows by the square of the width.
#: bf16 is fp16 times the ratios at 7 nm: additions 0.11/0.16, multiplications 0.21/0.34 (Jouppi et
#: al., "Ten lessons from three generations", ISCA 2021, Table 2).
DATA_TYPES: Mapping[str, DataType] = {
    t.name: t
    for t in (
        _type("fp32", "float", 4, "5", 3, ("0.9", "3.7"), 8),
        _type("fp16", "half", 2, "4", 2, ("0.4", "1.1"), 8),
        _type("bf16", "bfloat16", 2, "1", 1, ("0.275", "0.68"), 8),
        _type("int16", "short", 2, "1", 2, ("0.05", "0.8"), 0),
        _type("int8", "signed char", 1, "1/2", 1, ("0.03", "0.2"), 0),
    )
}


#: Their names, as help lists them.
DTYPES = " or ".join(", ".join(DATA_TYPES).rsplit(", ", 1))


def data_type(name: str) -> DataType:
    """Look up a data type; raises `InputError` for an unknown name.

    It may state the bits of a sum: ``int8/16``.
    """
    words, _, bits = name.partition("/")
    if words not in DATA_TYPES:
        raise InputError(f"unknown data type '{name}'{among(words, DATA_TYPES)}")
    return DATA_TYPES[words].accumulating(bits) if bits else DATA_TYPES[words]


def stated_data_type(name: str, *, summed: bool) -> DataType:
    """The data type that a file states. Where widths of sums count, but it says nothing of them, it
    is of an earlier version, in which sums were as wide as words."""
    data = data_type(name)
    earlier = summed and "/" not in name and data.bits < max(ACCUMULATORS)
    return replace(data, accumulator_bits=0) if earlier else data
