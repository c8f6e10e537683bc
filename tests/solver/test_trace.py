"""Traces: the course of a search, bounded in length, and read back from files."""

import json
import time
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.writing import document_text
from ithaca.results.files import result_document
from ithaca.solver.certificate import TracePoint
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_design, solve_designs
from ithaca.solver.progress import Progress
from ithaca.solver.result import Result
from ithaca.solver.trace import LONGEST, TraceRecorder
from tests.problems import mm_problem


def told(recorder, value, bound, nodes):
    recorder(
        Progress(
            None if value is None else Fraction(value),
            None if bound is None else Fraction(bound),
            nodes,
            0.0,
        )
    )


def test_only_changes_are_kept():
    recorder = TraceRecorder()
    for value, bound, nodes in ((None, 3, 1), (None, 3, 2), (10, 3, 3), (10, 3, 4), (8, 5, 5)):
        told(recorder, value, bound, nodes)
    trace = recorder.trace(Fraction(8), Fraction(8), 9)
    assert [(p.value, p.lower_bound, p.nodes) for p in trace] == [
        (None, 3, 1),
        (10, 3, 3),
        (8, 5, 5),
        (8, 8, 9),
    ]


def test_what_is_known_is_not_forgotten_and_nothing_is_beyond_the_outcome():
    recorder = TraceRecorder()
    # the second engine starts with less than the first knew, and shows a rounded incumbent below
    # the exact one
    for value, bound, nodes in ((10, 6, 5), (12, 2, 1), (7, 7, 2)):
        told(recorder, value, bound, nodes)
    trace = recorder.trace(Fraction(15, 2), Fraction(13, 2), 8)
    assert [(p.value, p.lower_bound) for p in trace] == [
        (10, 6),
        (Fraction(15, 2), Fraction(13, 2)),
        (Fraction(15, 2), Fraction(13, 2)),
    ]


def test_length_is_bounded_and_incumbents_come_first():
    recorder = TraceRecorder()
    for step in range(100_000):
        told(recorder, 10**9 - step // 5_000, step, step)
    trace = recorder.trace(Fraction(10**9 - 19), Fraction(99_999), 100_000)
    assert len(trace) <= LONGEST
    assert len({point.value for point in trace}) == 20
    gaps = [
        b.lower_bound - a.lower_bound
        for a, b in pairwise(trace)
        if a.lower_bound is not None and b.lower_bound is not None
    ]
    assert max(gaps) < 10_000  # spread over the whole search


def test_nothing_known_leaves_no_trace():
    assert TraceRecorder().trace(None, None, 0) == ()


@pytest.mark.parametrize("method", [Method.AUTO, Method.EXACT, "cpsat"])
def test_solved_designs_hold_their_course(method):
    reports = []
    solution = solve_design(
        mm_problem((120, 108, 160)), SolveOptions(), reports.append, method=method
    )
    trace = solution.certificate.trace
    assert reports
    assert (trace[-1].value, trace[-1].lower_bound) == (
        solution.value,
        solution.certificate.lower_bound,
    )
    assert trace[-1].nodes == solution.certificate.nodes
    for before, after in pairwise(trace):
        assert before.seconds <= after.seconds
        assert before.nodes <= after.nodes
        if before.value is not None:
            assert after.value <= before.value
        if before.lower_bound is not None:
            assert after.lower_bound >= before.lower_bound


@cache
def result_text():
    designs = solve_designs([mm_problem((120, 108, 160))], method=Method.EXACT)
    return document_text(result_document(Result("none", designs[0], designs)))


def document():
    return json.loads(result_text())


def test_files_hold_traces_and_older_files_load(tmp_path):
    written, path = document(), tmp_path / "r.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    loaded = ithaca.load(path)
    assert len(loaded.best.certificate.trace) == len(
        written["best"]["certificate"]["trace"]["seconds"]
    )
    assert loaded.best.certificate.trace[-1].value == loaded.best.value
    for solution in (written["best"], *written["designs"]):
        del solution["certificate"]["trace"]
    path.write_text(json.dumps(written), encoding="utf-8")
    assert ithaca.load(path).designs[0].certificate.trace == ()


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda trace: trace["nodes"].pop(), ["trace.nodes", "entries"]),
        (lambda trace: trace["seconds"].reverse(), ["trace.seconds", "order"]),
        (lambda trace: trace["incumbent"].__setitem__(-1, None), ["trace.incumbent", "order"]),
        (
            lambda trace: trace["incumbent"].__setitem__(-1, 1),
            ["trace.incumbent", "ends with 1; allowed: "],
        ),
        (lambda trace: trace["lower_bound"].__setitem__(-1, 10**12), ["trace.lower_bound", "ends"]),
        (lambda trace: trace.pop("nodes"), ["trace.nodes", "missing"]),
        (lambda trace: trace.update(seconds=[0.0] * 2000), ["trace.seconds"]),
    ],
)
def test_edited_traces_are_refused(tmp_path, edit, words):
    written, path = document(), tmp_path / "r.json"
    edit(written["best"]["certificate"]["trace"])
    path.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        ithaca.load(path)
    assert all(word in str(refused.value) for word in words), refused.value


def test_a_search_that_goes_on_is_never_before_what_it_knows():
    recorder = TraceRecorder(time.perf_counter(), [TracePoint(5.0, 3, Fraction(9), None)])
    told(recorder, 8, 1, 4)
    assert [point.seconds for point in recorder.trace(Fraction(8), Fraction(8), 5)] == [
        5.0,
        5.0,
        5.0,
    ]
