"""Expressions of C, by pycparser: constants, affine sums of loops, accesses to arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from pycparser import c_ast, c_generator
from pycparser.c_parser import CParser

from ithaca.files.messages import quoted, refuse
from ithaca.workloads.affine import Access, Affine

#: Largest number in a file.
MAX_NUMBER = 1 << 40

#: Coefficients by loop; that of the empty name is the constant.
Linear = dict[str, int]

_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    # towards zero, as C divides
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}


def parsed(text: str, where: str) -> Any:
    """The syntax tree of declarations and functions.

    Raises `InputError` if it is none of C.
    """
    try:
        return CParser().parse(text)
    except Exception as error:  # a parser of others may raise anything
        place, _, why = str(error).lstrip(":").partition(": ")
        line = place.split(":")[0]
        at = f"{where}, line {line}" if line.isdecimal() else where
        raise refuse(at, f"cannot be read as C: {why or error}; allowed: C") from None


def expression(text: str, where: str) -> Any:
    """The syntax tree of an expression."""
    tree = parsed(f"int x = ({text});", where)
    initial = getattr(tree.ext[0], "init", None) if len(tree.ext) == 1 else None
    if initial is None:
        raise refuse(where, f"{quoted(text.strip())} is no expression; allowed: one of numbers")
    return initial


def source_of(node: Any) -> str:
    """A part of a file as C, for messages."""
    return str(c_generator.CGenerator().visit(node))


def number_of(node: Any, constants: Mapping[str, int], where: str) -> int:
    """The value of an expression over constants.

    Parameters
    ----------
    node : object
        The expression.
    constants : mapping of str to int
        Values by name.
    where : str
        The place that error lines begin with.
    """
    form = linear(node, constants, (), where)
    return form.get("", 0)


def linear(
    node: Any, constants: Mapping[str, int], loops: Mapping[str, Any] | tuple[()], where: str
) -> Linear:
    """An affine expression over loops, constants replaced.

    Parameters
    ----------
    node : object
        The expression.
    constants : mapping of str to int
        Values by name.
    loops : mapping of str to object
        The loops by name.
    where : str
        What error lines begin with.

    Raises
    ------
    InputError
        If it is none.
    """

    def wrong(why: str) -> NoReturn:
        allowed = "sums of loops, each times a constant" if loops else "constants"
        raise refuse(where, f"{quoted(source_of(node))} {why}; allowed: {allowed}")

    def of(part: Any) -> Linear:
        return linear(part, constants, loops, where)

    value: Linear
    match node:
        case c_ast.Constant(type=kind, value=text) if "int" in kind:
            digits = text.rstrip("uUlL")
            plain = f"0o{digits[1:]}" if digits.isdecimal() and digits[0] == "0" else digits
            value = {"": int(plain, 0) if digits != "0" else 0}
        case c_ast.ID(name=name) if name in loops:
            return {name: 1}
        case c_ast.ID(name=name) if name in constants:
            value = {"": constants[name]}
        case c_ast.UnaryOp(op="-", expr=part):
            value = {name: -c for name, c in of(part).items()}
        case c_ast.UnaryOp(op="+", expr=part):
            return of(part)
        case c_ast.UnaryOp(op="!", expr=part):
            value = {"": int(not number_of(part, constants, where))}
        case c_ast.BinaryOp(op="+" | "-" as sign, left=left, right=right):
            one, other, factor = of(left), of(right), 1 if sign == "+" else -1
            value = {n: one.get(n, 0) + factor * other.get(n, 0) for n in {**one, **other}}
        case c_ast.BinaryOp(op="*", left=left, right=right):
            one, other = of(left), of(right)
            if {*one} - {""} and {*other} - {""}:
                wrong("is not affine")
            scale, form = (other, one) if {*one} - {""} else (one, other)
            value = {name: scale.get("", 0) * c for name, c in form.items()}
        case c_ast.BinaryOp(op=sign, left=left, right=right) if sign in _OPERATORS:
            sides = of(left), of(right)
            if any({*side} - {""} for side in sides):
                wrong("is not affine")
            first, second = (side.get("", 0) for side in sides)
            if sign in "/%" and not second:
                wrong("divides by 0")
            value = {"": int(_OPERATORS[sign](first, second))}
        case _:
            wrong("is not affine" if loops else "is no constant")
    if any(abs(c) > MAX_NUMBER for c in value.values()):
        wrong("is too large")
    return {name: c for name, c in value.items() if c or not name}


def access(
    node: Any, constants: Mapping[str, int], loops: Mapping[str, Any], where: str
) -> Access | None:
    """The access to an array that an expression is; None: it is none.

    Parameters
    ----------
    node : object
        The expression.
    constants : mapping of str to int
        Values by name.
    loops : mapping of str to object
        The loops around it.
    where : str
        The place that error lines begin with.
    """
    subscripts: list[Affine] = []
    while isinstance(node, c_ast.ArrayRef):
        form = linear(node.subscript, constants, loops, where)
        constant = form.pop("", 0)
        subscripts.insert(0, Affine(tuple(form.items()), constant))
        node = node.name
    if not isinstance(node, c_ast.ID) or not subscripts:
        return None
    return Access(node.name, tuple(subscripts))
