"""Random hardware of every design of the library that can be built, beside its simulation.

    python -m benchmarks.hardware COUNT [SEED] [FILE] [sparse|single]

Words of all types, sums of 16 and 32 bits, first and last, hops of 2 and 3, MAC pipelines of 2 to 8
stages, FIFOs of 1 to 4 words; each without stalls and with them, and with AXI4 masters in front of a
random memory. With `sparse` every array has a block-sparse tensor, with `single` single buffers of
some tensors. A line of JSON for each goes to FILE; an array takes about ten seconds. The exit
status is 1 if one is not as simulated. Small arrays run by Icarus Verilog where it is installed,
others by Verilator.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ithaca.files.writing import write_folder
from ithaca.plugins.rtl.exports import tools
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.tools import compiled, find_program
from ithaca.workloads.library import workload, workload_names
from tests.plugins.rtl.exports.cases import SPARSE, buildable, random_case, write_case

#: Every kernel with the numbers of its designs, one kernel after the other.
DESIGNS = sorted(
    (number, name) for name in workload_names() for number in range(len(buildable(workload(name))))
)


#: Cycles times MAC units up to which Icarus Verilog is done before Verilator is compiled.
SMALL = 20_000

#: Turns of all PEs of an array: so many are small.
MOST_TURNS = 2_500


def run_case(seed: int, *, sparse: bool, single: bool = False) -> dict[str, Any]:
    """Facts of the hardware of a seed, and of its run."""
    designs = [each for each in DESIGNS if not sparse or each[1] in SPARSE]
    number, name = designs[seed % len(designs)]
    case = random_case(seed, name, number, MOST_TURNS, blocks=sparse, single=single)
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        stated = json.loads(write_case(Path(place) / "rtl", case)["expected.json"])["rtl"]
        if stated["macs"] * stated["simulated"] < SMALL and find_program("iverilog"):
            stack.enter_context(patch.object(tools, "find_verilator", return_value=None))
        with compiled(Path(place) / "rtl") as bench:
            plain, stalled = bench.run(), bench.run(stalls=seed + 1)
    with tempfile.TemporaryDirectory() as place:
        chosen, sum_bits = case
        write_folder(Path(place) / "rtl", rtl_tool(sum_bits, "axi4").export(chosen))
        draw = random.Random(seed)
        memory = {"latency": draw.choice([0, 9, 100]), "bandwidth": draw.choice([0, 7, 16, 64])}
        with compiled(Path(place) / "rtl") as bench:
            masters = bench.run(memory=memory, stalls=draw.choice([0, seed + 1]))
    if stated["hangs"]:
        right = masters.hangs and plain.hangs and stalled.hangs
    else:
        right = plain.cycles == stated["simulated"] and not plain.hangs and not stalled.hangs
        right &= plain.right == stalled.right == masters.right == stated["elements"]
        right &= not masters.hangs
    right &= not plain.wrong and not stalled.wrong and not masters.wrong and not masters.rules
    return {
        "seed": seed,
        "kernel": name,
        "simulator": plain.simulator,
        "right": right,
        **case[0].nest.labels,
        "cycles": plain.cycles,
        "memory": memory,
        "masters": masters.cycles,
        "rules": masters.rules,
        "hung": plain.hangs,
        "computed": plain.right,
        "wrong": plain.wrong + stalled.wrong + masters.wrong,
        **{key: stated[key] for key in ("design", "dtype", "accumulator", "machine", "sizes")},
        **{key: stated[key] for key in ("simulated", "hangs", "cycle", "elements")},
    }


def main(count: int, first: int = 0, file: str = "/dev/null", what: str = "") -> int:
    """Run so many cases, and say how many are right."""
    counts: Counter[str] = Counter()
    with Path(file).open("a", encoding="utf-8") as lines:
        for seed in range(first, first + count):
            row = run_case(seed, sparse=what == "sparse", single=what == "single")
            print(json.dumps(row), file=lines, flush=True)
            counts["right"] += row["right"]
            counts["hang as simulated"] += row["right"] and row["hung"]
            counts["elements wrong"] += row["wrong"]
            counts["elements right"] += row["computed"]
            counts[f"of {row['dtype']}"] += 1
            counts[f"by {row['simulator']}"] += 1
            if row["cycle"] == row["simulated"]:
                counts["with the closed form's cycles"] += 1
            if not row["right"]:
                print(row)
    print(f"{count} arrays: {', '.join(f'{n:,} {what}' for what, n in counts.items())}")
    return int(counts["right"] != count)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:5]))
