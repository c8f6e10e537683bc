"""Lower bounds that hold whatever the solver did: weak duality with Gibbs' inequality.

For weights w ≥ 0 with Σ w = 1, ``log Σ exp(z) ≥ Σ w·(z − log w)``. Applied to every constraint at
some point, with multipliers λ ≥ 0, it turns the Lagrangian of a geometric program in log space into
an affine function that never exceeds it. The minimum of that function over the box, read off
coordinate by coordinate, is a lower bound of the program. At the optimum with its multipliers it is
attained.
"""

from __future__ import annotations

import numpy as np

from ithaca.formulations.algebra.rounding import duality_below
from ithaca.solver.gp.blocks import Vector
from ithaca.solver.gp.program import GeometricProgram


def certified_bound(program: GeometricProgram, point: Vector, multipliers: Vector) -> float:
    """A number that the program's cost variable is proven not to be below.

    Any point and any multipliers that are not negative give a valid bound; the rounding of this
    computation is subtracted.

    Parameters
    ----------
    program : GeometricProgram
        The program.
    point : ndarray
        Logarithms of the variables, where the weights are taken.
    multipliers : ndarray
        One per constraint.

    Returns
    -------
    float
        The bound (a logarithm); −inf if nothing is proven.
    """
    if not (np.isfinite(point).all() and np.isfinite(multipliers).all()):
        return -np.inf
    blocks = program.blocks
    weights = program.evaluate(point).weights
    scaled = np.maximum(multipliers, 0)[program.blocks.block] * weights
    used = scaled > 0
    scaled, entropy = scaled[used], np.log(weights[used])
    rows, offset = blocks.matrix[used], blocks.offset[used]
    slope = scaled @ rows
    slope[program.cost] += 1
    corner = np.minimum(slope * program.low, slope * program.high)
    bound = float(scaled @ (offset - entropy) + corner.sum())
    reach = np.maximum(np.abs(program.low), np.abs(program.high))
    magnitude = (
        float(scaled @ (np.abs(rows) @ reach + np.abs(offset) + np.abs(entropy) + 1))
        + float(reach[program.cost])
        + 1
    )
    return duality_below(bound, magnitude)


def proves_infeasible(program: GeometricProgram, point: Vector, multipliers: Vector) -> bool:
    """Whether multipliers of an elastic program prove that no point meets all constraints.

    Parameters
    ----------
    program : GeometricProgram
        The elastic program (`GeometricProgram.elastic`).
    point : ndarray
        Logarithms of the variables.
    multipliers : ndarray
        One per constraint.

    Returns
    -------
    bool
        Whether they prove it.
    """
    return certified_bound(program, point, multipliers) > 0
