"""Lowered forms that are kept: the same bounds as made anew, and nothing that somebody else wrote."""

import os
import random

import pytest

from ithaca.files import caches
from ithaca.formulations.algebra.expression import (
    ONE,
    Constant,
    Symbol,
    ceiling_division,
    maximum,
    minimum,
)
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.tables import frame, kept
from ithaca.solver.tables.kept import Encoder, decoded
from tests.problems import mm_problem

PROBLEMS = [
    mm_problem((20, 24, 16), objective="latency*energy", dsp="200", bram18k="200"),
    mm_problem((12, 8, 30), objective="comm - comp", dsp="160"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of its own, which keeps even short programs."""
    monkeypatch.setenv(caches.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(kept, "LEAST_STEPS", 0)
    forget()
    yield tmp_path / "cache" / "bounds"
    forget()


def forget():
    """Begin as another process does."""
    frame._lowered.cache_clear()


def outcome(problem):
    """The answer and the search that gave it."""
    solution = solve_exact(problem)
    return solution.value, solution.configuration, solution.certificate.nodes


def no_lowering(*arguments, **named):
    raise AssertionError("lowered anew")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_kept_bounds_search_as_new_ones_do(problem, folder, monkeypatch):
    first = outcome(problem)
    assert len([*folder.iterdir()]) == 1
    forget()
    monkeypatch.setattr(frame, "lower", no_lowering)
    assert outcome(problem) == first


def test_other_sizes_of_the_same_form_are_served(folder, monkeypatch):
    outcome(mm_problem((20, 24, 16), objective="latency", dsp="200"))
    forget()
    monkeypatch.setattr(frame, "lower", no_lowering)
    other = mm_problem((40, 8, 16), objective="latency", dsp="200")
    value, *_ = outcome(other)
    monkeypatch.undo()
    assert value == solve_exact(other).value
    monkeypatch.setattr(frame, "lower", no_lowering)
    forget()
    with pytest.raises(AssertionError):
        outcome(mm_problem((20, 24, 16), objective="latency", dsp="199"))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-40],
        lambda content: content.replace(content[80:84], b"1234"),
        lambda content: b"0" * 64 + content[64:],
        lambda content: b"",
    ],
)
def test_what_is_not_as_it_was_written_is_made_anew(change, folder):
    first = outcome(PROBLEMS[0])
    (path,) = folder.iterdir()
    before = path.read_bytes()
    path.write_bytes(change(before))
    forget()
    assert outcome(PROBLEMS[0]) == first
    assert path.read_bytes() == before


def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder):
    first = outcome(PROBLEMS[0])
    (path,) = folder.iterdir()
    path.unlink()
    os.mkfifo(path)
    forget()
    assert outcome(PROBLEMS[0]) == first
    assert path.is_file()


def test_files_of_another_user_are_made_anew(folder, tmp_path, monkeypatch):
    outcome(PROBLEMS[0])
    (path,) = folder.iterdir()
    before = path.read_bytes()
    monkeypatch.setattr(caches, "_key", lambda: b"k" * 32)
    forget()
    outcome(PROBLEMS[0])
    assert path.read_bytes() != before


def test_nothing_is_kept_where_nothing_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "LEAST_STEPS", 0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    for named in ("", str(tmp_path / "file")):
        monkeypatch.setenv(caches.VARIABLE, named)
        forget()
        outcome(PROBLEMS[0])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_oldest_make_room(folder, monkeypatch):
    outcome(PROBLEMS[0])
    (first,) = folder.iterdir()
    monkeypatch.setattr(kept, "MOST_BYTES", first.stat().st_size + 1)
    outcome(PROBLEMS[1])
    assert first not in folder.iterdir()


@pytest.mark.parametrize("seed", range(30))
def test_expressions_are_read_as_they_were(seed):
    draw = random.Random(seed)
    nodes = [ONE, Constant(ONE.value * 3 / 7), *map(Symbol, "abc")]
    for _ in range(40):
        left, right = draw.choice(nodes), draw.choice(nodes)
        operation = draw.choice(
            [
                lambda x, y: x + y,
                lambda x, y: x * y - 2,
                lambda x, y: x / (y * y + 1),
                lambda x, y: ceiling_division(x, y * y + 1),
                maximum,
                minimum,
            ]
        )
        nodes.append(operation(left, right))
    encoder = Encoder()
    numbers = [encoder.number(node) for node in nodes]
    known = decoded(encoder.nodes)
    assert [known[number] for number in numbers] == nodes
    assert len({*map(str, encoder.nodes)}) == len(encoder.nodes)


def test_bounds_of_another_problem_are_not_read_in_their_place(folder):
    """A seal is that of contents in their place: files that change places are made anew."""
    first, second = map(outcome, PROBLEMS)
    one, two = folder.iterdir()
    held = one.read_bytes(), two.read_bytes()
    one.write_bytes(held[1])
    two.write_bytes(held[0])
    forget()
    assert [*map(outcome, PROBLEMS)] == [first, second]
    assert (one.read_bytes(), two.read_bytes()) == held
