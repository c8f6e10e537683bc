"""The geometric program of a problem, as arrays over the logarithms of its variables.

Columns are the logarithms of, in this order: the tiling quantities tiles, lanes and t2 of every band
loop; the packs; the curves; the epigraph variables, the last of them the objective; and the derived
quantities t1 = lanes·t2, tiles·t2 and tiles·lanes of every loop. Derived quantities are whole numbers,
which ranges and branching exploit; the constraints of the program proper are written without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ithaca.formulations.algebra.expression import Constant, Symbol
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.posynomial import NotPosynomialError, Posynomial
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import simd_options
from ithaca.formulations.systolic.packing import PUBLISHED_WORD_BYTES, pack_options
from ithaca.formulations.systolic.systolic_array import Edition, IOGroup
from ithaca.solver.gp.blocks import Blocks, Indices, Matrix, Vector, compile_posynomials, monomials, stack
from ithaca.solver.gp.lowering import Curve, Epigraph, Lowering

OBJECTIVE = "objective"


@dataclass(frozen=True)
class LoopColumns:
    """A band loop and where its quantities stand.

    Attributes
    ----------
    loop : str
        Its name.
    extent : int
        Its trip count.
    tiles, lanes, t2, t1, tiles_t2, tiles_lanes : int
        Columns of the quantities and of their products.
    """

    loop: str
    extent: int
    tiles: int
    lanes: int
    t2: int
    t1: int
    tiles_t2: int
    tiles_lanes: int

    @property
    def columns(self) -> tuple[int, ...]:
        """All columns of the loop."""
        return (self.tiles, self.lanes, self.t2, self.t1, self.tiles_t2, self.tiles_lanes)


@dataclass(frozen=True)
class PackColumn:
    """A pack and what bounds it.

    Attributes
    ----------
    column : int
        Where it stands.
    cap : int
        Its largest value (words), unless it must be a multiple of more.
    multiple : int or None
        Column of the factor of which it is a multiple; None for 1.
    last : array or None
        The logarithm of the tile's last dimension is ``last·y``; None where it is no product.
    inferred : bool
        Whether the pack is as large as cap and last dimension permit (odyssey edition).
    """

    column: int
    cap: int
    multiple: int | None
    last: Vector | None
    inferred: bool


@dataclass(frozen=True)
class CurveColumn:
    """A curve with its columns.

    Attributes
    ----------
    column, argument : int
        Columns of the curve and of the quantity it depends on.
    is_pack : bool
        Whether that quantity is a power of two; otherwise the curve is concave in log-log.
    curve : Curve
        The function.
    """

    column: int
    argument: int
    is_pack: bool
    curve: Curve

    def at(self, value: int) -> Fraction:
        """Exact value of the function."""
        result: Fraction = self.curve.expression.evaluate({self.curve.symbol: Fraction(value)}, FRACTION)
        return result


@dataclass(frozen=True)
class GeometricModel:
    """The relaxed geometric program of a problem over its whole design space.

    Attributes
    ----------
    problem : Problem
        What is relaxed.
    symbolic : SymbolicProblem
        The same in symbols.
    names : tuple of str
        Names of all columns.
    base : int
        Number of columns before the derived ones.
    derivation : array, shape (derived, base)
        Derived columns as sums of others.
    constraints : Blocks
        The program's constraints, over base columns.
    propagation : Blocks
        The same with what follows for derived columns; sharpens ranges.
    loops, packs, curves : tuple
        What the columns mean.
    epigraphs : tuple of (int, Blocks)
        Column and pieces of each epigraph variable, in an order in which each needs only earlier ones.
    simd : int
        Column of the SIMD factor.
    simd_options : array
        Its legal values.
    """

    problem: Problem
    symbolic: SymbolicProblem
    names: tuple[str, ...]
    base: int
    derivation: Matrix
    constraints: Blocks
    propagation: Blocks
    loops: tuple[LoopColumns, ...]
    packs: tuple[PackColumn, ...]
    curves: tuple[CurveColumn, ...]
    epigraphs: tuple[tuple[int, Blocks], ...]
    simd: int
    simd_options: Indices

    @property
    def objective(self) -> int:
        """Column of the objective's logarithm."""
        return self.base - 1


