"""Outputs that have few characters: nothing that is printed ends a command."""

import io

import pytest

from ithaca.cli import PLAIN, degrade
from tests.command_line import begin

SIGNS = "3×4·5 ≤ 6 µJ – é ² ∞ ⌈x⌉ → 😀 \udcff"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("ascii", "3x4*5 <= 6 uJ - e 2 inf ceil(x) -> ? ?"),
        ("latin-1", "3×4·5 <= 6 µJ - é ² inf ceil(x) -> ? ?"),
        ("utf-8", "3×4·5 ≤ 6 µJ – é ² ∞ ⌈x⌉ → 😀 ?"),
    ],
)
def test_signs_are_written_as_an_encoding_can(encoding, text):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding)
    degrade(stream)
    assert stream.errors == PLAIN
    stream.write(SIGNS)
    stream.flush()
    assert raw.getvalue().decode(encoding) == text


@pytest.mark.parametrize(
    "words",
    [
        ["list", "networks"],
        ["map", "mm", "-s", "i=4,j=4,k=4", "--arch", "simple", "--divisors-only", "--loops"],
        ["solve", "mm", "-s", "i=4,j=4,k=4", "--platform", "é×≤"],
    ],
)
def test_commands_print_on_an_ascii_terminal(words, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    with begin(*words) as process:
        output, errors = process.communicate()
    assert process.returncode == (2 if "solve" in words else 0)
    assert (output + errors).isascii()
    assert "Traceback" not in errors
