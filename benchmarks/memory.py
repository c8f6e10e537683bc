"""Cycles of arrays whose tensors come as streams, by ``ithaca simulate --memory``, and by AXI4 masters
in front of a memory model.

    python -m benchmarks.memory

Six proven configurations on ``rtl-open``, each with three memories; some minutes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import ithaca
from ithaca.plugins.rtl.exports.tools import compiled

#: Name, workload, sizes and other options of `ithaca.solve`.
ARRAYS = (
    ("mm 64 × 64 × 64", "mm", {"i": 64, "j": 64, "k": 64}, {"dsp": 512}),
    ("mm 50 × 60 × 70", "mm", {"i": 50, "j": 60, "k": 70}, {"dsp": 128}),
    ("C[i,j] += A[i,k] * B[k,j], 48 × 40 × 56", "C[i,j] += A[i,k] * B[k,j]",
     {"i": 48, "j": 40, "k": 56}, {"dsp": 128}),
    ("conv2d 16 × 14 × 14 × 16, 3 × 3", "conv2d",
     {"o": 16, "r": 14, "c": 14, "i": 16, "p": 3, "q": 3}, {"dsp": 128}),
    ("conv2d 12 × 9 × 11 × 10, 3 × 3, stride 2", "conv2d",
     {"o": 12, "r": 9, "c": 11, "i": 10, "p": 3, "q": 3, "s": 2}, {"dsp": 128}),
    ("mttkrp 16 × 16 × 12 × 12", "mttkrp", {"i": 16, "j": 16, "k": 12, "l": 12}, {"dsp": 128}),
)  # fmt: skip

#: Latency in cycles and bandwidth in bytes per cycle.
MEMORIES = ({"latency": 0, "bandwidth": 256}, {"latency": 100, "bandwidth": 64},
            {"latency": 100, "bandwidth": 16})  # fmt: skip


def main() -> int:
    """Print the table; 1 if an element is wrong."""
    heads = [
        f"{how} {m['latency']}, {m['bandwidth']}" for m in MEMORIES for how in ("simulated", "AXI4")
    ]
    print("| " + " | ".join(["array", "design", "stream", *heads]) + " |")
    print("| --- | --- |" + " ---: |" * (len(heads) + 1))
    right = True
    for name, workload, sizes, limit in ARRAYS:
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "r.json"
            result = ithaca.solve(
                workload, sizes=sizes, dtype="int8", platform="rtl-open", limit=limit,
                time_limit=30,
            )  # fmt: skip
            result.save(path)
            folder, cells = Path(place), []
            for memory in ("stream", "axi4"):
                ithaca.export(path, "rtl", folder / memory, memory=memory)
            stated = json.loads((folder / "axi4" / "expected.json").read_text())["rtl"]
            with compiled(folder / "stream") as bench:
                runs = [bench.run()]
            with compiled(folder / "axi4") as bench:
                runs += [bench.run(memory=memory) for memory in MEMORIES]
        for memory, run in zip(MEMORIES, runs[1:], strict=True):
            right &= not run.rules
            cells += [f"{ithaca.simulate(result, memory=memory).cycles:,}", f"{run.cycles:,}"]
        right &= all(run.right == stated["elements"] and not run.wrong for run in runs)
        row = [name, stated["design"], f"{runs[0].cycles:,}", *cells]
        print(f"| {' | '.join(row)} |", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
