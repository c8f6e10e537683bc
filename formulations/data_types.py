"""Data types: the formats of a nest's tensors and sums, and what a multiply-accumulate costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from ithaca.files.words import parse_choice
from ithaca.formulations.formats import FORMATS, PUBLISHED, Format, multiplied, number_format
from ithaca.formulations.platform import Platform
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology

if TYPE_CHECKING:
    from ithaca.workloads.nest import LoopNest

#: Width of a DRAM port, and of the widest SIMD vector (bytes).
DRAM_PORT_BYTES = 64
MAX_SIMD_BYTES = 32

#: Bits that a sum of hardware may have, unless words are wider: the most where nothing is said.
ACCUMULATORS = (16, 32)


@dataclass(frozen=True, slots=True)
class DataType:
    """The formats of what a nest reads and sums up."""

    format: Format
    """The format of tensors that have none of their own."""
    accumulator_bits: int = max(ACCUMULATORS)
    """Width of the accumulators in bits."""
    as_built: bool = False
    """Whether the output and products are counted as hardware has them: sums of their own width,
    and products that share no DSP block; else as published."""
    tensors: tuple[tuple[str, Format], ...] = ()
    """The formats of all tensors that are read, where they differ."""

    @property
    def name(self) -> str:
        """Name on the command line."""
        usual = self.accumulator_bits == max(ACCUMULATORS)
        return self.words if usual else f"{self.words}/{self.accumulator_bits}"

    @property
    def arithmetic(self) -> Format:
        """The format in which products are made: the least that holds all that is multiplied."""
        return multiplied(tuple(own for _, own in self.tensors)) if self.tensors else self.format

    @property
    def plain(self) -> bool:
        """Whether all tensors are of one format that published estimators and compilers have."""
        return not self.tensors and self.format.name in PUBLISHED

    @property
    def built(self) -> DataType:
        """The type as hardware has it."""
        return replace(self, as_built=True)

    @property
    def published(self) -> DataType:
        """The type as published estimators count it."""
        return replace(self, as_built=False)

    def accumulating(self, bits: object) -> DataType:
        """The type with sums of so many bits; `InputError` if there are none."""
        allowed = [str(n) for n in ACCUMULATORS if n >= self.arithmetic.bits]
        chosen = int(parse_choice(f"--accumulator of {self.arithmetic.name}", bits, allowed))
        return replace(self, accumulator_bits=chosen)

    def of(self, nest: LoopNest) -> DataType:
        """The type with the formats that a nest states of its tensors.

        Raises `InputError` if one is unknown, or none of sums.
        """
        if not nest.formats:
            return self
        own = dict(nest.formats)
        sums = own.pop(nest.output.tensor, None)
        names = [access.tensor for access in nest.inputs]
        formats = {
            name: number_format(own[name], f"format of {name}") if name in own else self.format
            for name in names
        }
        whole = multiplied(tuple(formats.values())) if own.keys() >= {*names} else self.format
        differ = {each.name for each in formats.values()} != {whole.name}
        typed = replace(self, format=whole, tensors=tuple(formats.items()) if differ else ())
        if sums is not None:
            return typed._summing(nest.output.tensor, sums)
        if self.accumulator_bits < typed.arithmetic.bits:  # refused
            typed.accumulating(self.accumulator_bits)
        return typed

    def _summing(self, tensor: str, name: str) -> DataType:
        """The type with sums of a format: integers of integers, else floating point."""
        arithmetic = self.arithmetic
        able = {f"int{n}": n for n in ACCUMULATORS if n >= arithmetic.bits}
        if not arithmetic.integer:
            half = (each for each in ("fp16", "bf16") if _sums(each, arithmetic))
            able = {"fp32": 32, **dict.fromkeys(half, 16)}
        chosen = parse_choice(f"format of {tensor}, sums of {arithmetic.name},", name, able)
        return replace(self, accumulator_bits=able[chosen])

    def format_of(self, tensor: str) -> Format:
        """The format of a tensor that is read."""
        return next((own for name, own in self.tensors if name == tensor), self.format)

    @property
    def kept(self) -> Format:
        """The format of tensors that stay on chip between layers: that of the first that is
        read."""
        return self.tensors[0][1] if self.tensors else self.format

    def share(self, tensor: str) -> Fraction:
        """Bits of a word of a tensor that is read, over those of the type's: what moving it
        costs."""
        return self.format_of(tensor).word_bits / self.format.word_bits

    def on(self, platform: Platform) -> Technology:
        """The platform's technology; where it states no energies of its own, with those published
        for the type (pJ).

        Moving a word costs in proportion to its bits; the default ratios are Eyeriss's, whose words
        and operations are int16.
        """
        return platform.technology if platform.own_energies else self.energies(platform.technology)

    def energies(self, technology: Technology = DEFAULT_TECHNOLOGY) -> Technology:
        """A technology with the energies of the type."""
        eyeriss = data_type("int16")
        word = eyeriss.mac_pj * self.format.word_bits / eyeriss.format.bits
        moves = {
            kind: getattr(DEFAULT_TECHNOLOGY, kind) * word
            for kind in ("dram", "buffer", "hop", "register")
        }
        return replace(technology, **moves, mac=self.mac_pj, mac_pj=Fraction(1))

    @property
    def mac_pj(self) -> Fraction:
        """Energy of one multiply-accumulate (pJ)."""
        arithmetic = self.arithmetic
        return arithmetic.add_pj + arithmetic.multiply_pj

    @property
    def dsp_per_mac(self) -> Fraction:
        """DSP blocks per multiply-accumulate unit of two factors, as published."""
        return self.arithmetic.dsp_per_mac

    @property
    def dsp_per_factor(self) -> Fraction:
        """DSP blocks to multiply a product of two words by one more, as published."""
        return self.arithmetic.dsp_per_factor

    @property
    def accumulator_factor(self) -> int:
        """The least Π t2 over the SIMD factor, in PEs that accumulate in place."""
        return self.arithmetic.accumulator_factor

    def dsp(self, factors: int) -> Fraction:
        """DSP blocks that multiply so many words and accumulate the product, once per cycle.

        As built, products that are cut to sums no wider than a word take a block each.
        """
        arithmetic = self.arithmetic
        per_mac, per_factor = arithmetic.dsp_per_mac, arithmetic.dsp_per_factor
        if self.as_built:
            per_mac = Fraction(ceil(per_mac))
            if arithmetic.integer and self.accumulator_bits <= arithmetic.bits:
                per_factor = Fraction(1)
        return per_mac + (factors - 2) * per_factor

    @property
    def stated(self) -> str:
        """Name in files, with the bits of sums where these are counted."""
        if self.as_built and self.format.bits < max(ACCUMULATORS):
            return f"{self.words}/{self.accumulator_bits}"
        return self.name

    @property
    def words(self) -> str:
        """Name of the type of words, whatever their sums."""
        return self.format.name

    @property
    def c_type(self) -> str:
        """The type of all words in C."""
        return self.format.c_type

    @property
    def integer(self) -> bool:
        """Whether products are integers."""
        return self.arithmetic.integer

    @property
    def bytes(self) -> int | Fraction:
        """Bytes per word of tensors that have no format of their own."""
        return self.format.word_bytes

    @property
    def sum_bytes(self) -> int | Fraction:
        """Bytes per word of the output."""
        return self.accumulator_bits // 8 if self.as_built else self.bytes

    @property
    def bits(self) -> int:
        """The width of a word, in bits."""
        return self.format.bits

    @property
    def port_words(self) -> int:
        """Words of tensors that are read that a DRAM port moves at once (W in
        `docs/cost-model.md`)."""
        return int(DRAM_PORT_BYTES // self.bytes)

    @property
    def max_simd(self) -> int:
        """Widest SIMD factor (words): those of the widest format fill a vector."""
        widest = max((own.word_bytes for _, own in self.tensors), default=self.bytes)
        return int(MAX_SIMD_BYTES // widest)


def _sums(name: str, arithmetic: Format) -> bool:
    """Whether products may be summed up in a floating-point format."""
    return name == arithmetic.name or arithmetic.bits < number_format(name).bits


#: The types that published estimators and compilers have.
DATA_TYPES: Mapping[str, DataType] = {name: DataType(FORMATS[name]) for name in PUBLISHED}


def data_type(name: str) -> DataType:
    """Look up a data type; raises `InputError` for an unknown name.

    It may state the bits of a sum: ``int8/16``.
    """
    words, _, bits = name.partition("/")
    data = DataType(number_format(words))
    return data.accumulating(bits) if bits else data
