"""Layers of Llama-3-8B on boards, each proven by itself: ``python -m benchmarks.decode
[--platforms NAME=PORTS,…] [--batches N,…] [--prompts N,…] [--context N] [--layers NAME,…]
[--limit S]``.

A row is a matrix of int8: the cycles in which the memory's bandwidth moves its words once, those
that multipliers and ports need at least, by no search, the cycles that are found, whether they are
proven, the first over these, and the CPU seconds of the command, start included. Rows of
`--prompts` are prefill of so many tokens. A time limit changes the order of the search: it looks
for good answers of all designs before it proves the best.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measured import measured
from ithaca.commands.api.loading import load
from ithaca.formulations.platform_files import read_platform
from ithaca.studies.network.result import NetworkResult

HIDDEN, FEED_FORWARD, VOCABULARY, HEADS, KEYS, DIMENSION = 4096, 14336, 128256, 32, 8, 128

HEADER = (
    "| platform | rows | layer | bytes at the bandwidth | ports and DSP allow | found | proven | "
    "of bandwidth | CPU s |",
    "| --- | --: | --- | --: | --: | --: | --: | --: | --: |",
)


@dataclass(frozen=True)
class Layer:
    """A matrix product of a model."""

    name: str
    """Its name."""
    kernel: str
    """The kernel."""
    sizes: Mapping[str, int]
    """Extents of its loops."""

    @property
    def bytes(self) -> int:
        """Bytes of all of its tensors; sums have four."""
        b, i, j, k = (self.sizes.get(loop, 1) for loop in "bijk")
        return b * (i * k + j * k + 4 * i * j)

    @property
    def document(self) -> str:
        """A network of this layer alone."""
        layer = {"op": "kernel", "name": self.name, "kernel": self.kernel, "sizes": self.sizes}
        return json.dumps({"name": self.name, "layers": [layer]})


def layers(batch: int, tokens: int, context: int) -> Iterator[Layer]:
    """The matrix products of Llama-3-8B.

    Parameters
    ----------
    batch : int
        Sequences.
    tokens : int
        New positions of each.
    context : int
        Positions that are attended to.
    """
    rows = batch * tokens
    for name, j, k in (
        ("qkv", HIDDEN + 2 * KEYS * DIMENSION, HIDDEN),
        ("output", HIDDEN, HIDDEN),
        ("gate_up", 2 * FEED_FORWARD, HIDDEN),
        ("down", HIDDEN, FEED_FORWARD),
        ("lm_head", VOCABULARY, HIDDEN),
    ):
        yield Layer(name, "mm", {"i": batch if name == "lm_head" else rows, "j": j, "k": k})
    heads = {"b": batch * KEYS, "i": tokens * HEADS // KEYS}
    yield Layer("scores", "batched_mm", {**heads, "j": context, "k": DIMENSION})
    yield Layer("attend", "batched_mm", {**heads, "j": DIMENSION, "k": context})


def row(layer: Layer, platform: str, ports: int, limit: int | None) -> str:
    """A row of the table.

    Parameters
    ----------
    layer : Layer
        The layer.
    platform : str
        The device.
    ports : int
        Most memory ports of a tensor.
    limit : int, optional
        Seconds that the command may take.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "layer.yaml")
        path.write_text(layer.document)
        words = ["-m", "ithaca", "network", str(path), "--dtype", "int8", "--platform", platform]
        words += ["--ports", str(ports), "-o", str(kept := Path(folder, "layer.json"))]
        words += [] if limit is None else ["--time-limit", str(limit)]
        run = measured(words)
        result = load(str(kept))
    assert isinstance(result, NetworkResult)
    (own,) = result.layers
    device, answer = read_platform(platform), own.answer
    cycles, bound = answer.value, answer.certificate.lower_bound
    assert device.memory is not None
    moved = float(layer.bytes * device.clock_mhz / 1000 / device.memory.bandwidth.limit)
    least = min(floor for each in own.designs if (floor := each.problem.floor) is not None)
    value = "–" if cycles is None else f"{float(cycles):,.0f}"
    low = "–" if bound is None else "proven" if bound == cycles else f"{float(bound):,.0f}"
    share = "–" if cycles is None else f"{moved / cycles:.1%}"
    rows = layer.sizes["i"] * layer.sizes.get("b", 1)
    return (
        f"| {platform} | {rows:,} | {layer.name} | {moved:,.0f} | {float(least):,.0f} | {value} | "
        f"{low} | {share} | {run.seconds:.1f} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, a row when it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platforms", default="u280=32,u55c=32,vck190=1")
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--prompts", default="")
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--layers", default="qkv,output,gate_up,down,lm_head,scores,attend")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args(arguments)
    print(f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors", *HEADER, sep="\n")
    for platform, ports in (each.split("=") for each in options.platforms.split(",")):
        phases = [(int(batch), 1, options.context) for batch in options.batches.split(",") if batch]
        phases += [(1, int(n), int(n)) for n in options.prompts.split(",") if n]
        for phase in phases:
            for layer in layers(*phase):
                if layer.name in options.layers.split(","):
                    print(row(layer, platform, int(ports), options.limit), flush=True)


if __name__ == "__main__":
    main()
