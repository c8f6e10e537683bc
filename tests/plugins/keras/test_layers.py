"""Multiply-accumulates of Keras layers, counted by hand."""

import pytest

from tests.plugins.keras.models import functional, layer, read, tensor

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
