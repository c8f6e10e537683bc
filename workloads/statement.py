"""Read a statement such as ``C[i][j] += A[i][k] * B[j][k]``, or an einsum, into array accesses."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping, Sequence

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.workloads.affine import Access, Affine

#: Longest statement (characters), and the largest number in it.
MAX_LENGTH, MAX_NUMBER = 500, 65_536

_EINSUM = re.compile(r"([a-zA-Z]*)((?:,[a-zA-Z]*)*)->([a-zA-Z]*)")
#: Keywords of Python but values, and what makes names of them.
_KEYWORD = re.compile(rf"\b({'|'.join(word for word in keyword.kwlist if word.islower())})\b")
_MARK = "\N{MIDDLE DOT}"
_ALLOWED = "sums of loops, each times an integer or parameter"


def parse_statement(
    text: str, parameters: Mapping[str, int] | None = None
) -> tuple[Access, tuple[Access, ...]]:
    """Output and inputs of ``output += input * input …`` with affine subscripts in brackets.

    Parameters are numbers that stand in the statement by name, such as a stride.

    Raises `InputError` if the text is no such statement or a subscript is not affine.
    """
    output, product = _sides(text)
    read = AccessReader(text, parameters or {})
    return read.access(output), tuple(read.access(factor) for factor in _factors(product))


def is_statement(text: str) -> bool:
    """Whether a text is a statement or an einsum, not a name or a path."""
    return ("=" in text and "[" in text) or "->" in text


def accumulating(text: str) -> str:
    """A statement that accumulates: an assignment means the sum over the loops that its output does
    not have."""
    return text if "+=" in text else text.replace("=", "+=", 1)


def factors_in(text: str) -> frozenset[str]:
    """The names that only multiply others in subscripts: parameters, such as strides."""
    names, alone = set(), set()
    for side in _sides(text):
        for node in ast.walk(side):
            if isinstance(node, ast.Subscript):
                inside = set(map(id, _products(node.slice)))
                for name in (name for name in ast.walk(node.slice) if isinstance(name, ast.Name)):
                    names.add(name.id)
                    if id(name) not in inside:
                        alone.add(name.id)
    return frozenset(names - alone)


def _products(node: ast.expr) -> list[ast.Name]:
    """Names that are multiplied by another name."""
    multiplied = []
    for product in ast.walk(node):
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
            names = [name for name in ast.walk(product) if isinstance(name, ast.Name)]
            multiplied += names if len(names) > 1 else []
    return multiplied


def names_in(text: str) -> frozenset[str]:
    """Every name that occurs in a statement: arrays, loops and parameters."""
    return frozenset(
        node.id for side in _sides(text) for node in ast.walk(side) if isinstance(node, ast.Name)
    )


def apart(text: str, parameter: str) -> tuple[str, tuple[str, ...]]:
    """A statement with a parameter for every loop that one multiplies, and these loops: ``r*s`` and
    ``c*s`` become ``r*sr`` and ``c*sc``."""
    loops: dict[str, None] = {}

    def own(match: re.Match[str]) -> str:
        loop = match[1] or match[2]
        loops[loop] = None
        return f"{loop}*{parameter}{loop}"

    name = r"([A-Za-z_]\w*)"
    pattern = rf"\b{name}\s*\*\s*{parameter}\b|\b{parameter}\s*\*\s*{name}\b"
    return re.sub(pattern, own, text), tuple(loops)


def einsum_statement(text: str, arrays: Sequence[str] = ()) -> str:
    """The statement that an einsum string such as ``ik,jk->ij`` means: one letter per loop, the
    last part for the output.

    ``arrays`` names the inputs, then the output; by default A, B, C, ….

    Raises `InputError` if the text is no such string, or does not fit the names.
    """
    compact = "".join(text.split())
    match = _EINSUM.fullmatch(compact)
    if not match or len(compact) > MAX_LENGTH:
        raise InputError(
            f"einsum is {quoted(text)}; allowed: letters for loops, such as 'ik,jk->ij'"
        )
    operands = [*(match[1] + match[2]).split(","), match[3]]
    if alone := "".join(
        dict.fromkeys(loop for loop in match[3] if loop not in match[1] + match[2])
    ):
        raise InputError(
            f"einsum {quoted(text)}: no input has the output's "
            f"{quoted(alone[0])}; allowed: letters of the inputs"
        )
    names = list(arrays) or [chr(ord("A") + number) for number in range(len(operands))]
    if len(names) != len(operands):
        raise InputError(
            f"einsum {quoted(text)} has {len(operands)} arrays, the output "
            f"included, but {len(names)} names"
        )
    # an array without subscripts is one word: statements write it as element 0
    accesses = [
        name + ("".join(f"[{loop}]" for loop in loops) or "[0]")
        for name, loops in zip(names, operands, strict=True)
    ]
    return f"{accesses[-1]} += {' * '.join(accesses[:-1])}"


def _sides(text: str) -> tuple[ast.expr, ast.expr]:
    if len(text) > MAX_LENGTH:
        raise InputError(
            f"statement {quoted(text)} has {len(text)} characters; allowed: at most {MAX_LENGTH}"
        )
    left, separator, right = text.partition("+=")
    if not separator:
        raise InputError(
            f"statement {quoted(text)} does not accumulate; write 'output += input * input'"
        )
    try:
        return _parsed(left), _parsed(right)
    except SyntaxError as error:
        raise InputError(f"statement {quoted(text)} cannot be read: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise InputError(
            f"statement {quoted(text)} cannot be read; write 'output += input * input'"
        ) from None


def _parsed(text: str) -> ast.expr:
    """A side of a statement, in which names may be keywords of Python, such as ``lambda``."""
    body = ast.parse(_KEYWORD.sub(rf"\1{_MARK}", text.strip()), mode="eval").body
    for name in (node for node in ast.walk(body) if isinstance(node, ast.Name)):
        name.id = name.id.removesuffix(_MARK)
    return body


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _factors(node.left) + _factors(node.right)
    return [node]


class AccessReader:
    """Turns syntax into accesses; knows the text, for messages, and the parameters."""

    def __init__(self, text: str, parameters: Mapping[str, int]) -> None:
        self.text = text
        self.parameters = parameters

    def access(self, node: ast.expr) -> Access:
        subscripts: list[Affine] = []
        whole = node
        while isinstance(node, ast.Subscript):
            inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            subscripts[:0] = [self.affine(subscript) for subscript in inside]
            node = node.value
        if not isinstance(node, ast.Name) or not subscripts:
            text = quoted(ast.unparse(whole))
            raise InputError(
                f"statement {quoted(self.text)}: {text} is no array "
                "access; allowed: such as A[i][k]"
            )
        return Access(node.id, tuple(subscripts))

    def affine(self, node: ast.expr) -> Affine:
        coefficients = self.linear(node)
        if any(abs(c) > MAX_NUMBER for c in coefficients.values()):
            raise self.refusal(node, f"has a number above {MAX_NUMBER}")
        constant = coefficients.pop("", 0)
        return Affine(tuple((name, c) for name, c in coefficients.items() if c), constant)

    def linear(self, node: ast.expr) -> dict[str, int]:
        """Coefficient by loop; that of the empty name is the constant."""
        match node:
            case ast.Name():
                return (
                    {"": self.parameters[node.id]} if node.id in self.parameters else {node.id: 1}
                )
            case ast.Constant() if type(node.value) is int:
                return {"": node.value}
            case ast.UnaryOp(op=ast.USub()):
                return {name: -c for name, c in self.linear(node.operand).items()}
            case ast.BinOp(op=ast.Add() | ast.Sub() as op):
                left, right = self.linear(node.left), self.linear(node.right)
                sign = 1 if isinstance(op, ast.Add) else -1
                return {
                    name: left.get(name, 0) + sign * right.get(name, 0)
                    for name in {**left, **right}
                }
            case ast.BinOp(op=ast.Mult()):
                left, right = self.linear(node.left), self.linear(node.right)
                for scale, form in ((left, right), (right, left)):
                    if set(scale) == {""}:
                        return {name: scale[""] * c for name, c in form.items()}
        raise self.refusal(node, "is not affine")

    def refusal(self, node: ast.expr, problem: str) -> InputError:
        text = quoted(ast.unparse(node))
        return InputError(
            f"statement {quoted(self.text)}: subscript {text} {problem}; allowed: {_ALLOWED}"
        )
