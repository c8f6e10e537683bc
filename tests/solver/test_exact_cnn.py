"""The exact engine against brute force on nests beyond matrix multiplication: all designs of
convolutions and others."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.workloads.kernel_files import kernel_nest
from ithaca.workloads.library import workload
from tests.solver.test_exact import check_against_brute_force

#: Nests of at most three tiled loops: brute force manages them with padding, t1 up to 16 and more.
FEW_LOOPS = {
    "conv1d": "{statement: 'y[f][o] += x[s*f+d*p][i] * w[o][p][i]', extents: {o: 4, f: 4, i: 4, p: 3}, untiled: [p], "
    "parameters: {s: 1, d: 1}}",
    "depthwise": "{statement: 'y[f][o] += x[s*f+d*p][o] * w[p][o]', extents: {o: 4, f: 4, p: 3}, untiled: [p], "
    "parameters: {s: 1, d: 1}}",
    "window tiled": "{statement: 'y[f][o] += x[s*f+p][o] * w[p][o]', extents: {o: 4, f: 4, p: 3}, parameters: {s: 1}, simd: o}",
    "mv": "{einsum: 'ij,j->i', extents: {i: 4, j: 4}}",
    "dot product": "{einsum: 'k,k->', extents: {k: 4}}",
    "three factors": "{einsum: 'ikl,k,l->i', extents: {i: 4, k: 4, l: 4}}",
}

#: Nests of four tiled loops and more: brute force manages them without padding.
MANY_LOOPS = ("conv2d", "pointwise_conv2d", "batched_mm", "mttkrp", "attention_values", "ttmc")

FEW, WINDOWS, DIVISIBLE = (1, 2, 3, 5, 7, 8, 12), (1, 2, 3), (1, 2, 4, 6, 8)


def small_nest(draw, kernel):
    """A kernel with small extents; strides and dilations of 1 to 3."""
    if kernel in FEW_LOOPS:
        nest = kernel_nest(
            parse_yaml(FEW_LOOPS[kernel].replace("{", "{name: small, ", 1), kernel), kernel
        )
    else:
        nest = workload(kernel)
    extents = FEW if kernel in FEW_LOOPS else DIVISIBLE if len(nest.band) < 5 else DIVISIBLE[:3]
    sizes = {loop: draw.choice(WINDOWS if loop in nest.untiled else extents) for loop in nest.loops}
    return nest.with_sizes(sizes | {name: draw.choice((1, 2, 3)) for name, _ in nest.parameters})


def small_problem(kernel, seed):
    """A small random problem: nest, design, edition, type, budget, objective and restrictions."""
    draw = random.Random(f"{kernel} {seed}")
    nest = small_nest(draw, kernel)
    found = designs(nest, draw.choice([Edition.EXACT, Edition.ODYSSEY]))
    limits = [
        Limit("dsp", Fraction(draw.randint(1, 400), 2)),
        Limit("bram18k", Fraction(draw.randint(2, 100))),
    ]
    if draw.random() < 0.3:
        limits.append(Limit("off_chip_words", Fraction(draw.randint(10, 3000))))
    mixed = "2*latency - off_chip_words/3 + dsp"
    data = DATA_TYPES[draw.choice(["fp32", "fp32", "int16", "int8"])]
    objective = draw.choice(["latency"] * 4 + ["off_chip_words", "dsp", "bram18k", mixed])
    options = SpaceOptions(draw.choice([1, 1, 2]), divisors_only=kernel in MANY_LOOPS)
    # every design in turn, so that seeds in a row cover them all
    design = SystolicDesign(nest, found[seed % len(found)], data, options)
    return Problem(design, tuple(limits), parse_objective(objective))


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("kernel", [*FEW_LOOPS, *MANY_LOOPS])
def test_optimum_equals_brute_force(kernel, seed):
    check_against_brute_force(small_problem(kernel, seed))


@pytest.mark.parametrize("seed", [1, 2, *range(4, 40)])
@pytest.mark.parametrize("kernel", [*FEW_LOOPS, *MANY_LOOPS])
def test_optimum_equals_brute_force_on_many_problems(kernel, seed):
    check_against_brute_force(small_problem(kernel, seed))


def check_every_design(sizes, edition):
    found = designs(workload("conv2d", sizes), edition)
    assert len(found) == 30
    draw = random.Random(0)
    for array in found:
        limits = (
            Limit("dsp", Fraction(draw.randint(20, 160))),
            Limit("bram18k", Fraction(draw.randint(10, 60))),
        )
        nest, objective = workload("conv2d", sizes), parse_objective("latency")
        check_against_brute_force(
            Problem(
                SystolicDesign(nest, array, DATA_TYPES["fp32"], SpaceOptions(divisors_only=True)),
                limits,
                objective,
            )
        )


def test_every_design_of_a_strided_convolution():
    check_every_design({"o": 2, "r": 2, "c": 2, "i": 2, "p": 3, "q": 2, "s": 2}, Edition.EXACT)


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_every_design_of_larger_convolutions(stride, edition):
    check_every_design({"o": 4, "r": 3, "c": 4, "i": 4, "p": 3, "q": 2, "s": stride}, edition)


@pytest.mark.parametrize("seed", range(36))
def test_padded_convolutions_equal_brute_force(seed):
    """With its columns untiled a convolution has few enough loops for brute force over padded
    tiles, too."""
    problem = small_problem("conv2d", seed)
    nest = replace(systolic(problem).nest, untiled=frozenset("cpq"))
    found = designs(nest, systolic(problem).array.edition)
    array = found[seed % len(found)]
    check_against_brute_force(problem.with_design(nest=nest, array=array, options=SpaceOptions()))
