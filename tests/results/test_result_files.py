"""Result files: written, read back equal, and refused where they are not what was written."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

import ithaca
from ithaca.commands.systolic.points import load_any_points
from ithaca.files.errors import InputError
from ithaca.files.reading import ANSWER_BYTES
from ithaca.files.writing import document_text
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import METRICS, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.results.files import result_document
from ithaca.solver.certificate import Termination, relative_gap
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.result import Result
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import make_solution
from ithaca.workloads.library import workload
from tests.command_line import refused
from tests.formulations.test_points import PARTS
from tests.refusals import edited, refusals, says

LIMITS = (Limit("dsp", Fraction("8601.6")), Limit("bram18k", Fraction("3763.2")))
NEST = workload("mm", {"i": 1024, "j": 1024, "k": 1024})
FP32 = DATA_TYPES["fp32"]


def problem(
    dataflow=("i", "j"),
    edition=Edition.EXACT,
    objective="latency",
    options=None,
):
    """Matrix multiplication, 1024³, on a U250."""
    return Problem(
        SystolicDesign(NEST, derive(NEST, dataflow, "C", edition), FP32, options or SpaceOptions()),
        LIMITS,
        parse_objective(objective),
    )


def solution(solved, tiling, bound=None):
    """A solution that claims to be optimal, or to have a bound."""
    configuration = systolic(solved).configuration(tiling)
    value = solved.value(configuration)
    certificate = conclude(
        value, value if bound is None else bound, method="exact", nodes=12, seconds=0.25
    )
    return make_solution(solved, configuration, certificate)


def make_result(objective="latency", options=None):
    """One design of every status."""
    shared = {
        "array_part": {"i": 205, "j": 172, "k": 64},
        "latency_hiding": {"i": 41, "j": 4},
        "simd": 8,
    }
    if options is not None and options.divisors_only:
        shared = {
            "array_part": {"i": 64, "j": 64, "k": 64},
            "latency_hiding": {"i": 16, "j": 4},
            "simd": 8,
        }
    ask = partial(problem, objective=objective, options=options)
    best = solution(ask(), Tiling(**shared, pack={"A": 16, "B": 16, "C_drain": 4}))
    tiling = Tiling(
        {"i": 64, "j": 32, "k": 8}, {"i": 2, "j": 32}, 8, {"A": 8, "B": 8, "C_drain": 2}
    )
    found = solution(ask(("i",)), tiling, Fraction(1, 3))
    shortfall = Shortfall("dsp", Fraction("8601.6"), Fraction(17, 2), True, False, "[j] C")
    none = make_solution(
        ask(("j",)),
        None,
        conclude(None, None, complete=True, method="exact", nodes=1),
        (shortfall,),
    )
    ended = conclude(
        None, Fraction(7, 2), SolveOptions(time_limit=1.5), method="exact", seconds=1.5
    )
    unknown = make_solution(ask(("k",)), None, ended)
    return Result("u250", best, (found, best, none, unknown))


def write(path, document):
    """Write a document, valid or not."""
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def refusal(path):
    """The error line of a file, without its path."""
    with pytest.raises(InputError) as caught:
        ithaca.load(path)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) <= 700
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("objective", ["latency", "latency / 7 + 10*dsp"])
@pytest.mark.parametrize(
    "options", [SpaceOptions(), SpaceOptions(2, True), SpaceOptions(dividing_packs=True)]
)
def test_round_trip(tmp_path, objective, options):
    result = make_result(objective, options)
    loaded = ithaca.load(write(tmp_path / "result.json", result_document(result)))
    assert (loaded.platform_name, loaded.limits, loaded.objective) == (
        "u250",
        LIMITS,
        parse_objective(objective),
    )
    assert len(loaded.designs) == 4
    for read, written in zip(
        (loaded.best, *loaded.designs), (result.best, *result.designs), strict=True
    ):
        assert_same(read, written)
    assert loaded.designs[3].certificate.termination is Termination.TIME_LIMIT
    assert loaded.solutions == (loaded.designs[1], loaded.designs[0], *loaded.designs[2:])


def assert_same(loaded, written):
    """A solution that was written and read back is the same, but for bounds and gaps that no
    decimal states."""
    bound = loaded.certificate.lower_bound
    assert bound is None or float(bound) == float(written.certificate.lower_bound or 0)
    assert replace(loaded, certificate=written.certificate) == written
    assert (
        replace(loaded.certificate, lower_bound=written.certificate.lower_bound)
        == written.certificate
    )
    assert (loaded.metrics, loaded.detail, loaded.tiling) == (
        written.metrics,
        written.detail,
        written.tiling,
    )


@pytest.mark.parametrize("name", ["mm", "conv2d"])
@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
def test_solved_results_round_trip(tmp_path, name, edition):
    nest = workload(name, dict.fromkeys(workload(name).loops, 4))
    array = derive(nest, nest.output.subscripts[0].loops, nest.output.tensor, edition)
    found = solve_exact(
        Problem(
            SystolicDesign(nest, array, DATA_TYPES["int16"]), LIMITS, parse_objective("latency")
        )
    )
    result = Result("mine", found, (found,))
    assert ithaca.load(write(tmp_path / "result.json", result_document(result))) == result


def test_document_follows_the_design():
    document = result_document(make_result())
    assert list(document) == [
        "schema",
        "workload",
        "platform",
        "edition",
        "objective",
        "best",
        "designs",
    ]
    assert document["schema"] == "ithaca/2"
    assert document["workload"] == {
        "name": "mm",
        "sizes": {"i": 1024, "j": 1024, "k": 1024},
        "dtype": "fp32",
    }
    assert document["platform"] == {"name": "u250", "limits": {"dsp": 8601.6, "bram18k": 3763.2}}
    assert document["objective"] == {"expression": "latency", "value": 639_876}
    best = document["best"]
    assert list(best) == [
        "dataflow",
        "permutation",
        "buildable",
        "tiling",
        "metrics",
        "certificate",
    ]
    assert best["tiling"]["pack"] == {"A_IO_L2_in": 16, "B_IO_L2_in": 16, "C_drain_IO_L1_out": 4}
    assert set(best["metrics"]) == {*METRICS, *PARTS} - {
        "area",
        "lut",
        "lutram",
        "uram",
        "ff",
    }
    assert best["metrics"]["throughput"] == pytest.approx(2 * 1024**3 * 0.3 / 639_876)
    assert best["certificate"]["lower_bound"] == best["metrics"]["latency"]
    infeasible, unknown = document["designs"][2:]
    assert (infeasible["tiling"], infeasible["metrics"]) == (None, None)
    assert infeasible["shortfalls"] == [
        {"metric": "dsp", "bound": 8601.6, "smallest": 8.5, "others_kept": True, "proven": False}
    ]
    assert "shortfalls" not in unknown
    assert result_document(make_result(options=SpaceOptions(min_lanes=2)))["space"] == {
        "min_lanes": 2
    }


def test_nothing_found(tmp_path):
    result = Result("u250", None, make_result().designs[2:])
    document = result_document(result)
    assert document["best"] is None
    assert document["objective"]["value"] is None
    path = write(tmp_path / "result.json", document)
    loaded = ithaca.load(path)
    assert loaded.best is None
    assert loaded.solutions == loaded.designs
    with pytest.raises(
        InputError, match="best and designs have no tiling; allowed: at least one point"
    ):
        load_any_points(path, NEST, FP32)


def test_an_infinite_gap_is_null():
    assert relative_gap(Fraction(0), Fraction(-1)) is None


def test_points_of_results_and_tables(tmp_path):
    path = write(tmp_path / "result.json", result_document(make_result()))
    first, second = load_any_points(path, workload("mm"), FP32)
    assert first[0].array.dataflow == ("i", "j")
    assert second[0].array.dataflow == ("i",)
    assert first[0].nest == NEST
    with pytest.raises(InputError, match=r"workload.name is 'mm'; allowed: conv2d"):
        load_any_points(path, workload("conv2d"), FP32)
    with pytest.raises(InputError, match=r"workload.dtype is 'fp32'; allowed: int8"):
        load_any_points(path, NEST, DATA_TYPES["int8"])
    with pytest.raises(InputError, match=r"points.csv: no such file"):
        load_any_points(tmp_path / "points.csv", NEST, FP32)


DOCUMENT = result_document(make_result())


#: The best's design as if nothing had been found for it.
UNSOLVED = DOCUMENT["designs"][1] | {
    key: DOCUMENT["designs"][3][key] for key in ("tiling", "metrics", "certificate")
}


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        *refusals("results", "edits"),
        ("objective.expression", "*".join(["latency"] * 60), "is too large at best"),
        ("best", DOCUMENT["designs"][2], "best.dataflow: recorded 1 item, of the model 2"),
        ("designs.0", DOCUMENT["designs"][1], "designs[1] is [i,j] C, like designs[0]"),
        ("designs.1", UNSOLVED, "objective.value: recorded 639876 is not the model's"),
    ],
)
def test_edited_results_are_refused(tmp_path, place, value, line):
    says(refusal(write(tmp_path / "result.json", edited(DOCUMENT, place, value))), line)


def test_the_accumulator_condition_is_checked(tmp_path):
    solved = problem()
    tiling = Tiling({"i": 4, "j": 4, "k": 8}, {"i": 1, "j": 1}, 8, {"A": 8, "B": 8, "C_drain": 1})
    best = solution(solved, tiling)
    message = refusal(
        write(tmp_path / "result.json", result_document(Result("u250", best, (best,))))
    )
    assert message == "best.tiling: Π latency_hiding is too small; allowed: at least 8 · simd"


TEXT = document_text(DOCUMENT)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        *refusals("results", "texts"),
        ("8601.6", "9" * 10_000, "is too long … at most 300 digits"),
        ("8601.6", "[" * 900 + "]" * 900, "allowed:"),
        (TEXT, "", "not JSON at line 1, column 1 … a complete JSON document"),
        (TEXT[len(TEXT) // 2 :], "", "not JSON at line … a complete JSON document"),
        (TEXT, "[" * 500_000, "nested too deeply; allowed: at most 100 levels"),
        (
            TEXT,
            '{"schema": "ithaca/2", "title": ' + "[" * 200 + "]" * 200 + "}",
            "nested too deeply",
        ),
        (TEXT, '{"schema":' * 500_000, "nested too deeply; allowed: at most 100 levels"),
    ],
    ids=itertools.count(),
)
def test_bad_texts(tmp_path, old, new, line):
    path = tmp_path / "result.json"
    path.write_text(TEXT.replace(old, new, 1) if old else new)
    says(refusal(path), line)


def test_texts_are_utf_8(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(TEXT, encoding="utf-16")
    says(refusal(path), "byte 0 is 0xff … UTF-8")


def test_files_that_cannot_be_read(tmp_path):
    assert "no such file" in refusal(tmp_path / "missing.json")
    assert "is a directory" in refusal(tmp_path)
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(ANSWER_BYTES + 1)  # sparse: takes no room on disk
    assert "too large; allowed: at most 33554432 bytes" in refusal(large)


def test_a_network_of_a_family_that_writes_none_is_refused(tmp_path):
    path = tmp_path / "network.json"
    path.write_text('{"schema": "ithaca/2", "study": "network", "family": "recurrence"}')
    assert "is missing; allowed: schema, family" in refused("verify", path)
