"""Find loops that a problem treats alike.

Two axes are *exchangeable* if swapping their quantities leaves the objective and the set of
constraints as they are, and maps the rows of one onto those of the other. Then swapping their
rows turns any configuration into one that is as good and as feasible, and a search may order
them. A convolution's rows and columns are exchangeable where they are not in space; the loops of
a matrix multiplication hardly ever, for a pack is tied to the last index of its array.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np

from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
)
from ithaca.formulations.problem import SymbolicProblem
from ithaca.formulations.space import QuantityKind, Space
from ithaca.solver.tables.table import Table


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two exchangeable axes."""

    first: str
    """The axes."""
    second: str
    first_rows: tuple[int, ...]
    """Their rows, ordered so that those at equal positions correspond."""
    second_rows: tuple[int, ...]

    def ordered(self, rows: Mapping[str, int]) -> dict[str, int]:
        """A configuration's row per axis, swapped if the first axis' row stands behind the
        second's."""
        one, two = (
            self.first_rows.index(rows[self.first]),
            self.second_rows.index(rows[self.second]),
        )
        low, high = sorted((one, two))
        return {**rows, self.first: self.first_rows[low], self.second: self.second_rows[high]}


def exchangeable(
    symbolic: SymbolicProblem, space: Space, tables: Sequence[Table]
) -> tuple[Exchange, ...]:
    """Pairs of exchangeable axes, each axis in one pair at most.

    Parameters
    ----------
    symbolic : SymbolicProblem
        Objective and constraints as expressions.
    space : Space
        The design space; with rules across axes that are no constraints nothing is
        exchangeable.
    tables : sequence of Table
        The rows of its axes.
    """
    if space.entangled:  # such a rule across axes is no constraint of the problem
        return ()
    symbolic = replace(
        symbolic, conditions=(*symbolic.conditions, *((e, Fraction(0)) for e in space.inequalities))
    )
    used = symbolic.objective.symbols.union(*(e.symbols for e, _ in symbolic.constraints))
    unchanged = _signature(symbolic, {})
    free = {table.axis.name for table in tables}
    exchanges = []
    for first, second in combinations(tables, 2):
        if not {first.axis.name, second.axis.name} <= free:
            continue
        for names in _renamings(first, second, used):
            swap = names | {after: before for before, after in names.items()}
            exchange = _exchange(first, second, names)
            if exchange is not None and _signature(symbolic, swap) == unchanged:
                exchanges.append(exchange)
                free -= {first.axis.name, second.axis.name}
                break
    return tuple(exchanges)


def canonical(node: Expression) -> Hashable:
    """A key equal for expressions that differ only in the order of terms, factors and arguments."""
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Symbol):
        return node.name
    if isinstance(node, Product):
        return (
            "product",
            node.coefficient,
            frozenset((canonical(base), exponent) for base, exponent in node.factors),
        )
    if isinstance(node, CeilingDivision):
        return "ceiling", canonical(node.numerator), canonical(node.denominator)
    if isinstance(node, Sum | Maximum | Minimum):
        # terms and arguments are distinct by construction
        return type(node).__name__, frozenset(canonical(child) for child in node.children)
    raise TypeError(f"no canonical form of {node}")


def _signature(symbolic: SymbolicProblem, names: Mapping[str, str]) -> Hashable:
    renamed = {before: Symbol(after) for before, after in names.items()}
    constraints = frozenset(
        (canonical(e.substitute(renamed)), bound) for e, bound in symbolic.constraints
    )
    return canonical(symbolic.objective.substitute(renamed)), constraints


def _renamings(first: Table, second: Table, used: frozenset[str]) -> list[dict[str, str]]:
    """Ways to identify the used quantities of two axes: integers in order, powers of two in any."""
    (plain, powers), (plain_too, powers_too) = (
        tuple(
            [q.name for q in axis.quantities if q.kind is kind and q.name in used]
            for kind in QuantityKind
        )
        for axis in (first.axis, second.axis)
    )
    if not plain or len(plain) != len(plain_too) or len(powers) != len(powers_too):
        return []
    return [
        dict(zip([*plain, *powers], [*plain_too, *order], strict=True))
        for order in permutations(powers_too)
    ]


def _exchange(first: Table, second: Table, names: Mapping[str, str]) -> Exchange | None:
    """The correspondence of the rows of two axes; None if their rows differ."""
    if first.count != second.count:
        return None
    one = np.lexsort([first.rows[name] for name in names])
    two = np.lexsort([second.rows[name] for name in names.values()])
    if any(
        not np.array_equal(first.rows[before][one], second.rows[after][two])
        for before, after in names.items()
    ):
        return None
    return Exchange(first.axis.name, second.axis.name, tuple(one.tolist()), tuple(two.tolist()))
