"""Read a statement such as ``C[i][j] += A[i][k] * B[j][k]`` into array accesses."""

from __future__ import annotations

import ast

from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.errors import InputError


def parse_statement(text: str) -> tuple[Access, tuple[Access, ...]]:
    """Parse an accumulating statement.

    Parameters
    ----------
    text : str
        ``output += input * input …`` with affine subscripts in brackets.

    Returns
    -------
    output : Access
    inputs : tuple of Access

    Raises
    ------
    InputError
        If the text is no such statement or a subscript is not affine.
    """
    left, separator, right = text.partition("+=")
    if not separator:
        raise InputError(f"statement '{text}' does not accumulate; write 'output += input * input'")
    try:
        output, product = ast.parse(left.strip(), mode="eval").body, ast.parse(right.strip(), mode="eval").body
    except SyntaxError as error:
        raise InputError(f"statement '{text}' cannot be read: {error.msg}") from None
    return _access(output, text), tuple(_access(factor, text) for factor in _factors(product))


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _factors(node.left) + _factors(node.right)
    return [node]


def _access(node: ast.expr, text: str) -> Access:
    subscripts: list[Affine] = []
    while isinstance(node, ast.Subscript):
        subscripts.insert(0, _affine(node.slice, text))
        node = node.value
    if not isinstance(node, ast.Name) or not subscripts:
        raise InputError(f"statement '{text}': '{ast.unparse(node)}' is no array access such as A[i][k]")
    return Access(node.id, tuple(subscripts))


def _affine(node: ast.expr, text: str) -> Affine:
    coefficients = _linear(node, text)
    constant = coefficients.pop("", 0)
    return Affine(tuple((name, c) for name, c in coefficients.items() if c), constant)


def _linear(node: ast.expr, text: str) -> dict[str, int]:
    if isinstance(node, ast.Name):
        return {node.id: 1}
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return {"": node.value}
    if isinstance(node, ast.BinOp):
        left, right = _linear(node.left, text), _linear(node.right, text)
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            return {name: left.get(name, 0) + sign * right.get(name, 0) for name in {**left, **right}}
        if isinstance(node.op, ast.Mult):
            for scale, form in ((left, right), (right, left)):
                if set(scale) == {""}:
                    return {name: scale[""] * c for name, c in form.items()}
    raise InputError(f"statement '{text}': subscript '{ast.unparse(node)}' is not affine")
