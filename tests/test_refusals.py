"""Commands that are refused in one line, before anything is written: all that need no file of
their own (`tests/data/refused/commands.yaml`)."""

import shlex

import pytest

from tests.command_line import refused
from tests.refusals import refusals, says

TABLES = ("solve and others", "studies", "seed", "options", "the name that was meant")
ELEVEN = ",".join(map(str, range(1, 12)))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        *(row for table in TABLES for row in refusals("commands", table)),
        (f"solve mm -s i={'9' * 4000}", "allowed: an integer from 1 to 1048576"),
        (f"whatif mm --vary i={ELEVEN} --vary j={ELEVEN} --vary k={ELEVEN}", "1331 points"),
    ],
)
def test_bad_input_ends_in_one_line_and_status_2(words, line, tmp_path):
    says(refused(*shlex.split(words), cwd=tmp_path), line)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "name", "content"),
    [
        *refusals("commands", "files"),
        ("export r.json --to autosa -o out", "r.json", "[" * 100_000),
    ],
)
def test_bad_files_are_refused_by_name(words, name, content, tmp_path):
    (tmp_path / name).write_text(content)
    assert name in refused(*shlex.split(words), cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
