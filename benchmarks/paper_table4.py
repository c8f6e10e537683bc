"""The published comparison of solver objectives (Odyssey, Table 4): 1024³ on the U250, dataflow (i,j), permutation C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.data_types import data_type
from ithaca.formulations.derivation import derive
from ithaca.formulations.metrics import metric_values
from ithaca.formulations.objectives import parse_objective
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic_array import Edition
from ithaca.formulations.tiling import Tiling
from ithaca.workloads.library import workload

SIZE = 1024

DSP, BRAM18K = Fraction("8601.6"), Fraction("3763.2")

#: The metrics that the table compares, each as a ratio to the best of the designs.
COMPARED = ("latency", "off_chip_words", "dsp")


@dataclass(frozen=True)
class Published:
    """A design of the published table, with the ratios it states."""

    objective: str
    t1: tuple[int, int, int]
    t2: tuple[int, int]
    simd: int
    latency: float
    off_chip: float
    dsp: float

    @property
    def metrics(self) -> Mapping[str, Fraction]:
        """All metrics of the design, by the odyssey edition."""
        sizes = dict(zip("ijk", self.t1, strict=True)), dict(zip("ij", self.t2, strict=True))
        return metric_values(problem("latency").costs(Tiling(*sizes, self.simd, {"A": 16, "B": 16, "C_drain": 4})))


#: The first three are what the nonlinear solver returned, the last is the paper's best design.
TABLE = (
    Published("-comp", (520, 520, 320), (26, 26), 4, 1.5, 1.7, 6.3),
    Published("comm", (1024, 1024, 320), (128, 128), 4, 8.6, 1.0, 1.0),
    Published("comm - comp", (1024, 1024, 320), (64, 64), 4, 2.5, 1.0, 4.0),
    Published("latency", (129, 130, 64), (3, 13), 4, 1.0, 4.9, 6.7),
)

#: The designs of the nonlinear solver.
SOLVED = TABLE[:3]


def problem(objective: str, *more: Limit, bram18k: Fraction = BRAM18K) -> Problem:
    """The paper's problem, with one of its objectives."""
    nest = workload("mm", {"i": SIZE, "j": SIZE, "k": SIZE})
    array = derive(nest, ("i", "j"), "C", Edition.ODYSSEY)
    limits = (Limit("dsp", DSP), Limit("bram18k", bram18k), *more)
    return Problem(nest, array, data_type("fp32"), limits, parse_objective(objective))


def least_of_each(rows: list[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """The best value of each compared metric."""
    return {name: min(row[name] for row in rows) for name in COMPARED}
