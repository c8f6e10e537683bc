"""Results of a family that only tests know: written, read back and refused like any other's."""

import json
import sys

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.plugin import plugins
from ithaca.files.writing import document_text
from ithaca.results.files import result_document
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.result import Result
from ithaca.solver.solution import best_solution
from ithaca.solver.verification import verify
from tests.families.fir import fir_problem


def written(path):
    """Solve both designs of a filter and write the result."""
    solutions = [
        solve_exact(fir_problem(12, 100, "latency/7", dsp=9, transposed=t)) for t in (False, True)
    ]
    result = Result("board", best_solution(solutions), tuple(solutions))
    path.write_text(document_text(result_document(result)))
    return result


def test_a_toy_family_reads_back(tmp_path):
    path = tmp_path / "fir.json"
    result = written(path)
    assert ithaca.load(path) == result
    document = json.loads(path.read_text())
    assert list(document)[:4] == ["schema", "family", "taps", "samples"]
    assert list(document["best"]) == ["transposed", "tiling", "metrics", "certificate"]
    assert set(document["best"]["tiling"]) == {"blocks", "fold", "word", "burst"}


def test_what_a_toy_family_claims_is_proven_again(tmp_path):
    path = tmp_path / "fir.json"
    written(path)
    for solution in ithaca.load(path).designs:
        said, confirmed = verify(solution, SolveOptions(time_limit=20.0), "designs[0]")
        assert confirmed
        assert "confirmed by enumeration" in said


def test_a_family_that_is_not_known_is_refused(tmp_path, monkeypatch):
    written(tmp_path / "fir.json")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", sys.path[1:])
        plugins.cache_clear()
        with pytest.raises(InputError, match="family is 'fir'; allowed: systolic"):
            ithaca.load(tmp_path / "fir.json")
    plugins.cache_clear()
