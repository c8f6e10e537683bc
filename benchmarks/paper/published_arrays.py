"""Arrays that AutoSA publishes (its Tables 5 to 7), by rows, columns and SIMD lanes or by their
share of the DSP blocks: each with the tiles and packs that are proven the fastest for it.

The clock is the published one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

from benchmarks.paper.experiment import PUBLICATION, Cell, Run, Table
from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign, fixed, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.solution import Solution
from ithaca.studies.best import solve_best
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest

#: Blocks of the device, by metric.
DEVICE = {name: resource.total for name, resource in load_platform("u250").resources.items()}

#: Block RAM that may be used where none is published (%).
USABLE = 70

#: Makes a design of a nest, its array, a data type and fixed quantities (``hardware``).
Technique = Callable[..., SystolicDesign]

#: The column of throughput.
THROUGHPUT = "GFLOP/s"


def share(blocks: Fraction, resource: str) -> Fraction:
    """Blocks in per cent of the device's."""
    return 100 * blocks / DEVICE[resource]


@dataclass(frozen=True)
class PublishedArray:
    """A published row beside the fastest array of its size."""

    row: Mapping[str, Any]
    """The row."""
    solution: Solution
    """The proven optimum."""

    @property
    def throughput(self) -> Fraction:
        """Multiplications and an addition per iteration, at the published clock (GFLOP/s)."""
        nest = systolic(self.solution.problem).nest
        operations = len(nest.inputs) * prod(nest.sizes.values())
        return operations * Fraction(self.row["MHz"], 1000) / self.solution.metrics["latency"]

    @property
    def gain(self) -> Fraction:
        """Throughput over the published one."""
        return self.throughput / Fraction(str(self.row[THROUGHPUT]))

    @property
    def efficiency(self) -> Fraction:
        """Iterations in per cent of those that all lanes had cycles for."""
        metrics, sizes = self.solution.metrics, systolic(self.solution.problem).nest.sizes
        return 100 * prod(sizes.values()) / (metrics["comp"] * metrics["latency"])

    def share(self, resource: str) -> Fraction:
        """Blocks in per cent of the device's."""
        return share(self.solution.metrics[resource], resource)

    @property
    def records(self) -> Iterator[dict[str, Cell]]:
        """Two rows of a table: the published figures, and the proven ones."""
        row, metrics = self.row, self.solution.metrics
        first: dict[str, Cell] = {"row": str(row["row"])}
        yield {
            **first,
            "source": "published",
            "design": None,
            "latency (cycles)": None,
            "MHz": row["MHz"],
            THROUGHPUT: row[THROUGHPUT],
            "DSP efficiency (%)": row.get("efficiency"),
            "DSP (%)": row["DSP"],
            "BRAM (%)": row.get("BRAM"),
        }
        yield {
            **first,
            "source": "proven",
            "design": self.solution.problem.design.name,
            "latency (cycles)": metrics["latency"],
            "MHz": row["MHz"],
            THROUGHPUT: round(float(self.throughput), 1),
            "DSP efficiency (%)": round(float(self.efficiency), 2),
            "DSP (%)": round(float(self.share("dsp")), 1),
            "BRAM (%)": round(float(self.share("bram18k")), 1),
        }


def published_rows(table: str) -> tuple[Mapping[str, Any], ...]:
    """The rows of a table of AutoSA."""
    return tuple(PUBLICATION[f"autosa {table}"])


def fastest(
    row: Mapping[str, Any],
    how: Run,
    objective: str = "latency",
    edition: Edition = Edition.CYCLE,
    technique: Technique = SystolicDesign,
) -> PublishedArray:
    """The proven optimum of a row: of an array of its lanes, whichever loops they lie along, or
    where it states none of any array within its DSP blocks; each design built by ``technique``."""
    how.step(f"{row['row']}, least {objective}")
    nest = workload(row["kernel"], row["sizes"])
    problems = _problems(nest, row, objective, edition, technique)
    solution = solve_best(tuple(problems), how.search)
    how.check()
    if solution.certificate.status is not Status.OPTIMAL:
        raise RuntimeError(f"{row['row']}: {solution.certificate.status.value}")
    return PublishedArray(row, solution)


def records(arrays: Sequence[PublishedArray]) -> Table:
    """The table of several rows."""
    return Table.of(record for array in arrays for record in array.records)


def _problems(
    nest: LoopNest,
    row: Mapping[str, Any],
    objective: str,
    edition: Edition,
    technique: Technique,
) -> Iterator[Problem]:
    """A problem for each way to lay the lanes along loops; sums stay in the array."""
    limits = [_limit("bram18k", row.get("within", USABLE))]
    if "lanes" not in row:
        limits.append(_limit("dsp", row["DSP"]))
    for dataflow in dataflows(nest):
        array = derive(nest, dataflow, nest.output.tensor, edition)
        if not array.buildable or set(row.get("loops", dataflow)) != set(dataflow):
            continue
        data, terms = data_type(row.get("dtype", "fp32")), parse_objective(objective)
        if "lanes" not in row:
            yield Problem(SystolicDesign(nest, array, data), tuple(limits), terms)
            continue
        for loops in [row["loops"]] if "loops" in row else permutations(dataflow):
            if len(loops) != len(row["lanes"]):
                continue
            along = zip(loops, row["lanes"], strict=True)
            lanes = {quantities.lanes(loop).name: count for loop, count in along}
            lanes[quantities.t2(array.simd_loop).name] = row["SIMD"]
            design = technique(nest, array, data, hardware=fixed(lanes))
            yield Problem(design, tuple(limits), terms)


def _limit(resource: str, percent: int) -> Limit:
    return Limit(resource, Fraction(percent, 100) * DEVICE[resource])
