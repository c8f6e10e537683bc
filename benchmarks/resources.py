"""Resources of synthesized arrays, beside the resource model.

    python -m benchmarks.resources synthesize 100   # further small arrays of all kernels, at random
    python -m benchmarks.resources fit              # coefficients of look-up tables and flip-flops
    python -m benchmarks.resources table            # the table of docs/hardware-resources.md

Arrays are synthesized by Yosys one after the other, with every buffer in block RAM as the model
counts them, and kept with what it says in ``tests/data/resources.csv.xz``.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.numbers import number
from ithaca.files.writing import whole_file, write_folder
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.cost_model import Costs, evaluate
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.logic import COEFFICIENTS, features
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.calibration.formulations.fitting import Numbers, errors, fitted
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.hardware import Hardware, in_exact_edition
from ithaca.plugins.rtl.exports.tools import synthesize
from ithaca.workloads.library import workload, workload_names

#: Where figures are kept.
FIGURES = Path(__file__).parents[1] / "tests" / "data" / "resources.csv.xz"

#: Fewest and most PEs of an array, and most MAC units.
PES, MOST_MACS = (2, 16), 64

#: Most words of a tile in one buffer, bits of a pack, and I/O modules.
MOST_WORDS, MOST_BITS, MOST_MODULES = 4096, 256, 24

#: What is counted, as the model and as the table call it.
COUNTED = ("dsp", "bram18k", "lut", "lutram", "ff")

COLUMNS = ("kernel", "sizes", "dataflow", "permutation", "dtype", "tiling", *COUNTED)

Row = Mapping[str, str]


def configuration_of(row: Row) -> ArrayConfiguration:
    """The array of a row."""
    nest = workload(row["kernel"], json.loads(row["sizes"]))
    array = derive(nest, tuple(row["dataflow"].split(",")), row["permutation"], Edition.CYCLE)
    tiling = Tiling(*json.loads(row["tiling"]))
    technology = load_platform("rtl-open").technology
    return ArrayConfiguration(nest, array, data_type(row["dtype"]).built, tiling, technology)


def row_of(chosen: ArrayConfiguration) -> dict[str, str]:
    """The row of the table on an array."""
    tiling = chosen.tiling
    return {
        "kernel": chosen.nest.name,
        "sizes": json.dumps(dict(chosen.nest.settings)),
        "dataflow": ",".join(chosen.design.dataflow),
        "permutation": chosen.design.permutation,
        "dtype": chosen.data.name,
        "tiling": json.dumps([tiling.array_part, tiling.latency_hiding, tiling.simd, tiling.pack]),
    }


def costs_of(row: Row) -> Costs:
    """The costs of a row's array."""
    chosen = configuration_of(row)
    return evaluate(chosen.design, chosen.quantities, chosen.data, FRACTION, chosen.technology)


def shared_accumulators(row: Row) -> bool:
    """Whether PEs have fewer accumulators than sums of a tile, which the model gives them."""
    chosen = configuration_of(row)
    exact, accumulators = in_exact_edition(chosen), chosen.design.pe.accumulators
    assert exact is not None
    if accumulators is None:
        return False
    return Hardware(exact).held * exact.whole(exact.design.pe.outputs) < exact.whole(accumulators)


def random_arrays(seed: int) -> Iterator[ArrayConfiguration]:
    """Small arrays of all kernels."""
    draw, technology = random.Random(seed), load_platform("rtl-open").technology
    names = workload_names()
    while True:
        name = draw.choice([*names, "mm", "mm", "conv2d", "mv"])
        nest = workload(name)
        nest = nest.with_sizes(
            {x: draw.choice([1, 3] if x in nest.untiled else [8, 16, 24, 32]) for x in nest.loops}
        )
        array = draw.choice([a for a in designs(nest, Edition.CYCLE) if a.buildable])
        data = data_type(draw.choice(["int8", "int16", "int8/16", "int16/16"]))
        design = SystolicDesign(nest, array, data, technology=technology)
        found: dict[str, int] = {}
        for axis in design.space.axes:
            columns = next(iter(axis.rows()))
            place = draw.randrange(next(iter(columns.values())).size)
            found |= {key: int(column[place]) for key, column in columns.items()}
        found = design.space.completed(found)
        if not design.space.contains(found):
            continue
        chosen = ArrayConfiguration(nest, array, design.data, design.tiling(found), technology)
        if _small(chosen) and not rtl_tool(data.accumulator_bits).obstacles(chosen):
            yield chosen


