"""Expressions in the attributes of compound components, as Accelergy has them: arithmetic,
comparisons and conditions over other attributes.

The text may come from anywhere. Its operations are those of numbers of bounded size, so that it
costs no more than its length says.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

#: Longest expression (characters), deepest nesting, and bits of the largest number.
MAX_TEXT, MAX_DEPTH, MAX_BITS = 1_000, 50, 1_000

#: Words that stand for values.
_CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "none": None}


def _power(base: Any, exponent: Any) -> Any:
    """A power, unless it has too many digits."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and abs(exponent) * max(1, base.bit_length()) > MAX_BITS:
        raise OverflowError("a number is too large")
    return base**exponent


_OPERATIONS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in ("ceil", "floor", "log", "log2", "sqrt")},
    **{each.__name__: each for each in (abs, float, int, max, min, round)},
    "pow": _power,
}

#: Nodes of expressions beside operators.
_NODES = (
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.IfExp,
    ast.Name,
    ast.UnaryOp,
)


def parse_attribute(text: str) -> ast.expr | None:
    """The expression that a text is; None if it is none, such as ``45nm``."""
    if len(text) > MAX_TEXT:
        return None
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body if _is_expression(body, 0) else None


def _is_expression(node: ast.AST, depth: int) -> bool:
    """Whether nothing else is inside."""
    if isinstance(node, ast.operator | ast.unaryop | ast.cmpop | ast.boolop):
        return type(node) in _OPERATIONS or isinstance(node, ast.boolop)
    if isinstance(node, ast.expr_context):
        return True
    if not isinstance(node, _NODES) or depth > MAX_DEPTH:
        return False
    if isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float):
        return False
    if isinstance(node, ast.Call) and not (
        isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords
    ):
        return False
    return all(_is_expression(inner, depth + 1) for inner in ast.iter_child_nodes(node))


def names_of(expression: ast.expr) -> list[str]:
    """The names of attributes in an expression, without repetition."""
    names = (node.id for node in ast.walk(expression) if isinstance(node, ast.Name))
    return [name for name in dict.fromkeys(names) if name not in (*_FUNCTIONS, *_CONSTANTS)]


def evaluated(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of an expression.

    Raises `ArithmeticError`, `TypeError` or `ValueError` if it has none.
    """
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names[node.id] if node.id in names else _CONSTANTS[node.id]
        case ast.IfExp():
            return evaluated(node.body if evaluated(node.test, names) else node.orelse, names)
        case ast.BoolOp():
            every = isinstance(node.op, ast.And)
            for part in node.values[:-1]:
                value = evaluated(part, names)
                if bool(value) is not every:
                    return value
            return evaluated(node.values[-1], names)
        case ast.Compare():
            values = [evaluated(part, names) for part in (node.left, *node.comparators)]
            steps = zip(node.ops, values, values[1:], strict=False)
            return all(_OPERATIONS[type(sign)](a, b) for sign, a, b in steps)
        case ast.BinOp():
            operands = [evaluated(part, names) for part in (node.left, node.right)]
            return _number(_OPERATIONS[type(node.op)](*map(_number, operands)))
        case ast.UnaryOp():
            operand = evaluated(node.operand, names)
            negated = isinstance(node.op, ast.Not)
            return _OPERATIONS[type(node.op)](operand if negated else _number(operand))
        case ast.Call():
            arguments = [evaluated(part, names) for part in node.args]
            return _number(_FUNCTIONS[node.func.id](*arguments))  # type: ignore[attr-defined]
    raise TypeError("it is no expression")


def _number(value: Any) -> Any:
    """A number that is not too large. Raises an error if it is none."""
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r:.40} is no number")
    if value.bit_length() > MAX_BITS if isinstance(value, int) else not math.isfinite(value):
        raise OverflowError("a number is too large")
    return value
