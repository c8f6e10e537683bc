"""Floating point in hardware: sums, products and quotients are NumPy's, bit for bit, but for subnormal numbers,
which are zero; and what an array must give is what that arithmetic makes of it."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ithaca.files.writing import write_folder
from ithaca.formulations.data_types import data_type
from ithaca.plugins.rtl.exports import float_sums
from ithaca.plugins.rtl.exports.bench_text import hexadecimal
from ithaca.plugins.rtl.exports.float_sums import bit_patterns, float_patterns, rounded
from ithaca.plugins.rtl.exports.folder import library
from ithaca.plugins.rtl.exports.hardware import EXPONENTS, Hardware, in_exact_edition
from ithaca.plugins.rtl.exports.tools import compiled
from ithaca.plugins.rtl.formulations.values import random_tensors, reference
from ithaca.workloads.library import workload_names
from tests.plugins.rtl.exports.cases import random_case

BITS = {"fp32": 32, "fp16": 16, "bf16": 16}


def numbers(patterns, name):
    """Numbers of a type by their bits."""
    if name == "fp16":
        return patterns.astype(np.uint16).view(np.float16).astype(np.float32)
    shifted = patterns << (16 if name == "bf16" else 0)
    return shifted.astype(np.uint32).view(np.float32)


def pairs(name, count):
    """Bits of pairs: every two of the corners of a type, then random ones, of which a third are near
    each other, and a third have products near the smallest numbers."""
    draw, bits, exponent = np.random.default_rng(count), BITS[name], EXPONENTS[name]
    fraction = bits - 1 - exponent
    one = ((1 << exponent - 1) - 1) << fraction
    most = (1 << bits - 1) - 1
    infinite = most + 1 - (1 << fraction)
    unsigned = [0, 1, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, one - 1, one, one + 1,
                infinite - 1, infinite, infinite + 1, most]  # fmt: skip
    corners = np.array([n + sign for n in unsigned for sign in (0, 1 << bits - 1)])
    first = draw.integers(0, 1 << bits, count)
    second = draw.integers(0, 1 << bits, count)
    near, small = np.arange(count) % 3 == 1, np.arange(count) % 3 == 2
    apart = draw.integers(-(fraction + 4) << fraction, (fraction + 4) << fraction, count)
    second[near] = (first + apart)[near] % (1 << bits)
    other = (one - (first & most) + draw.integers(-2 << fraction, 2 << fraction, count)) & most
    second[small] = (other + (second & 1 << bits - 1))[small]
    crossed = np.stack(np.meshgrid(corners, corners), -1).reshape(-1, 2)
    return np.concatenate([crossed, np.stack([first, second], -1)])[:count]


def lines(name, count):
    """Pairs with their sums, products and quotients."""
    given = pairs(name, count)
    first, second = (rounded(numbers(each, name), name) for each in given.T)
    nan = (1 << BITS[name] - 1) - (1 << BITS[name] - 2 - EXPONENTS[name])
    with np.errstate(all="ignore"):
        results = [
            np.where(np.isnan(found), nan, bit_patterns(rounded(found, name), name))
            for found in (first + second, first * second, first / second)
        ]
    digits = BITS[name] // 4
    rows = np.column_stack([given, *results]).tolist()
    return "".join("".join(f"{n:0{digits}x}" for n in row) + "\n" for row in rows)


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize("count", [3_000, 200_000])
def test_sums_products_and_quotients_are_those_of_numpy(count, folder):
    bench = (Path(__file__).parent / "floats.sv").read_text().replace("`COUNT", str(count))
    operators = ("/ithaca_float", "/ithaca_divide", "/ithaca_delay")
    files = {
        path: text for path, text in library().items() if any(each in path for each in operators)
    }
    pairs_of = {f"{name}.hex": lines(name, count) for name in BITS}
    write_folder(
        folder, {"bench.sv": bench, "array.sv": "", "array_pe.sv": "", **files, **pairs_of}
    )
    with compiled(folder) as made:
        run = made.run()
    assert (run.right, run.wrong) == (3 * count, 0)


def test_numbers_are_rounded_to_the_nearest():
    draw = np.random.default_rng(3)
    given = (draw.standard_normal(500) * 2.0 ** draw.integers(-20, 15, 500)).astype(np.float32)
    given[:4] = [1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-11, 1 + 3 * 2.0**-11]  # ties
    for name, fraction in (("bf16", 7), ("fp16", 10)):
        for number, found in zip(given.tolist(), rounded(given, name).tolist(), strict=True):
            unit = Fraction(2) ** (math.frexp(number)[1] - 1 - fraction)
            nearest = round(Fraction(number) / unit) * unit  # a tie to even
            subnormal = name == "fp16" and abs(nearest) < Fraction(2) ** -14
            assert found == (0 if subnormal else float(nearest))


@pytest.mark.parametrize(
    ("power", "looked_for"), [(0, False), (-30, False), (-62, True), (-80, True)]
)
def test_subnormal_sums_are_looked_for_where_there_may_be_some(power, looked_for, monkeypatch):
    chosen, _ = random_case(5, "mm")
    exact = in_exact_edition(replace(chosen, data=data_type("fp32")))
    hardware, tensors = Hardware(exact), random_tensors(exact.nest, exact.data)
    scaled = {
        access.tensor: hardware.places.pad(access, tensors[access.tensor] * np.float32(2.0**power))
        for access in exact.nest.inputs
    }
    flags = set()

    def noted(numbers, name, *, normal=False):
        flags.add(normal)
        return rounded(numbers, name)

    patterns = float_patterns(hardware, scaled)
    monkeypatch.setattr(float_sums, "rounded", noted)
    for tensor, each in float_patterns(hardware, scaled).items():
        assert np.array_equal(patterns[tensor], each)
    assert (True in flags) != looked_for


@pytest.mark.parametrize("terms", [1, 100])
def test_sums_are_alike_however_many_are_added_at_a_time(terms, monkeypatch):
    def patterns():
        chosen, _ = random_case(5, "mm")
        exact = in_exact_edition(replace(chosen, data=data_type("fp32")))
        hardware, tensors = Hardware(exact), random_tensors(exact.nest, exact.data)
        padded = {
            access.tensor: hardware.places.pad(access, tensors[access.tensor])
            for access in exact.nest.inputs
        }
        return float_patterns(hardware, padded)

    whole = patterns()
    monkeypatch.setattr(float_sums, "TERMS", terms)
    for tensor, parts in patterns().items():
        assert np.array_equal(whole[tensor], parts)


@pytest.mark.parametrize("bits", [16, 36, 64])
def test_arrays_are_hexadecimal_as_integers_are(bits):
    own = np.random.default_rng(bits).integers(-(2**62), 2**62, 50)
    assert hexadecimal(own, bits).split() == [f"{int(n) % 2**bits:0{bits // 4}x}" for n in own]


@pytest.mark.parametrize("name", workload_names())
def test_what_must_come_out_is_the_result(name):
    chosen, _ = random_case(5, name)
    exact = in_exact_edition(replace(chosen, data=data_type("fp32")))
    hardware, nest = Hardware(exact), chosen.nest
    tensors = random_tensors(nest, exact.data)
    expected, allowed = reference(nest, tensors)
    padded = {
        access.tensor: hardware.places.pad(access, tensors[access.tensor]) for access in nest.inputs
    }
    patterns = float_patterns(hardware, padded)[nest.output.tensor]
    found = numbers(patterns, "fp32")[hardware.places.tensor_place(nest.output)]
    assert (np.abs(found - expected) <= allowed).all()
    assert found.any()
