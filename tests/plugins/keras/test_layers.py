"""Multiply-accumulates of Keras layers, counted by hand."""

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.keras.workloads import building
from tests.plugins.keras.models import chain, counts, functional, layer, read, tensor

QUERY, VALUE, KEY = (10, 16), (12, 16), (12, 24)


def attending(kind, arguments, names=(), old=None, **config):
    """A model of one layer of attention, with masks, as Keras 3 writes it, or as Keras 2."""
    shapes = {"q": QUERY, "v": VALUE, "k": KEY, "flat": (12,), "m": (10, 12), "deep": (1, 10, 12)}
    starts = [layer("InputLayer", n, batch_shape=[None, *shapes[n]]) for n in shapes]
    own = layer(kind, "a", **config)

    def passed(name):
        if not isinstance(name, str):
            return name and [passed(each) for each in name]
        return [name, 0, 0] if old else tensor(name, [None, *shapes[name]])

    keywords = {name: passed(each) for name, each in dict(names).items()}
    own["inbound_nodes"] = [{"args": [passed(each) for each in arguments], "kwargs": keywords}]
    if old:
        first = arguments[0]
        several = [first] if isinstance(first, str) else first
        own["inbound_nodes"] = [[[each, 0, 0, keywords] for each in several]]
    document = functional(*starts, own)
    document["config"]["input_layers"] = [[name, 0, 0] for name in shapes]
    return document


HEADS = {"num_heads": 2, "key_dim": 8}
GROUPED = {"num_query_heads": 2, "num_key_value_heads": 1, "head_dim": 8}

#: Products of queries, keys, values, scores, weighted values, and the output.
PLAIN = [10 * 16 * 16, 12 * 16 * 16, 12 * 16 * 16, 2 * 10 * 12 * 8, 2 * 10 * 12 * 8, 10 * 16 * 16]
SHARED = [PLAIN[0], PLAIN[1] // 2, PLAIN[2] // 2, *PLAIN[3:]]


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["MultiHeadAttention", "GroupQueryAttention"])
@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("qv", {}),
        ("q", {"value": "v"}),
        ("q", {"attention_mask": "m", "value": "v"}),
        ("q", {"value": "v", "value_mask": "flat"}),
        ("q", {"attention_mask": "deep", "value": "v", "training": None}),
        ("q", {"key": "k", "value": "v"}),
        ("q", {"value": "v", "key": "k", "attention_mask": "m"}),
        (("q", "v", None, None, None, None, "m"), {}),
        ("qvk", {}),
    ],
)
def test_heads_take_tensors_by_the_names_of_arguments(tmp_path, kind, old, arguments, names):
    if old and len(arguments) > 1:  # Keras 2 names all but the first
        names = {n: v for n, v in zip(("value", "key"), arguments[1:], strict=False) if v} | names
    config = HEADS if kind == "MultiHeadAttention" else GROUPED
    network = read(tmp_path, attending(kind, arguments, names, old, **config))
    wanted = PLAIN if kind == "MultiHeadAttention" else SHARED
    if "k" in (*arguments, *names.values()):
        share = 12 * 24 * 16 // (1 if kind == "MultiHeadAttention" else 2)
        wanted = [wanted[0], share, *wanted[2:]]
    parts = ("query", "key", "value", "scores", "values", "output")
    made = {run.source: run.count * run.nest.operations for run in network.order}
    assert made == {f"a.{part}": work for part, work in zip(parts, wanted, strict=True)}


@pytest.mark.parametrize("names", [{}, {"mask": [None, "flat"]}, {"mask": ["m", "flat"]}])
@pytest.mark.parametrize("old", [False, True])
def test_masks_of_attention_are_no_keys(tmp_path, old, names):
    network = read(tmp_path, attending("Attention", [["q", "v"]], names, old))
    made = {run.source: run.count * run.nest.operations for run in network.order}
    assert made == {"a.scores": 10 * 12 * 16, "a.values": 10 * 12 * 16}


@pytest.mark.parametrize(("scale", "scores"), [(True, [10 * 12 * 16]), (False, [])])
def test_additive_attention_sums_what_it_scales(tmp_path, scale, scores):
    masked = {"mask": [None, "flat"]}
    document = attending("AdditiveAttention", [["q", "v"]], masked, use_scale=scale)
    assert counts(read(tmp_path, document)) == [*scores, 10 * 12 * 16]


def cell(kind, units):
    return {"class_name": kind, "config": {"units": units}}


STACKED = {
    "class_name": "StackedRNNCells",
    "config": {"cells": [cell("GRUCell", 4), cell("LSTMCell", 3)]},
}

