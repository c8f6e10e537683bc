"""Number formats: the bits of a value, and what a multiplication of it costs.

A format is a *package*: so many values of so many bits each, and bits that they share, such as the
scale of a block. A value takes its share of those, in buffers and off chip, where packs are padded
to whole bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from ithaca.files.errors import InputError

#: Widest integers of tensors that are read.
MAX_INTEGER = 16

#: Most integers of a block, and most bits that they share.
MAX_BLOCK, MAX_SHARED = 1 << 16, 64


@dataclass(frozen=True, slots=True)
class Format:
    """A number format, and its arithmetic on an FPGA."""

    name: str
    """Name on the command line."""
    bits: int
    """Bits of a value by itself."""
    dsp_per_mac: Fraction
    """DSP blocks per multiply-accumulate unit."""
    dsp_per_factor: Fraction
    """DSP blocks to multiply a product of two values by one more."""
    add_pj: Fraction
    """Energy of an addition and of a multiplication (pJ)."""
    multiply_pj: Fraction
    accumulator_factor: int
    """A PE that accumulates in place needs Π t2 ≥ factor · SIMD (the adder's latency); 0 where
    additions take one cycle and need no hiding."""
    exponent: int = 0
    """Bits of the exponent, that of a shared scale with it; 0 for integers."""
    significand: int = 0
    """Bits of the significand, with the hidden one."""
    values: int = 1
    """Values that share bits."""
    shared: int = 0
    """Bits that they share."""
    c_type: str = ""
    """Its type in C; empty where it has none."""

    @property
    def integer(self) -> bool:
        """Whether values are integers."""
        return not self.exponent

    @property
    def word_bits(self) -> Fraction:
        """Bits of a value with its share of what several share."""
        return self.bits + Fraction(self.shared, self.values)

    @property
    def word_bytes(self) -> int | Fraction:
        """Bytes of a value with its share of what several share; an integer where it is one."""
        size = self.word_bits / 8
        return size.numerator if size.denominator == 1 else size

    def holds(self, other: Format) -> bool:
        """Whether each value of the other format is one of this one."""
        if other == self:
            return True
        if other.integer:
            least = self.bits if self.integer else self.significand + 1
            return other.bits <= least
        return self.exponent >= other.exponent and self.significand >= other.significand


#: The published condition is one of fp32 only: integer additions take one cycle. Half-precision
#: adders of Vitis HLS are pipelined as deeply as those of fp32 at the same clock, so floating point
#: of fewer bits is held to the same.
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
#:
#: Formats without published figures of their own cost what the next wider one does: integers of up
#: to 8 bits as int8, those of up to 16 as int16; fp8 and the blocks of the Open Compute Project's
#: "Microscaling Formats (MX)" specification, version 1.0 (32 values with a scale of 8 bits), as
#: bf16, whose significand and exponent hold their elements; scales of blocks are not multiplied.
_FP32 = Format(
    "fp32", 32, Fraction(5), Fraction(3), Fraction("0.9"), Fraction("3.7"), 8, 8, 24, c_type="float"
)
_FP16 = Format(
    "fp16", 16, Fraction(4), Fraction(2), Fraction("0.4"), Fraction("1.1"), 8, 5, 11, c_type="half"
)
_BF16 = ("0.275", "0.68")


def _small(
    name: str,
    bits: int,
    exponent: int,
    significand: int,
    package: tuple[int, int] = (1, 0),
    c_type: str = "",
) -> Format:
    """A floating-point format with the arithmetic of bf16."""
    add, multiply = map(Fraction, _BF16)
    one = Fraction(1)
    return Format(
        name, bits, one, one, add, multiply, 8, exponent, significand, *package, c_type=c_type
    )


def _integer(bits: int) -> Format:
    """An integer format of so many bits."""
    wide = bits > 8
    dsp, per_factor = (Fraction(1), 2) if wide else (Fraction(1, 2), 1)
    add, multiply = map(Fraction, ("0.05", "0.8") if wide else ("0.03", "0.2"))
    c_type = {8: "signed char", 16: "short"}.get(bits, "")
    name = f"int{bits}"
    return Format(name, bits, dsp, Fraction(per_factor), add, multiply, 0, c_type=c_type)


_MX = (32, 8)

#: All formats by name, those that published estimators and compilers have first.
FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (
        _FP32,
        _FP16,
        _small("bf16", 16, 8, 8, c_type="bfloat16"),
        _integer(16),
        _integer(8),
        _small("fp8e4m3", 8, 4, 4),
        _small("fp8e5m2", 8, 5, 3),
        _small("mxfp8", 8, 8, 4, _MX),
        _small("mxfp6", 6, 8, 4, _MX),
        _small("mxfp4", 4, 8, 2, _MX),
        *(_integer(bits) for bits in range(MAX_INTEGER - 1, 0, -1) if bits != 8),
    )
}

#: Formats that tools of one type of all tensors have.
PUBLISHED = tuple(FORMATS)[:5]

#: How messages list them, and help, in short and beside the published ones.
SHOWN = (*PUBLISHED, "fp8e4m3", "fp8e5m2", "mxfp8", "mxfp6", "mxfp4")
LISTED = "fp32, fp16, bf16, int8, int4, ..."
ALL_LISTED = f"{', '.join(SHOWN[5:])}, int1 to int{MAX_INTEGER}, int4b32s16"

_BLOCK = re.compile(r"(int\d{1,2})b([1-9]\d{0,4})s([1-9]\d?)")


def number_format(name: str, what: str = "data type") -> Format:
    """Look up a format; raises `InputError` for an unknown name.

    Blocks of integers are called after their values, how many share bits, and how many bits those
    are: ``int4b32s16``.
    """
    if name in FORMATS:
        return FORMATS[name]
    block = _BLOCK.fullmatch(name)
    if block is None or block[1] not in FORMATS:
        from ithaca.formulations.format_names import unknown_format

        raise unknown_format(name, what, SHOWN)
    values, shared = int(block[2]), int(block[3])
    if values > MAX_BLOCK or shared > MAX_SHARED:
        raise InputError(
            f"{what} is '{name}'; allowed: blocks of at most {MAX_BLOCK:,} values that share at "
            f"most {MAX_SHARED} bits"
        )
    return replace(FORMATS[block[1]], name=name, values=values, shared=shared, c_type="")


@cache
def multiplied(formats: tuple[Format, ...]) -> Format:
    """The format in which values of several are multiplied: the least that holds all of them, of
    blocks their elements, exactly by itself, in DSP blocks and then in bits."""
    distinct = set(formats)
    if len(distinct) == 1:
        return formats[0]
    alone = (form for form in FORMATS.values() if not form.shared)
    # fp32 holds all
    return next(f for f in sorted(alone, key=_cost) if all(map(f.holds, distinct)))


def _cost(form: Format) -> tuple[Fraction, Fraction, str]:
    """DSP blocks of hardware that shares none, and bits."""
    return max(form.dsp_per_mac, Fraction(1)), form.word_bits, form.name
