"""A family that only tests know is printed, explained, drawn, verified, refined and listed."""

import json

import pytest

from ithaca.commands.api.solving import solve
from ithaca.commands.conclusion import OutputOptions, conclude
from ithaca.commands.display import show
from ithaca.files.numbers import number
from ithaca.files.writing import SCHEMA
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.result import Result
from ithaca.solver.solution import best_solution
from ithaca.studies.front import pareto_front
from tests.command_line import ithaca
from tests.families.enumerated import every_point
from tests.families.fir import fir_problem
from tests.installed import needs

PROBLEMS = [
    fir_problem(12, 100, transposed=transposed, dsp=9, noise=4) for transposed in (False, True)
]
VALUES = [
    min(m["latency"] for _, m in every_point(problem) if m["dsp"] <= 9 and m["noise"] <= 4)
    for problem in PROBLEMS
]
LEAST = min(VALUES)


@pytest.fixture(scope="module")
def result():
    solutions = solve_designs(PROBLEMS)
    return Result("board", best_solution(solutions), tuple(solutions))


@pytest.fixture
def folder(result, tmp_path):
    result.save(tmp_path / "fir.json")
    return tmp_path


def test_an_answer_is_printed(result, capsys):
    conclude(result, OutputOptions())
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0] == "filter 12 taps, 100 samples, design transposed, on board, minimising latency"
    )
    assert lines[2].startswith(f"objective  {LEAST}  (optimal: no configuration")
    assert "noise      4 of 4 steps (100.0 %)" in lines
    conclude(result, OutputOptions(as_json=True))
    document = json.loads(capsys.readouterr().out)
    assert (document["family"], document["best"]["metrics"]["latency"]) == ("fir", LEAST)


def test_a_front_is_printed(capsys):
    free = [fir_problem(12, 100, transposed=transposed) for transposed in (False, True)]
    fixed = {"workload": "filters", "sizes": "", "platform": "board", "edition": "plain"}
    front = pareto_front(free, ["latency", "dsp"], provenance=fixed)
    show(*front.view)
    lines = capsys.readouterr().out.splitlines()
    found = {(m["latency"], m["dsp"]) for problem in free for _, m in every_point(problem)}
    best = [v for v in found if not any(w[0] <= v[0] and w[1] <= v[1] and w != v for w in found)]
    assert lines[0] == "filters, board, plain model edition"
    assert lines[1].startswith(f"complete: {len(best)} points")
    rows = [[cell.strip() for cell in line.split("│")[2:4]] for line in lines if "│" in line]
    assert rows == [[number(latency), number(dsp)] for latency, dsp in sorted(best)]


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("verify fir.json", f"transposed optimal: value {VALUES[1]} re-evaluated, confirmed"),
        ("explain fir.json --quick", f"Design: transposed; latency is {LEAST} (proven optimal"),
        ("grid fir.json", f"best   latency {LEAST} (the result's) at blocks="),
        ("refine fir.json --samples 50", f"objective  {LEAST}  (optimal"),
    ],
)
def test_a_file_is_asked_further(folder, command, line):
    done = ithaca(*command.split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert any(printed.startswith(line) for printed in done.stdout.splitlines()), done.stdout


SIZES = ("-s", "taps=12,samples=100")


def test_a_question_is_posed(tmp_path):
    done = ithaca("solve", "filter", *SIZES, "--limit", "dsp=9,noise=4", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["family"], document["objective"]["value"]) == ("fir", LEAST)
    answer = solve("filter", taps=12, samples=100, limit={"dsp": 9, "noise": 4})
    assert answer.value == LEAST
    assert {solution.design for solution in answer.designs} == {"direct", "transposed"}


def test_studies_are_posed_and_verified(tmp_path):
    free = [fir_problem(12, 100, transposed=transposed) for transposed in (False, True)]
    found = [m for problem in free for _, m in every_point(problem)]
    for dsp, line in (
        (5, f"dsp_limit 5 optimal: value {min(m['latency'] for m in found if m['dsp'] <= 5)};"),
        (9, f"dsp_limit 9 optimal: value {min(m['latency'] for m in found if m['dsp'] <= 9)};"),
    ):
        words = ("whatif", "filter", *SIZES, "--vary", f"dsp={dsp}", "-o", "study.json")
        assert ithaca(*words, cwd=tmp_path).returncode == 0
        assert ithaca("verify", "study.json", cwd=tmp_path).stdout.startswith(line)
    words = ("pareto", "filter", *SIZES, "--objectives", "latency,dsp", "-o", "front.json")
    assert "complete: 6 points" in ithaca(*words, cwd=tmp_path).stdout
    done = ithaca("verify", "front.json", cwd=tmp_path)
    assert done.stdout.startswith("front      6 points, nothing else; proven again")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--dataflow", "i,j"),
            "--dataflow does not go with filter; allowed: without it, as it speaks of systolic "
            "arrays",
        ),
        pytest.param(
            ("--bypass", "free"),
            "--bypass goes with --arch only; allowed: with it",
            marks=needs("hierarchies"),
        ),
        pytest.param(
            ("--arch", "simple"),
            "--arch does not go with filter; allowed: without it, as it",
            marks=needs("hierarchies"),
        ),
        (("--limit", "area=3"), "--limit: 'area' uses the unknown name 'area'; allowed: numbers"),
        (("--objective", "area"), "--objective: 'area' uses the unknown name 'area'; allowed:"),
    ],
)
def test_options_of_other_families_are_refused(words, line, tmp_path):
    done = ithaca("solve", "filter", *SIZES, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ithaca: {line}")


def test_an_explanation_is_a_document(folder):
    done = ithaca("explain", "fir.json", "--quick", "--json", cwd=folder)
    document = json.loads(done.stdout)
    assert (document["schema"], document["taps"]) == (SCHEMA, 12)
    assert document["certificate"]["lower_bound"] == LEAST


def test_a_page_is_drawn(folder):
    assert ithaca("report", "fir.json", "-o", "fir.html", "--quick", cwd=folder).returncode == 0
    page = (folder / "fir.html").read_text()
    assert f"latency is {LEAST}" in page
    assert "filter" in page


def test_its_documents_are_listed(folder):
    done = ithaca("list", "schema", "filter", cwd=folder)
    assert {"taps", "samples", "best"} <= json.loads(done.stdout)["properties"].keys()


@pytest.mark.parametrize("tool", ["autosa", pytest.param("timeloop", marks=needs("hierarchies"))])
def test_a_tool_of_another_family_refuses_it(folder, tool):
    done = ithaca("export", "fir.json", "--to", tool, "-o", "folder", cwd=folder)
    assert done.returncode == 2
    assert "family fir" in done.stderr
