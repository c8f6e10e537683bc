"""Groups of axes: those that expressions depend on, and the parts of expressions that depend on one
axis alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.remembered import remembered

T = TypeVar("T")


class AxisGroups:
    """Tells parts of expressions over quantities apart by the axes that fix these."""

    def __init__(self, axis_of: Mapping[str, str]) -> None:
        self._axis_of = axis_of

    @remembered
    def axes(self, node: Expression) -> frozenset[str]:
        """The axes an expression depends on."""
        if isinstance(node, Symbol):
            return frozenset({self._axis_of[node.name]})
        return frozenset[str]().union(*map(self.axes, node.children))

    def grouped(
        self, parts: Iterable[T], of: Callable[[T], Expression]
    ) -> tuple[dict[str, list[T]], list[T]]:
        """The parts whose expressions depend on one axis, by that axis, and the others."""
        single: dict[str, list[T]] = {}
        others: list[T] = []
        for part in parts:
            axes = self.axes(of(part))
            (single.setdefault(next(iter(axes)), []) if len(axes) == 1 else others).append(part)
        return single, others
