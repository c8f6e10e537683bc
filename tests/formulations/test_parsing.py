"""The expression parser: what it understands, and that nothing else gets through."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Symbol,
    ceiling_division,
    maximum,
    minimum,
)
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import MAX_DEPTH, parse_expression, quoted

a, b, c = (Symbol(name) for name in "abc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", Constant(Fraction(7))),
        ("2*DRAM.w.reads/3.5", Symbol("DRAM.w.reads") * Fraction(4, 7)),
        ("0.1", Constant(Fraction(1, 10))),
        (".5", Constant(Fraction(1, 2))),
        ("1e-3*a", a / 1000),
        ("a + 2*b - c/3", a + 2 * b - c / 3),
        ("a - (b - c)", a - (b - c)),
        ("a - b - c", a - b - c),
        ("a/b/c", a / b / c),
        ("a/b*c", a / b * c),
        ("-a*-b", a * b),
        ("--+a", a),
        ("((i_t1/i_t2)*i_t2)", Symbol("i_t1")),
        ("ceil(a/b)", ceiling_division(a, b)),
        ("ceil((a/b))", ceiling_division(a, b)),
        ("ceil(-a/-2)", ceiling_division(a, 2)),
        ("ceil(7/2)", Constant(Fraction(4))),
        ("max(min(a,4),b)", maximum(minimum(a, 4), b)),
        (" a\n+\tb ", a + b),
    ],
)
def test_understood(text, expected):
    assert parse_expression(text, where="test", allowed=None) == expected


def test_ceiling_of_anything_else_divides_by_one():
    assert parse_expression("ceil(a+b/c)", where="test", allowed=None) == CeilingDivision(
        a + b / c, Constant(Fraction(1))
    )


HOSTILE = {
    "empty": "",
    "blank": "  \n",
    "unfinished": "a +",
    "unbalanced": "(a",
    "closed twice": "a)",
    "two values": "a b",
    "comma": "a, b",
    "power": "9**9**9",
    "floor": "a // b",
    "modulo": "a % b",
    "comparison": "a < b",
    "text": "'a'",
    "attribute": "a.__class__",
    "subscript": "a[0]",
    "import": "__import__('os').system('true')",
    "unknown function": "floor(a)",
    "call of a name": "a(1)",
    "function as a name": "max + 1",
    "no arguments": "max()",
    "trailing comma": "max(a,)",
    "two ceilings": "ceil(a, b)",
    "keyword": "max(a, key=b)",
    "starred": "max(*a)",
    "lambda": "lambda: a",
    "comprehension": "[a for b in c]",
    "conditional": "a if b else c",
    "walrus": "(a := 1)",
    "statement": "import os",
    "two statements": "a; b",
    "comment": "a # b",
    "null byte": "a\0b",
    "escape sequence": "a\x1b[2J",
    "surrogate": "a + \ud800",
    "nan": "nan",
    "infinity": "-inf",
    "overflowing exponent": "1e999",
    "hexadecimal": "0x10",
    "underscores": "1_000",
    "imaginary": "1j",
    "foreign digits": "٣ + a",
    "thousands of digits": "9" * 5_000,
    "constant out of range": "*".join(["1e99"] * 9),
    "division by zero": "a / 0",
    "division by a difference": "a / (b - b)",
    "ceiling of a division by zero": "ceil(a/0.0)",
    "long": "a+" * 6_000 + "a",
    "deep parentheses": "(" * 4_000 + "a" + ")" * 4_000,
    "deep calls": "max(" * 2_000 + "a" + ")" * 2_000,
    "slightly too deep": "(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1),
    "unknown name": "a + z",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_refused(text):
    with pytest.raises(InputError) as refusal:
        parse_expression(text, where="--objective", allowed={"a", "b", "c"})
    message = str(refusal.value)
    assert message.startswith("--objective: ")
    assert "allowed: " in message
    assert message.isprintable()
    assert len(message) < 300


@pytest.mark.parametrize("text", ["nan", "inf", "Infinity"])
def test_refused_even_where_all_names_are_allowed(text):
    with pytest.raises(InputError, match="unknown name"):
        parse_expression(text, where="test", allowed=None)


def test_unknown_name_lists_the_allowed_ones():
    with pytest.raises(
        InputError, match=r"unknown name 'latncy'; allowed: numbers, the names dsp, latency, \+"
    ):
        parse_expression("latncy * dsp", where="--objective", allowed=["latency", "dsp"])


def test_deep_but_honest():
    text = "(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH
    assert parse_expression(text, where="test", allowed=["a"]) == a


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\nb\x1b", r"'a\nb\x1b'"),
        ("x" * 100, "'" + "x" * 59 + "…'"),
        (None, "null"),
        (True, "true"),
        (12, "12"),
        (10**4000, "a very large number"),
        (0.5, "0.5"),
        ([1], "a list"),
        ({}, "an object"),
        (b"x", "a bytes"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_quoted(value, shown):
    assert quoted(value) == shown


@given(st.text(alphabet="ab19.()+-*/, \nceilmaxn", max_size=60) | st.text(max_size=20))
def test_any_text_is_parsed_or_refused(text):
    try:
        expression = parse_expression(text, where="test", allowed=["a", "b"])
    except InputError as refusal:
        assert str(refusal).isprintable()  # noqa: PT017
    else:
        assert expression.symbols <= {"a", "b"}


def _texts(depth=3):
    """Arithmetic that Python reads the same way, without division."""
    leaf = st.sampled_from(["a", "b", "2", "0.25"])
    if not depth:
        return leaf
    inner = _texts(depth - 1)
    return (
        leaf
        | st.builds("({}{}{})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("-{}".format, inner)
    )


@given(_texts(), st.integers(1, 50), st.integers(1, 50))
def test_agrees_with_python(text, x, y):
    ours = parse_expression(text, where="test", allowed=None).evaluate(
        {"a": Fraction(x), "b": Fraction(y)}, FRACTION
    )
    assert ours == eval(text, {"a": x, "b": y})  # binary fractions only, so floats are exact
