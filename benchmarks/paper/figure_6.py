"""Figure 6 (and Table 5): the published model against simulated arrays, random configurations at the
published sizes.

The paper simulates what HLS generates. Here the simulator of the modules and FIFOs that the compiler
generates stands for that (`ithaca simulate`), timed as HLS times loops. It has the 16 designs whose
partial sums stay in the array; of the other 32, HLS cannot build what carries sums.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import fmean, median

from benchmarks.fidelity import DESIGNS, design_of, rows_of
from benchmarks.paper.experiment import PUBLICATION, Cell, Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import BRAM18K, DSP
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.machine import REGIMES
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.plugins.rtl.formulations.compared import simulate_configuration
from ithaca.workloads.library import workload

#: Configurations of each design.
QUICK, FULL = 2, 40

#: Sizes of the validated workloads.
SIZES = PUBLICATION["table 5"]

ERROR = "error of the odyssey edition (%)"


def run(how: Run) -> Outcome:
    """Simulate random configurations of every design that can be built, within the paper's
    budget."""
    count = FULL if how.full else QUICK
    rows: list[dict[str, Cell]] = []
    for name, dataflow in DESIGNS:
        how.step(f"{name} [{','.join(dataflow)}]")
        design = design_of(workload(name, SIZES[name]), dataflow)
        for number, configuration in enumerate(_configurations(design, count, how)):
            simulation = simulate_configuration(
                design, configuration, REGIMES["hls"], checkpoint=how.check
            )
            published = simulation.models.get("odyssey")
            if simulation.cycles is None or published is None:
                continue
            rows.append(
                {
                    "workload": name,
                    "dataflow": ",".join(dataflow),
                    "reduction in space": bool(set(dataflow) & set(design.nest.reduction_loops)),
                    "configuration": number + 1,
                    "PEs": int(design.costs(configuration).comp / configuration[_simd(design)]),
                    "simulated (cycles)": simulation.cycles,
                    "odyssey edition (cycles)": published,
                    ERROR: round(float(100 * (published / simulation.cycles - 1)), 2),
                }
            )
    table = Table.of(rows)
    series = table.series(["workload", "dataflow"], ["configuration"], ERROR)
    title = "The published model against simulated arrays"
    chart = LineChart(title, "configuration", ERROR, series)
    settings = {
        "sizes": dict(SIZES),
        "limits": {"dsp": float(DSP), "bram18k": float(BRAM18K)},
        "configurations of a design": count,
        "regime": "hls",
    }
    return Outcome(table, claims("figure-6", _measured(table)), chart, settings)


def _simd(design: SystolicDesign) -> str:
    return f"t2.{design.array.simd_loop}"


def _configurations(design: SystolicDesign, count: int, how: Run) -> Iterator[Configuration]:
    """Random legal configurations within the budget."""
    draw, axes = random.Random(how.seed), rows_of(design)
    while count:
        point: dict[str, int] = {}
        for rows in axes:
            place = draw.randrange(next(iter(rows.values())).size)
            point |= {quantity: int(values[place]) for quantity, values in rows.items()}
        if not design.space.contains(point):
            continue
        costs = design.costs(point)
        if costs.dsp <= DSP and costs.bram18k <= BRAM18K and costs.meets_bounds:
            count -= 1
            yield Configuration(point)


def _measured(table: Table) -> dict[str, Number | tuple[Number, Number]]:
    def errors(**equal: Cell) -> list[float]:
        return [abs(float(record[ERROR])) for record in table.records(**equal)]  # type: ignore[arg-type]

    return {
        "mean": fmean(errors()),
        "in time": fmean(errors(**{"reduction in space": False})),
        "median": median(errors()),
    }
