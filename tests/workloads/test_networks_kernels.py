"""Convolutions and matrix products as kernels: counted, and compared with NumPy's rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.workloads.networks.network_documents import quantity
from ithaca.workloads.networks.operators import (
    FeatureMap,
    convolution,
    matrix_product,
    output_extent,
)

extents = st.integers(1, 4)


def convolved(
    batch,
    inputs,
    outputs,
    size,
    *window,
    **rest,
):
    """The kernel of a convolution with an output of a size; window, stride and dilation follow."""
    return convolution(
        FeatureMap(batch, inputs, 99, 99), FeatureMap(batch, outputs, *size), *window, **rest
    )


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
    row = convolved(1, 4, 4, (1, 8), (1, 3), (5, 2), (7, 3))
    assert (dict(row.sizes)["s"], dict(row.sizes)["d"]) == (2, 3)
    point = convolved(1, 4, 4, (1, 1), (1, 1), (5, 2), (7, 3))
    assert (dict(point.sizes)["s"], dict(point.sizes)["d"]) == (1, 1)
    with pytest.raises(InputError, match="stride differs along rows and columns: 5 and 2"):
        convolved(1, 4, 4, (2, 8), (1, 3), (5, 2))
    with pytest.raises(InputError, match="dilation differs along rows and columns: 7 and 3"):
        convolved(1, 4, 4, (2, 8), (3, 3), (1, 1), (7, 3))


def test_quantities_are_exact():
    parameters = {"a": 12, "b": 5}
    assert quantity(7, parameters) == 7
    assert quantity("a * b / 4", parameters) == 15
    assert quantity("3*a", parameters) == 36
    with pytest.raises(InputError, match="'a/b' is 12/5, no integer"):
        quantity("a/b", parameters)
    with pytest.raises(InputError, match="unknown name 'c'; allowed: integers and a, b"):
        quantity("a*c", parameters)
    for bad in ("", "a-b", "-1", "a**b", "(a)", "a b", "1e3", "__import__('os')"):
        with pytest.raises(InputError, match="is no quantity"):
            quantity(bad, parameters)
