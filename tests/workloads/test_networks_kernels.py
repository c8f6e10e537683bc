"""Convolutions and matrix products as kernels: counted, and compared with NumPy's rules."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.workloads.networks.network_documents import quantity
from ithaca.workloads.networks.operators import (
    Axis,
    convolution,
    matrix_product,
    output_extent,
    phases,
)

extents = st.integers(1, 4)


def convolved(batch, inputs, outputs, size, window, stride=(1, 1), dilation=(1, 1), groups=1):
    """The kernel of a convolution with an output of a size."""
    axes = [Axis(*each) for each in zip(size, window, stride, dilation, strict=True)]
    return convolution(batch, inputs, outputs, axes, groups)


@given(
    st.lists(st.tuples(extents, st.booleans(), st.booleans()), max_size=3),
    extents,
    extents,
    extents,
    st.integers(0, 3),
)
def test_matrix_products_count_what_numpy_computes(batch, rows, columns, inner, cut):
    left = (*(1 if one else n for n, one, _ in batch), rows, inner)
    right = (*(1 if one else n for n, _, one in batch), inner, columns)[min(cut, len(batch)) :]
    result = np.matmul(np.zeros(left), np.zeros(right))
    layer = matrix_product(left, right).layer("l")
    assert layer.operations == result.size * inner
    assert layer.count == 1


@pytest.mark.parametrize(
    ("left", "right", "kernel", "sizes"),
    [
        ((5, 7), (7, 9), "mm", {"i": 5, "j": 9, "k": 7}),
        ((7,), (7, 9), "mm", {"i": 1, "j": 9, "k": 7}),
        ((5, 7), (7,), "mm", {"i": 5, "j": 1, "k": 7}),
        ((7,), (7,), "mm", {"i": 1, "j": 1, "k": 7}),
        ((2, 5, 7), (7, 9), "mm", {"i": 10, "j": 9, "k": 7}),
        ((5, 7), (2, 7, 9), "mm", {"i": 5, "j": 18, "k": 7}),
        ((2, 3, 5, 7), (2, 3, 7, 9), "batched_mm", {"b": 6, "i": 5, "j": 9, "k": 7}),
        ((2, 3, 5, 7), (3, 7, 9), "batched_mm", {"b": 3, "i": 10, "j": 9, "k": 7}),
    ],
)
def test_batch_dimensions_of_one_factor_become_rows_or_columns(left, right, kernel, sizes):
    use = matrix_product(left, right)
    assert use.kernel == kernel
    assert dict(use.sizes) == sizes


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        ((5, 7), (8, 9), "the reduced dimensions differ"),
        ((2, 5, 7), (3, 7, 9), "batch dimensions 2 and 3 differ"),
        ((), (3,), "at least one dimension each"),
    ],
)
def test_products_that_do_not_fit_are_refused(left, right, told):
    with pytest.raises(InputError, match=told):
        matrix_product(left, right)


@given(st.integers(1, 30), extents, extents, extents, st.integers(0, 6))
def test_output_extents_count_the_windows(extent, window, stride, dilation, padding):
    reach = dilation * (window - 1)
    starts = [
        start for start in range(0, extent + padding, stride) if start + reach < extent + padding
    ]
    if starts:
        assert output_extent(extent, window, stride, dilation, padding) == len(starts)
    else:
        with pytest.raises(InputError, match="does not fit"):
            output_extent(extent, window, stride, dilation, padding)


@given(st.integers(1, 3), extents, extents, st.integers(1, 5), extents, extents, extents)
def test_convolutions_count_their_operations(batch, groups, inputs, outputs, size, window, stride):
    shape = (size, size + 1), (window, 2), (stride, stride)
    layer = convolved(batch, groups * inputs, groups * outputs, *shape, groups=groups).layer("l")
    assert layer.operations == batch * groups * outputs * inputs * size * (size + 1) * window * 2


def test_depthwise_convolutions_are_one_nest_over_all_channels():
    use = convolved(1, 32, 32, (8, 8), (3, 3), groups=32)
    assert (use.kernel, use.count) == ("depthwise_conv2d", 1)
    doubled = convolved(1, 32, 64, (8, 8), (3, 3), groups=32)
    assert (doubled.kernel, doubled.count) == ("depthwise_conv2d", 2)
    single = convolved(1, 1, 8, (8, 8), (3, 3), groups=1)
    assert (single.kernel, single.count) == ("conv2d", 1)


def test_strides_and_dilations_count_only_where_there_is_a_choice():
    row = convolved(1, 4, 4, (1, 8), (1, 3), (5, 2), (7, 3)).layer("l").nest
    assert dict(row.parameters) == {"s": 2, "d": 3}
    point = convolved(1, 4, 4, (1, 1), (1, 1), (5, 2), (7, 3)).layer("l").nest
    assert dict(point.parameters) == {"s": 1, "d": 1}


@given(
    st.lists(st.tuples(extents, extents, extents, extents), min_size=1, max_size=3), st.booleans()
)
def test_a_window_reads_what_its_strides_and_dilations_say(axes, depthwise):
    """Places that are read, step by step of each dimension, against the subscripts of the nest."""
    groups = 3 if depthwise else 1
    nest = convolution(1, 3, 3, [Axis(*axis) for axis in axes], groups).layer("l").nest
    read = nest.inputs[0].subscripts[:-1]
    places = sorted(
        sorted(
            sum(c * at for c, at in zip(coefficients, each, strict=True))
            for each in product(*(range(nest.sizes[loop]) for loop in loops))
        )
        for loops, coefficients in (zip(*subscript.terms, strict=True) for subscript in read)
    )
    expected = [sorted(y * s + p * d for y in range(n) for p in range(w)) for n, w, s, d in axes]
    kept = [each for each in expected if len(each) > 1]
    assert [each for each in places if len(each) > 1] == sorted(kept)


@given(st.integers(1, 12), st.integers(1, 6), extents, extents, st.integers(0, 5))
def test_phases_of_a_transposed_convolution_have_all_its_products(
    outputs, window, stride, dilation, before
):
    """Every pair of an output and an element of the window that an input lies on, one by one."""
    pairs = [
        (y, p)
        for y in range(outputs)
        for p in range(window)
        if (y + before - p * dilation) % stride == 0
    ]
    made = phases(Axis(outputs, window, stride, dilation), before)
    assert sum(axis.outputs * axis.window for axis in made) == len(pairs)
    assert sum(axis.outputs for axis in made) == len({y for y, _ in pairs})
    # neighbours in the window of an output read inputs so far apart
    steps = {
        (b - a) * dilation // stride
        for y in range(outputs)
        for a, b in pairwise([p for at, p in pairs if at == y])
    }
    assert steps <= {axis.dilation for axis in made}


def test_quantities_are_exact():
    parameters = {"a": 12, "b": 5}
    assert quantity(7, parameters) == 7
    assert quantity("a * b / 4", parameters) == 15
    assert quantity("3*a", parameters) == 36
    assert quantity("a - b + 2*b/5", parameters) == 9
    assert quantity("a*b - a/4*3", parameters) == 51
    with pytest.raises(ValueError, match="at least 1"):
        quantity("b-a", parameters)
    with pytest.raises(InputError, match="'a/b' is 12/5, no integer"):
        quantity("a/b", parameters)
    with pytest.raises(InputError, match="unknown name 'c'; allowed: integers and a, b"):
        quantity("a*c", parameters)
    for bad in ("", "a--b", "-1", "a-", "a**b", "(a)", "a b", "1e3", "__import__('os')"):
        with pytest.raises(InputError, match="is no quantity"):
            quantity(bad, parameters)