def build_geometric_model(problem: Problem) -> GeometricModel:
    """Relax a problem to a geometric program.

    Raises
    ------
    NotPosynomialError
        If the objective is not posynomial.
    """
    array, sizes = problem.array, problem.nest.sizes
    groups = array.packed_groups
    symbolic = problem.symbolic()
    largest = {quantities.pack(g.name).name: int(pack_options(g.packing, problem.data)[-1]) for g in groups}
    lowering = Lowering(largest, {quantities.t1(x).name: _lanes(x) * _t2(x) for x in array.band})
    try:
        objective = lowering.lower(symbolic.objective)
    except NotPosynomialError as error:
        raise NotPosynomialError(f"objective '{problem.objective.text}' is not posynomial: {error}") from None
    limits = [p for expression, bound in symbolic.constraints for p in lowering.at_most(expression, bound)]
    extents = {quantities.extent(x).name: Fraction(n) for x, n in sizes.items()}
    lasts = {g.name: lowering.lower(g.packing.last.substitute(extents)) for g in groups}
    last = {name: pieces[0] for name, pieces in lasts.items() if len(pieces) == 1 and pieces[0].is_monomial}
    for group in groups:
        if group.name in last and _last_bounds_pack(problem, group, last[group.name]):
            limits.append(Posynomial.quantity(quantities.pack(group.name).name) * last[group.name] ** -1)
    for x in array.band:
        padded = _tiles(x) * _lanes(x) * _t2(x)
        limits.append(padded**-1 * Posynomial.constant(sizes[x]))
        if problem.space.divisors_only:
            limits.append(padded * Posynomial.constant(Fraction(1, sizes[x])))

    epigraphs = [*lowering.epigraphs, Epigraph(OBJECTIVE, objective)]
    base = [q(x).name for x in array.band for q in (quantities.tiles, quantities.lanes, quantities.t2)]
    base += [*largest, *(c.name for c in lowering.curves), *(e.name for e in epigraphs)]
    derived = [name for x in array.band for name in (f"t1.{x}", f"tiles·t2.{x}", f"tiles·lanes.{x}")]
    names = (*base, *derived)
    column = {name: i for i, name in enumerate(names)}

    loops = tuple(
        LoopColumns(x, sizes[x], *range(3 * i, 3 * i + 3), *range(len(base) + 3 * i, len(base) + 3 * i + 3))
        for i, x in enumerate(array.band)
    )
    pieces = [p * Posynomial.quantity(e.name, -1) for e in epigraphs for p in e.pieces]
    constraints = compile_posynomials((*pieces, *limits), column, len(base))
    derivation = np.zeros((len(derived), len(base)))
    for loop in loops:
        for row, parts in _factors(loop):
            derivation[row - len(base), list(parts)] = 1
    return GeometricModel(
        problem=problem,
        symbolic=symbolic,
        names=names,
        base=len(base),
        derivation=derivation,
        constraints=constraints,
        propagation=stack(constraints, *(_implied(loop, len(names)) for loop in loops)),
        loops=loops,
        packs=tuple(_pack_column(problem, g, last.get(g.name), column, len(names)) for g in groups),
        curves=tuple(CurveColumn(column[c.name], column[c.symbol], c.symbol in largest, c) for c in lowering.curves),
        epigraphs=tuple((column[e.name], compile_posynomials(e.pieces, column, len(names))) for e in epigraphs),
        simd=column[quantities.t2(array.simd_loop).name],
        simd_options=simd_options(problem.data),
    )


def _tiles(loop: str) -> Posynomial:
    return Posynomial.quantity(quantities.tiles(loop).name)


def _lanes(loop: str) -> Posynomial:
    return Posynomial.quantity(quantities.lanes(loop).name)


def _t2(loop: str) -> Posynomial:
    return Posynomial.quantity(quantities.t2(loop).name)


def _factors(loop: LoopColumns) -> tuple[tuple[int, tuple[int, int]], ...]:
    """Each derived column with the two columns it is the product of."""
    return (
        (loop.t1, (loop.lanes, loop.t2)),
        (loop.tiles_t2, (loop.tiles, loop.t2)),
        (loop.tiles_lanes, (loop.tiles, loop.lanes)),
    )


def _implied(loop: LoopColumns, columns: int) -> Blocks:
    """Definitions of a loop's derived columns, and tiles·lanes·t2 ≥ extent in terms of them."""
    rows, offsets = [], []
    rest = {loop.t1: loop.tiles, loop.tiles_t2: loop.lanes, loop.tiles_lanes: loop.t2}
    for product, (left, right) in _factors(loop):
        row = np.zeros(columns)
        row[[product, left, right]] = 1, -1, -1
        cover = np.zeros(columns)
        cover[[product, rest[product]]] = -1
        rows += [row, -row, cover]
        offsets += [0.0, 0.0, float(np.log(loop.extent))]
    return monomials(np.array(rows), np.array(offsets))


def _last_bounds_pack(problem: Problem, group: IOGroup, last: Posynomial) -> bool:
    """Whether the pack never exceeds the tile's last dimension.

    A chosen pack divides it. An inferred one does not exceed it either, unless it must be a
    multiple of more.
    """
    if problem.array.edition is Edition.EXACT:
        return True
    multiple = group.packing.multiple_of
    if isinstance(multiple, Constant):
        return multiple.value <= 1
    if not isinstance(multiple, Symbol):
        return False
    ratio = last * Posynomial.quantity(multiple.name, -1)
    ((exponents, coefficient),) = ratio.terms.items()
    return coefficient >= 1 and all(e >= 0 for _, e in exponents)


def _pack_column(problem: Problem, group: IOGroup, last: Posynomial | None, column: dict[str, int], columns: int) -> PackColumn:
    inferred = problem.array.edition is Edition.ODYSSEY
    multiple = group.packing.multiple_of
    cap = group.packing.max_bytes // (PUBLISHED_WORD_BYTES if inferred else problem.data.bytes)
    if not isinstance(multiple, Symbol) and not (isinstance(multiple, Constant) and multiple.value == 1):
        cap = int(pack_options(group.packing, problem.data)[-1])
    row: Vector | None = None
    if last is not None:
        ((exponents, coefficient),) = last.terms.items()
        if coefficient == 1:
            row = np.zeros(columns)
            for name, exponent in exponents:
                row[column[name]] = exponent
    known = column[multiple.name] if isinstance(multiple, Symbol) else None
    return PackColumn(column[quantities.pack(group.name).name], cap, known, row, inferred)