def _small(chosen: ArrayConfiguration) -> bool:
    groups, whole, pe = chosen.design.packed_groups, chosen.whole, chosen.design.pe
    return (
        PES[0] <= whole(pe.count) <= PES[1]
        and whole(pe.count * pe.simd) <= MOST_MACS
        and sum(whole(group.count) * len(group.modules) for group in groups) <= MOST_MODULES
        and all(whole(group.size) <= MOST_WORDS for group in groups)
        and all(whole(g.pack) * 8 * g.package(chosen.data).word_bytes <= MOST_BITS for g in groups)
    )


def read() -> list[Row]:
    """The table."""
    if not FIGURES.exists():
        return []
    return list(csv.DictReader(io.StringIO(lzma.decompress(FIGURES.read_bytes()).decode())))


def keep(table: Sequence[Row]) -> None:
    """Write the table."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    with whole_file(FIGURES) as temporary:
        temporary.write_bytes(lzma.compress(text.getvalue().encode()))


def synthesized(chosen: ArrayConfiguration) -> dict[str, str]:
    """The resources of an array, synthesized with all buffers in block RAM."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rtl"
        write_folder(path, rtl_tool(chosen.data.accumulator_bits).export(chosen))
        made = synthesize(path, block_ram=True)
    return {name: str(getattr(made, name)) for name in COUNTED}


def synthesize_until(count: int, seed: int = 1) -> None:
    """Synthesize further arrays until the table has so many."""
    table = read()
    known = [{name: row[name] for name in row if name not in COUNTED} for row in table]
    for chosen in random_arrays(seed):
        if len(table) >= count:
            return
        row = row_of(chosen)
        if row not in known:
            table.append({**row, **synthesized(chosen)})
            keep(table)
            print(
                len(table),
                *list(table[-1].values())[2:5],
                *list(table[-1].values())[-5:],
                flush=True,
            )


# -- the model beside it ------------------------------------------------------------------


def figures(rows: Sequence[Row], resource: str) -> tuple[Numbers, Numbers]:
    """Features and figures of the rows."""
    known = np.array([[float(n) for n in features(costs_of(row))] for row in rows])
    return known, np.array([float(row[resource]) for row in rows])


def print_fit() -> None:
    """Coefficients, and errors."""
    rows = read()
    for resource in COEFFICIENTS:
        wrong = abs(errors(*figures(rows, resource), folds=8))
        coefficients = tuple(round(100 * c) for c in fitted(*figures(rows, resource)))
        print(f'    "{resource}": {coefficients},')
        print(
            f"    # {len(rows)} arrays, held out: {np.mean(wrong):.1%} on average, {max(wrong):.1%} at most"
        )


def print_table() -> None:
    """The table of the guide: every array by the model and by synthesis."""
    print("| kernel | dataflow | words | PEs × SIMD | DSP | BRAM18 | LUT | LUTRAM | FF |")
    print("|" + " --- |" * 9)
    for row in read():
        costs = costs_of(row)
        array, model = costs.point.array, metric_values(costs)
        shape = " × ".join(number(costs.point.value(n)) for n in (array.pe.count, array.pe.simd))
        cells = [f"{number(model[name])} / {int(row[name]):,}" for name in COUNTED]
        cells[1] += "*" if model["bram18k"] != int(row["bram18k"]) else ""
        words = [row["kernel"], row["dataflow"], row["dtype"], shape, *cells]
        print(f"| {' | '.join(words)} |")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "synthesize":
        synthesize_until(*map(int, arguments))
    else:
        {"fit": print_fit, "table": print_table}[command]()
