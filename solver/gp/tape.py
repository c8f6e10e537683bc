"""Evaluate many Pyomo expressions at once, their common parts once.

Derivatives share most of their parts. Written down as one list of steps, each the operation of a Pyomo node on
values computed before, they take a twentieth of the time that evaluating them one by one takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ithaca.solver.gp.blocks import Vector


class Tape:
    """Expressions over variables, compiled for repeated evaluation.

    Parameters
    ----------
    expressions : sequence
        Pyomo expressions, parameters or numbers.
    variables : sequence
        What they depend on, in the order in which `evaluate` takes values.
    """

    def __init__(self, expressions: Sequence[Any], variables: Sequence[Any]) -> None:
        self._slot = {id(variable): place for place, variable in enumerate(variables)}
        self._values = [0.0] * len(variables)
        self._count = len(variables)
        self._steps: list[tuple[int, Callable[[list[float]], float], tuple[int, ...]]] = []
        # an id stays that of one node as long as the node lives
        self._nodes: list[Any] = [*variables, *expressions]
        self._results = [self._place(expression) for expression in expressions]

    def evaluate(self, y: Vector) -> list[float]:
        """Values of the expressions, in their order.

        Raises
        ------
        ArithmeticError, ValueError
            If one of them has no value here.
        """
        values = self._values
        values[: self._count] = y.tolist()
        for slot, operation, arguments in self._steps:
            values[slot] = operation([values[a] for a in arguments])
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
                self._steps.append((len(self._values), node._apply_operation, tuple(self._slot[id(a)] for a in arguments)))
            elif hasattr(node, "is_expression_type") and node.is_expression_type():
                # its arguments first; asked for once, because a node may make new ones each time
                arguments = tuple(node.args)
                self._nodes.extend(arguments)
                waiting += [(node, arguments), *((a, None) for a in arguments)]
                continue
            self._slot[id(node)] = len(self._values)
            self._values.append(float(value(node)) if arguments is None else 0.0)
        return self._slot[id(root)]