#: Layers behind an input of a shape, before a dense layer of one unit: the products of all, by hand.
BY_HAND = {
    "valid pooling": ("MaxPooling2D", {"pool_size": 3, "strides": 2}, (9, 9, 2), [4 * 4 * 2]),
    "same pooling": ("AveragePooling1D", {"pool_size": 4, "padding": "same"}, (9, 2), [3 * 2]),
    "channels first": (
        "MaxPooling2D",
        {"pool_size": 2, "data_format": "channels_first"},
        (5, 8, 6),
        [5 * 4 * 3],
    ),
    "global pooling": ("GlobalAveragePooling2D", {}, (9, 9, 7), [7]),
    "kept dimensions": ("GlobalMaxPooling1D", {"keepdims": True}, (9, 7), [7]),
    "adaptive pooling": ("AdaptiveAveragePooling2D", {"output_size": [2, 3]}, (9, 9, 7), [42]),
    "cropped": ("Cropping2D", {"cropping": [[1, 2], [0, 3]]}, (9, 9, 2), [6 * 6 * 2]),
    "padded": ("ZeroPadding1D", {"padding": [1, 2]}, (9, 2), [12 * 2]),
    "repeated": ("RepeatVector", {"n": 3}, (5,), [15]),
    "einsum": (
        "EinsumDense",
        {"equation": "abc,cde->abde", "output_shape": [None, 2, 8], "bias_axes": "de"},
        (5, 16),
        [5 * 16 * 2 * 8, 5 * 2 * 8],
    ),
    "einsum of any rank": (
        "EinsumDense",
        {"equation": "...x,xy->...y", "output_shape": 8},
        (5, 4, 16),
        [5 * 4 * 16 * 8, 5 * 4 * 8],
    ),
    "rnn": ("RNN", {"cell": cell("LSTMCell", 4)}, (5, 6), [5 * 6 * 16, 5 * 4 * 16, 4]),
    "stacked cells": (
        "RNN",
        {"cell": STACKED, "return_sequences": True},
        (5, 6),
        [5 * 6 * 12, 5 * 4 * 12, 5 * 4 * 12, 5 * 3 * 12, 5 * 3],
    ),
    "convolved lstm": (
        "ConvLSTM2D",
        {"filters": 3, "kernel_size": 3, "padding": "same", "strides": 2},
        (5, 8, 8, 2),
        [5 * 16 * 9 * 2 * 12, 5 * 16 * 9 * 3 * 12, 16 * 3],
    ),
    "local weights": (
        "LocallyConnected1D",
        {"filters": 2, "kernel_size": 3, "strides": 2},
        (9, 4),
        [4 * 3 * 4 * 2, 4 * 2],
    ),
    "local weights of images": (
        "LocallyConnected2D",
        {"filters": 2, "kernel_size": [3, 2]},
        (5, 5, 4),
        [3 * 4 * 6 * 4 * 2, 3 * 4 * 2],
    ),
    # outputs of a transposed convolution: (n - 1) s + k + padding; each adds every second tap of 4
    "output padding": (
        "Conv1DTranspose",
        {"filters": 2, "kernel_size": 4, "strides": 2, "output_padding": 1},
        (5, 3),
        [7 * 2 * 3 * 2, 6 * 2 * 3 * 2, 13 * 2],
    ),
    "same output padding": (
        "Conv1DTranspose",
        {"filters": 2, "kernel_size": 4, "strides": 2, "output_padding": [0], "padding": "same"},
        (5, 3),
        [4 * 2 * 3 * 2, 4 * 2 * 3 * 2, 8 * 2],
    ),
    "one-hot categories": (
        "CategoryEncoding",
        {"num_tokens": 7, "output_mode": "one_hot"},
        (5,),
        [5 * 7],
    ),
    "categories of several": ("CategoryEncoding", {"num_tokens": 7}, (5,), [7]),
    "binned": ("Discretization", {"bin_boundaries": [0.0, 1.0]}, (5,), [5]),
    "random height": ("RandomHeight", {"factor": 0.2}, (9, 9, 2), [9 * 9 * 2]),
}


@pytest.mark.ci
@pytest.mark.parametrize("name", BY_HAND)
def test_layers_make_shapes_and_products(tmp_path, name):
    kind, config, shape, products = BY_HAND[name]
    top = layer("Dense", "top", units=1)
    document = chain(layer(kind, "own", **config), layer("Flatten", "flat"), top, shape=shape)
    assert counts(read(tmp_path, document)) == products


@pytest.mark.parametrize(
    ("axes", "shapes", "products"),
    [
        (1, ((6,), (6,)), 6),
        (-1, ((4, 6), (3, 6)), 4 * 3 * 6),
        ([2, 1], ((4, 6), (6, 5)), 4 * 5 * 6),
        (1, ((6, 4, 2), (6, 3)), 4 * 2 * 3 * 6),
    ],
)
def test_dot_sums_over_an_axis_of_each(tmp_path, axes, shapes, products):
    starts = [
        layer("InputLayer", name, batch_shape=[2, *shape])
        for name, shape in zip("ab", shapes, strict=True)
    ]
    document = functional(*starts, layer("Dot", "dot", ["a", "b"], axes=axes))
    document["config"]["layers"][-1]["inbound_nodes"] = [[["a", 0, 0, {}], ["b", 0, 0, {}]]]
    document["config"]["input_layers"] = [["a", 0, 0], ["b", 0, 0]]
    assert counts(read(tmp_path, document)) == [2 * products]


def test_kernels_of_all_layers_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "MOST_KERNELS", 10)
    wide = [
        layer("Conv1DTranspose", f"w{n}", filters=1, kernel_size=4, strides=4) for n in range(4)
    ]
    with pytest.raises(InputError, match="more than 10 kernels; allowed: at most so many"):
        read(tmp_path, chain(*wide, shape=(5, 3)))
    cells = {"class_name": "StackedRNNCells", "config": {"cells": [cell("GRUCell", 1)] * 101}}
    with pytest.raises(InputError, match="cells is a list; allowed: a list of 1 to 100"):
        read(tmp_path, chain(layer("RNN", "r", cell=cells), shape=(5, 3)))
