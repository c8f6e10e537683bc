"""Straight-line programs: expressions compiled for repeated evaluation on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

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

Array = NDArray[np.float64]


class Program:
    """Expressions over column statistics, as a list of array operations without repetition."""

    def __init__(self, outputs: Sequence[Expression]) -> None:
        self.symbols: list[str] = []
        self._steps: list[tuple[str, tuple[int, ...], float]] = []
        self._slots: dict[tuple[str, tuple[int, ...], float], int] = {}
        self._memo: dict[Expression, int] = {}
        self._outputs = [self._compile(node) for node in outputs]

    def run(self, loaded: Sequence[Array]) -> list[Array]:
        """Evaluate all outputs; ``loaded`` holds the arrays of `symbols`, in their order."""
        slots: list[Array] = []
        for operation, arguments, constant in self._steps:
            if operation == "load":
                value = loaded[arguments[0]]
            elif operation == "constant":
                value = np.float64(constant)  # type: ignore[assignment]
            elif operation == "scale":
                value = slots[arguments[0]] * constant
            elif operation == "ceil":
                value = np.ceil(slots[arguments[0]])
            else:
                value = _BINARY[operation](slots[arguments[0]], slots[arguments[1]])
            slots.append(value)
        return [slots[index] for index in self._outputs]

    def _emit(self, operation: str, arguments: tuple[int, ...] = (), constant: float = 0.0) -> int:
        key = (operation, arguments, constant)
        if key not in self._slots:
            self._slots[key] = len(self._steps)
            self._steps.append(key)
        return self._slots[key]

    def _fold(self, operation: str, slots: Sequence[int]) -> int:
        result = slots[0]
        for slot in slots[1:]:
            result = self._emit(operation, (result, slot))
        return result

    def _compile(self, node: Expression) -> int:
        if node not in self._memo:
            self._memo[node] = self._compile_node(node)
        return self._memo[node]

    def _compile_node(self, node: Expression) -> int:
        if isinstance(node, Symbol):
            if node.name not in self.symbols:
                self.symbols.append(node.name)
            return self._emit("load", (self.symbols.index(node.name),))
        if isinstance(node, Constant):
            return self._emit("constant", constant=float(node.value))
        if isinstance(node, Sum):
            return self._fold("add", [self._compile(t) for t in node.terms])
        if isinstance(node, Maximum):
            return self._fold("maximum", [self._compile(a) for a in node.arguments])
        if isinstance(node, Minimum):
            return self._fold("minimum", [self._compile(a) for a in node.arguments])
        if isinstance(node, CeilingDivision):
            ratio = self._fold("divide", [self._compile(node.numerator), self._compile(node.denominator)])
            return self._emit("ceil", (ratio,))
        if isinstance(node, Product):
            over = [self._compile(b) for b, e in node.factors for _ in range(e)]
            under = [self._compile(b) for b, e in node.factors for _ in range(-e)]
            result = self._fold("multiply", sorted(over)) if over else self._emit("constant", constant=1.0)
            if under:
                result = self._emit("divide", (result, self._fold("multiply", sorted(under))))
            return result if node.coefficient == 1 else self._emit("scale", (result,), float(node.coefficient))
        raise TypeError(f"cannot compile {node}")


_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
