"""The nonlinear program of the published solver (Odyssey, as released in AutoSA's ``solver.py``),
by Ipopt.

Published are an AMPL model and Ipopt, which ignores that the variables are integers. Per loop x, x1
= x/cx1 is the array partitioning factor and x2 = x1/cx2 the latency hiding factor (of k: SIMD).
With ``comm = i·k·cj1 + j·k·ci1 + i·j`` and ``comp = ci2·cj2·k2``, the objectives are ``-comp``,
``comm`` and ``comm - comp`` (as released, not normalised), subject to 5·comp ≤ DSP, i2·j2 ≥ 8·k2
and a limit on BRAM. Two things about it decide what comes out:

- Two of the three terms of the BRAM limit *divide* by a number of blocks where they must multiply,
  and the ceilings in it have no derivative. What is left limits hardly more than i1·k1 and does not
  bind where Ipopt ends, so it is left out here (``bram=True`` puts in what it was presumably meant
  to be).
- Without it the optima of each objective form a surface. Where on it Ipopt ends depends on where it
  starts and on the barrier: the answer is a matter of the method, not of the objective.

The release also asks for an even k2; the published designs come out without that.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from benchmarks.paper.matrix_product import BRAM18K, DSP, SIZE
from ithaca.plugins.cpsat.solver.from_pyomo import solve_pyomo as solve_integer
from ithaca.plugins.geometric.solver.nonlinear import solve_pyomo

#: Blocks of 1,024 words of 18 bits, two side by side for a word, two buffers of each array.
BLOCK_WORDS, BLOCKS = 1024, 2 * 2

NAMES = ("i1", "j1", "k1", "i2", "j2", "k2")


def program(
    objective: str, weights: tuple[float, float] = (1.0, 1.0), *, bram: bool = False
) -> Any:
    """The published program as a Pyomo model, started where AMPL starts: at the lower bounds.

    Objectives are ``-comp``, ``comm`` and ``comm - comp``; ``weights`` are what comm and comp are
    divided by; ``bram`` limits BRAM, all three terms multiplied and the ceilings dropped.
    """
    import pyomo.environ as pyo

    model = pyo.ConcreteModel()
    model.v = pyo.Var(
        [*NAMES, "ci1", "cj1", "ck1", "ci2", "cj2", "ck2"], bounds=(1, SIZE), initialize=1.0
    )
    model.v["k2"].setub(8)
    v = model.v
    comm = (SIZE**2 * (v["ci1"] + v["cj1"]) + SIZE**2) / weights[0]
    comp = v["ci2"] * v["cj2"] * v["k2"]
    model.goal = pyo.Objective(
        expr={"-comp": -comp, "comm": comm, "comm - comp": comm - comp / weights[1]}[objective]
    )
    model.rows = pyo.ConstraintList()
    model.rows.add((0, 5 * comp, int(DSP)))
    model.rows.add(v["i2"] * v["j2"] >= 8 * v["k2"])
    for x in "ijk":
        model.rows.add(v[f"c{x}1"] * v[f"{x}1"] == SIZE)
        model.rows.add(v[f"c{x}2"] * v[f"{x}2"] == v[f"{x}1"])
    if bram:
        words = v["i1"] * v["k1"] + v["j1"] * v["k1"] + v["i1"] * v["j1"]
        model.rows.add(BLOCKS * words / BLOCK_WORDS <= int(BRAM18K))
    return model


def continuous_optimum(
    objective: str, weights: tuple[float, float] = (1.0, 1.0), *, bram: bool = False
) -> tuple[float, dict[str, float]]:
    """Optimum of the published program, and its factors there."""
    model = program(objective, weights, bram=bram)
    optimum = solve_pyomo(model, max_iter=1000, nlp_scaling_method="gradient-based")
    assert optimum.converged
    return optimum.objective, {name: float(model.v[name].value) for name in NAMES}


def integer_optimum(objective: str) -> Fraction:
    """Optimum of the published program as it is written, over integers, which makes its factors
    divisors; proven by CP-SAT."""
    import pyomo.environ as pyo

    model = program(objective)
    for variable in model.v.values():
        variable.domain = pyo.PositiveIntegers
    outcome = solve_integer(model)
    assert outcome.value is not None
    assert outcome.value == outcome.bound
    return outcome.value


def rounded(point: dict[str, float]) -> tuple[tuple[int, int, int], tuple[int, int], int]:
    """A continuous optimum rounded as published: t1 to integers (k1 down to a multiple of 16), t2
    to the nearest divisor.

    Of a SIMD factor, to the nearest divisor that is a power of two.
    """
    whole = {name: int(value + 0.5) for name, value in point.items()}
    i1, j1, k1 = whole["i1"], whole["j1"], whole["k1"] // 16 * 16

    def nearest(options: list[int], target: int) -> int:
        return min(options, key=lambda option: abs(option - target))

    divisors = {n: [d for d in range(1, n + 1) if n % d == 0] for n in (i1, j1, k1)}
    powers = [d for d in divisors[k1] if d & (d - 1) == 0]
    return (
        (i1, j1, k1),
        (nearest(divisors[i1], whole["i2"]), nearest(divisors[j1], whole["j2"])),
        nearest(powers, whole["k2"]),
    )
