"""Read arithmetic over names, from files and the command line, into expressions.

The text may come from anywhere, so nothing here evaluates it: a small tokenizer and a recursive
descent build the tree through the constructors of `ithaca.formulations.algebra.expression`. Length,
nesting and the size of numbers are bounded, so hostile text costs no more than an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from ithaca.files.errors import InputError
from ithaca.files.messages import meant
from ithaca.files.messages import quoted as quoted
from ithaca.formulations.algebra.expression import (
    ONE,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    ceiling_division,
    maximum,
    minimum,
    multiply,
    power,
    walk,
)

#: The functions an expression may call.
FUNCTIONS = ("ceil", "max", "min")

#: Bounds that no honest expression meets (characters; levels; digits; bits).
MAX_TEXT, MAX_DEPTH, MAX_DIGITS, MAX_BITS = 10_000, 100, 40, 512

#: Names that a message lists one by one.
MOST_LISTED = 40

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{{1,2}})?)|(?P<name>{_NAME})|(?P<sign>[-+*/(),])|(?P<bad>\S))"
)
_NOT_NUMBERS = frozenset({"nan", "inf", "infinity"})


def parse_expression(
    text: str,
    *,
    where: str,
    allowed: Collection[str] | None,
    under: list[Expression] | None = None,
) -> Expression:
    """Parse an arithmetic expression.

    Understood are numbers (decimals are exact: ``0.1`` is 1/10), names, also with dots, ``+ - *
    /``, parentheses, ``max(...)``, ``min(...)`` and ``ceil(...)``; ``ceil(a/b)`` is the ceiling
    division of ``a`` by ``b``.

    Parameters
    ----------
    text : str
        The expression.
    where : str
        What the text is, for error lines: an option, or the path inside a document.
    allowed : collection of str, optional
        Names that it may use; None: any.
    under : list of Expression, optional
        Takes all that the text divides by, also what the expression cancels.

    Returns
    -------
    Expression
        The expression.

    Raises
    ------
    InputError
        If the text is none, is unreasonably large or divides by zero.
    """
    parser = _Parser(text, where, allowed)
    if len(text) > MAX_TEXT:
        parser.refuse(f"has {len(text)} characters, more than {MAX_TEXT}")
    parser.tokenize()
    expression = parser.sum(0).value
    if parser.current:
        parser.refuse(f"cannot be read at {quoted(parser.current)}")
    if under is not None:
        under += parser.divisors
    for node in walk(expression):
        number = (
            node.value
            if isinstance(node, Constant)
            else node.coefficient
            if isinstance(node, Product)
            else Fraction(1)
        )
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
            parser.refuse("computes a constant that is too large or too small")
    return expression


def expression_text(expression: Expression) -> str:
    """An expression as text that `parse_expression` reads."""
    match expression:
        case Sum():
            return " + ".join(map(expression_text, expression.terms))
        case Product():
            powers = [
                (
                    f"({expression_text(base)})"
                    if isinstance(base, Sum)
                    else expression_text(base),
                    n,
                )
                for base, n in expression.factors
            ]
            over = [text for text, exponent in powers for _ in range(exponent)]
            under = [text for text, exponent in powers for _ in range(-exponent)]
            return "/".join(["*".join([str(expression.coefficient), *over]), *under])
        case CeilingDivision():
            parts = map(expression_text, (expression.numerator, expression.denominator))
            return "ceil(({})/({}))".format(*parts)
        case Maximum() | Minimum():
            name = "max" if isinstance(expression, Maximum) else "min"
            return f"{name}({', '.join(map(expression_text, expression.arguments))})"
    return str(expression)


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A parsed part; its last division is kept apart because ``ceil`` needs both sides."""

    over: Expression
    under: Expression = ONE

    @property
    def value(self) -> Expression:
        return self.over if self.under is ONE else multiply(self.over, power(self.under, -1))


def _listed(names: Collection[str]) -> str:
    """Names in a message: of many only those without a dot, and an example of the others."""
    whole, *parts = (sorted(n for n in names if ("." in n) is dot) for dot in (False, True))
    if len(names) <= MOST_LISTED or not whole:
        return ", ".join(sorted(names))
    return ", ".join([*whole, *(f"{len(part)} such as {part[0]}" for part in parts if part)])


