"""Bounds of layers that were not begun: what a decode block of a language model must move, counted
by hand."""

import json

import pytest

from tests.command_line import ithaca

#: Products of one row, and of 32 heads: every weight, key or value is used once.
BLOCK = """
name: decode
parameters: {batch: 1, hidden: 4096, heads: 32, feed_forward: 11008, context: 2048}
layers:
  - {op: kernel, name: query_key_value, kernel: mm, sizes: {i: batch, j: 3*hidden, k: hidden}}
  - {op: kernel, name: scores, kernel: batched_mm, sizes: {b: batch*heads, i: 1, j: context, k: hidden/heads}}
  - {op: kernel, name: context, kernel: batched_mm, sizes: {b: batch*heads, i: 1, j: hidden/heads, k: context}}
  - {op: kernel, name: output, kernel: mm, sizes: {i: batch, j: hidden, k: hidden}}
  - {op: kernel, name: gate_up, kernel: mm, sizes: {i: batch, j: 2*feed_forward, k: hidden}}
  - {op: kernel, name: down, kernel: mm, sizes: {i: batch, j: hidden, k: feed_forward}}
"""

#: Words of the largest tensor of every layer.
WORDS = (
    3 * 4096 * 4096,
    32 * 2048 * 128,
    32 * 128 * 2048,
    4096 * 4096,
    2 * 11008 * 4096,
    4096 * 11008,
)


def bounds_of(path, *options):
    """Bounds of the total and of every layer, where time is over before the first is begun."""
    path.write_text(BLOCK)
    document = json.loads(
        ithaca("network", str(path), *options, "--time-limit", "1e-6", "--json").stdout
    )
    layers = [layer["certificate"]["lower_bound"] for layer in document["layers"]]
    return document["total"]["certificate"]["lower_bound"], layers


@pytest.mark.usefixtures("counted_time")
def test_every_port_moves_its_weights_before_the_first_box(tmp_path):
    total, layers = bounds_of(tmp_path / "decode.yaml", "--platform", "u280", "--dtype", "int8")
    assert layers == [words / 64 for words in WORDS]  # 64 bytes a cycle
    assert total == sum(layers) == 3424256


@pytest.mark.usefixtures("counted_time")
def test_every_weight_is_read_from_dram_before_the_first_mapping(tmp_path):
    total, layers = bounds_of(tmp_path / "decode.yaml", "--arch", "simple", "--objective", "energy")
    assert all(bound > 200 * words for bound, words in zip(layers, WORDS, strict=True))
    assert total == sum(layers)
