"""Evaluate many Pyomo expressions at once, their common parts once.

Derivatives share most of their parts. Written down as one list of steps, each an operation on values computed before,
they take a small part of the time that evaluating them one by one takes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ithaca.solver.gp.blocks import Vector

#: What the commonest Pyomo nodes compute; the others are asked.
OPERATIONS: Mapping[str, Callable[..., float]] = {
    "ProductExpression": operator.mul,
    "MonomialTermExpression": operator.mul,
    "DivisionExpression": operator.truediv,
    "NegationExpression": operator.neg,
}


class Tape:
    """Pyomo expressions over variables, compiled for repeated evaluation at values of these in their order."""

    def __init__(self, expressions: Sequence[Any], variables: Sequence[Any]) -> None:
        self._slot = {id(variable): place for place, variable in enumerate(variables)}
        self._values = [0.0] * len(variables)
        self._count = len(variables)
        self._steps: list[tuple[int, Callable[..., float], Callable[[list[float]], Any]]] = []
        # steps of the same operation on the same values are taken once
        self._known: dict[tuple[Any, tuple[int, ...]], int] = {}
        # an id stays that of one node as long as the node lives
        self._nodes: list[Any] = [*variables, *expressions]
        self._results = [self._place(expression) for expression in expressions]

    def evaluate(self, y: Vector) -> list[float]:
        """Values of the expressions, in their order; `ArithmeticError` or `ValueError` if one of them has none here."""
        values = self._values
        values[: self._count] = y.tolist()
        for slot, operation, arguments in self._steps:
            values[slot] = operation(*arguments(values))
        return [values[slot] for slot in self._results]

    def _place(self, root: Any) -> int:
        """Write down the steps to an expression, unless they have been; where its value will stand."""
        from pyomo.environ import value

        waiting: list[tuple[Any, tuple[Any, ...] | None]] = [(root, None)]
        while waiting:
            node, arguments = waiting.pop()
            if id(node) in self._slot:
                continue
            if arguments is not None:
                self._slot[id(node)] = self._step(node, tuple(self._slot[id(a)] for a in arguments))
            elif hasattr(node, "is_expression_type") and node.is_expression_type():
                # its arguments first; asked for once, because a node may make new ones each time
                arguments = tuple(node.args)
                self._nodes.extend(arguments)
                waiting += [(node, arguments), *((a, None) for a in arguments)]
            else:
                self._slot[id(node)] = self._new_value(float(value(node)))
        return self._slot[id(root)]

    def _step(self, node: Any, slots: tuple[int, ...]) -> int:
        kind = type(node).__name__
        operation = OPERATIONS.get(kind)
        key: tuple[Any, tuple[int, ...]] = (kind, slots)
        if operation is None:
            operation, key = _operation_of(node), (node.getname() if kind == "UnaryFunctionExpression" else id(node), slots)
        if key not in self._known:
            self._known[key] = self._new_value(0.0)
            self._steps.append((self._known[key], operation, _pick(slots)))
        return self._known[key]

    def _new_value(self, value: float) -> int:
        self._values.append(value)
        return len(self._values) - 1


def _operation_of(node: Any) -> Callable[..., float]:
    compute: Callable[[tuple[float, ...]], float] = node._apply_operation
    return lambda *values: compute(values)


def _pick(slots: tuple[int, ...]) -> Callable[[list[float]], Any]:
    """The values that stand in some slots, as a tuple."""
    if len(slots) == 1:
        (only,) = slots
        return lambda values: (values[only],)
    return operator.itemgetter(*slots)