@dataclass(slots=True)
class _Parser:
    """Recursive descent over the tokens of one text; ``depth`` counts open parentheses."""

    text: str
    where: str
    allowed: Collection[str] | None
    tokens: list[tuple[str, str]] = field(default_factory=list)
    position: int = 0
    divisors: list[Expression] = field(default_factory=list)

    def refuse(self, problem: str, name: str = "") -> NoReturn:
        names = "names" if self.allowed is None else f"the names {_listed(self.allowed)}"
        calls = "".join(f", {f}()" for f in FUNCTIONS)
        raise InputError(
            f"{self.where}: {quoted(self.text)} {problem}; allowed: numbers, "
            f"{names}, + - * /, parentheses{calls}{meant(name, self.allowed or ())}"
        )

    def tokenize(self) -> None:
        for match in _TOKEN.finditer(self.text.rstrip()):
            kind, token = str(match.lastgroup), match[str(match.lastgroup)]
            if kind == "bad":
                self.refuse(f"contains {quoted(token)}")
            if kind == "number" and len(token) > MAX_DIGITS:
                self.refuse(f"contains a number of {len(token)} characters, more than {MAX_DIGITS}")
            self.tokens.append((kind, token))

    @property
    def current(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.position][1] if self.position < len(self.tokens) else ""

    def take(self, *signs: str) -> str:
        """Consume the next token if it is one of ``signs``; empty if it is not."""
        token = self.current
        if token not in signs:
            return ""
        self.position += 1
        return token

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            self.refuse(f"misses {quoted(sign)} {self.place()}")

    def place(self) -> str:
        return f"before {quoted(self.current)}" if self.current else "at its end"

    def sum(self, depth: int) -> _Ratio:
        if depth > MAX_DEPTH:
            self.refuse(f"is nested more than {MAX_DEPTH} levels deep")
        first = self.product(depth)
        if self.current not in ("+", "-"):
            return first
        # Collected and added at once: adding one by one would be quadratic in the length.
        terms = [first.value]
        while sign := self.take("+", "-"):
            term = self.product(depth).value
            terms.append(multiply(-1, term) if sign == "-" else term)
        return _Ratio(add(*terms))

    def product(self, depth: int) -> _Ratio:
        result = self.factor(depth)
        if self.current not in ("*", "/"):
            return result
        factors = [result.value]
        under: Expression = ONE
        while sign := self.take("*", "/"):
            factor = self.factor(depth).value
            if under is not ONE:
                factors.append(power(under, -1))
                under = ONE
            if sign == "*":
                factors.append(factor)
                continue
            if factor == Constant(Fraction(0)):
                self.refuse("divides by zero")
            under = factor
            self.divisors.append(factor)
        return _Ratio(multiply(*factors), under)

    def factor(self, depth: int) -> _Ratio:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        kind, token = self.tokens[self.position] if self.position < len(self.tokens) else ("", "")
        self.position += 1
        if kind == "number":
            result = _Ratio(Constant(Fraction(token)))
        elif kind == "name":
            result = self.call(token, depth) if self.take("(") else _Ratio(self.symbol(token))
        elif token == "(":
            result = self.sum(depth + 1)
            self.expect(")")
        else:
            self.position -= 1
            self.refuse(f"misses a number or name {self.place()}")
        return _Ratio(multiply(-1, result.over), result.under) if negative else result

    def symbol(self, name: str) -> Symbol:
        if name in self.allowed if self.allowed is not None else name.lower() not in _NOT_NUMBERS:
            return Symbol(name)
        return self.refuse(f"uses the unknown name {quoted(name)}", name)

    def call(self, function: str, depth: int) -> _Ratio:
        if function not in FUNCTIONS:
            offered = ", which is not offered here, only in some objectives"
            self.refuse(f"calls {quoted(function)}{offered if function == 'norm' else ''}")
        arguments = [self.sum(depth + 1)]
        while self.take(","):
            arguments.append(self.sum(depth + 1))
        self.expect(")")
        if function != "ceil":
            return _Ratio(
                (maximum if function == "max" else minimum)(*(a.value for a in arguments))
            )
        if len(arguments) > 1:
            self.refuse(f"gives ceil {len(arguments)} arguments instead of one")
        over, under = arguments[0].over, arguments[0].under
        if (
            isinstance(under, Constant) and under.value < 0
        ):  # number systems want a positive divisor
            over, under = multiply(-1, over), multiply(-1, under)
        return _Ratio(ceiling_division(over, under))
