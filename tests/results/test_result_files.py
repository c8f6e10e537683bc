"""Result files: written, read back equal, and refused where they are not what was written."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from ithaca.commands.families.systolic.points import load_any_points
from ithaca.files.errors import InputError
from ithaca.files.writing import document_text
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import METRICS, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.results.files import MAX_BYTES, load_result, result_document
from ithaca.solver.certificate import Termination, relative_gap
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.result import Result
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution, make_solution
from ithaca.workloads.library import workload
from tests.command_line import refused
from tests.formulations.test_points import PARTS

LIMITS = (Limit("dsp", Fraction("8601.6")), Limit("bram18k", Fraction("3763.2")))
NEST = workload("mm", {"i": 1024, "j": 1024, "k": 1024})
FP32 = DATA_TYPES["fp32"]


def problem(
    dataflow: tuple[str, ...] = ("i", "j"),
    edition: Edition = Edition.EXACT,
    objective: str = "latency",
    options: SpaceOptions | None = None,
) -> Problem:
    """Matrix multiplication, 1024³, on a U250."""
    return Problem(
        SystolicDesign(NEST, derive(NEST, dataflow, "C", edition), FP32, options or SpaceOptions()),
        LIMITS,
        parse_objective(objective),
    )


def solution(solved: Problem, tiling: Tiling, bound: Fraction | None = None) -> Solution:
    """A solution that claims to be optimal, or to have a bound."""
    configuration = systolic(solved).configuration(tiling)
    value = solved.value(configuration)
    certificate = conclude(
        value, value if bound is None else bound, method="exact", nodes=12, seconds=0.25
    )
    return make_solution(solved, configuration, certificate)


def make_result(objective: str = "latency", options: SpaceOptions | None = None) -> Result:
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


def write(path: Path, document: Any) -> Path:
    """Write a document, valid or not."""
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    """The error line of a file, without its path."""
    with pytest.raises(InputError) as caught:
        load_result(path)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) <= 700
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("objective", ["latency", "latency / 7 + 10*dsp"])
@pytest.mark.parametrize(
    "options", [SpaceOptions(), SpaceOptions(2, True), SpaceOptions(dividing_packs=True)]
)
def test_round_trip(tmp_path: Path, objective: str, options: SpaceOptions) -> None:
    result = make_result(objective, options)
    loaded = load_result(write(tmp_path / "result.json", result_document(result)))
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


def assert_same(loaded: Solution | None, written: Solution | None) -> None:
    """A solution that was written and read back is the same, but for bounds and gaps that no
    decimal states."""
    assert loaded is not None
    assert written is not None
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
def test_solved_results_round_trip(tmp_path: Path, name: str, edition: Edition) -> None:
    nest = workload(name, dict.fromkeys(workload(name).loops, 4))
    array = derive(nest, nest.output.subscripts[0].loops, nest.output.tensor, edition)
    found = solve_exact(
        Problem(
            SystolicDesign(nest, array, DATA_TYPES["int16"]), LIMITS, parse_objective("latency")
        )
    )
    result = Result("mine", found, (found,))
    assert load_result(write(tmp_path / "result.json", result_document(result))) == result


def test_document_follows_the_design() -> None:
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
    assert document["schema"] == "ithaca/1"
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


def test_nothing_found(tmp_path: Path) -> None:
    result = Result("u250", None, make_result().designs[2:])
    document = result_document(result)
    assert document["best"] is None
    assert document["objective"]["value"] is None
    path = write(tmp_path / "result.json", document)
    loaded = load_result(path)
    assert loaded.best is None
    assert loaded.solutions == loaded.designs
    with pytest.raises(
        InputError, match="best and designs have no tiling; allowed: at least one point"
    ):
        load_any_points(path, NEST, FP32)


def test_an_infinite_gap_is_null() -> None:
    assert relative_gap(Fraction(0), Fraction(-1)) is None


def test_points_of_results_and_tables(tmp_path: Path) -> None:
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


def put(*steps: str | int, value: Any) -> Callable[[Any], None]:
    """An edit that sets one field."""
    return lambda document: reduce(getitem, steps[:-1], document).__setitem__(steps[-1], value)


def drop(*steps: str | int) -> Callable[[Any], None]:
    """An edit that removes one field."""
    return lambda document: reduce(getitem, steps[:-1], document).__delitem__(steps[-1])


TILING = ("best", "tiling")
PART = (*TILING, "array_part")
METRIC = ("best", "metrics")
CERTIFICATE = ("best", "certificate")

#: The best's design as if nothing had been found for it.
UNSOLVED = DOCUMENT["designs"][1] | {
    key: DOCUMENT["designs"][3][key] for key in ("tiling", "metrics", "certificate")
}


def other_best(document: Any) -> None:
    """Name a worse configuration as the best."""
    document["best"] = document["designs"][0]
    document["objective"]["value"] = document["best"]["metrics"]["latency"]


def no_best(document: Any) -> None:
    """Name none as the best, although there is one."""
    document["best"] = document["objective"]["value"] = None


EDITS: list[tuple[Callable[[Any], None], list[str]]] = [
    (put("schema", value="ithaca/2"), ["schema is 'ithaca/2'", "allowed: 'ithaca/1'"]),
    (drop("schema"), ["schema is missing", "allowed: schema, family, workload"]),
    (
        put("more", value=1),
        ["more is unknown", "allowed: schema, family, workload, platform, edition"],
    ),
    (put("a\nb", value=1), ["'a\\nb' is unknown", "allowed: schema"]),
    (put("workload", value=[]), ["workload is a list", "a mapping"]),
    (
        put("workload", "name", value="nn"),
        [
            "workload: unknown workload 'nn'",
            "known: attention_scores, attention_values, batched_mm, conv2d",
        ],
    ),
    (
        put("workload", "dtype", value="fp64"),
        ["unknown data type 'fp64'", "fp32, fp16, bf16, int16, int8"],
    ),
    (
        put("workload", "sizes", "i", value=0),
        ["workload: size of loop 'i' is 0", "an integer from 1 to"],
    ),
    (
        put("workload", "sizes", "i", value=10**9),
        ["workload: size of loop 'i' is 1000000000", "an integer from 1 to"],
    ),
    (put("workload", "sizes", "i", value=1.5), ["workload.sizes.i is 1.5", "a valid integer"]),
    (put("workload", "sizes", "i", value=True), ["workload.sizes.i is true", "a valid integer"]),
    (
        put("workload", "sizes", "i", value="1024"),
        ["workload.sizes.i is '1024'", "a valid integer"],
    ),
    (put("workload", "sizes", "x", value=1), ["workload: unknown loop 'x'", "i, j, k"]),
    (drop("workload", "sizes", "k"), ["workload: sizes.k is missing", "i, j, k"]),
    (
        put("platform", "limits", "dsp", value=-1),
        ["platform.limits: limit dsp is -1", "not negative"],
    ),
    (
        put("platform", "limits", "2*dsp", value=17_000),
        ["best.metrics: '2*dsp' is 17200", "at most 17000"],
    ),
    (
        put("platform", "limits", "1/(dsp-8600)", value=1),
        ["platform.limits: '1/(dsp-8600)' divides by zero at best"],
    ),
    (put("platform", "limits", "dsp", value="1"), ["platform.limits.dsp is '1'", "a number"]),
    (put("platform", "limits", "dsp", value=None), ["platform.limits.dsp is null", "a number"]),
    (put("platform", "limits", "dsp", value=True), ["platform.limits.dsp is true", "a number"]),
    (put("platform", "limits", "slice", value=1), ["platform.limits: limit: 'slice'", "bram18k"]),
    (
        put("platform", "limits", "dsp", value=8000),
        ["best.metrics: 'dsp' is 8600", "at most 8000", "the limit"],
    ),
    (put("edition", value="both"), ["edition is 'both'", "'exact', 'odyssey' or 'cycle'"]),
    (
        put("edition", value="odyssey"),
        ["tiling is not in the design space", "allowed: pack.C_drain"],
    ),
    (
        put("objective", "expression", value="speed"),
        ["objective.expression: 'speed'", "the names area, bandwidth, bram18k"],
    ),
    (
        put("objective", "expression", value="__import__('os')"),
        ["objective.expression", "allowed: numbers"],
    ),
    (
        put("objective", "expression", value="1/(dsp-8600)"),
        ["objective.expression divides by zero at best"],
    ),
    (
        put("objective", "expression", value="*".join(["latency"] * 60)),
        ["objective.expression is too large at best"],
    ),
    (
        put("objective", "expression", value="dsp"),
        ["best.certificate.lower_bound is 639876", "at most the objective's 8600"],
    ),
    (
        put("objective", "value", value=5),
        ["objective.value: recorded 5 is not the model's 639876", "another version"],
    ),
    (
        put("objective", "value", value=None),
        ["objective.value: recorded null is not the model's 639876"],
    ),
    (put("best", value=None), ["best: recorded null is not the model's an object"]),
    (put("best", value=DOCUMENT["designs"][2]), ["best.dataflow: recorded 1 item, of the model 2"]),
    (put("designs", value=[]), ["designs is a list; allowed: at least 1 item"]),
    (drop("designs", 1), ["objective.value: recorded 639876 is not the model's"]),
    (
        put("designs", 0, value=DOCUMENT["designs"][1]),
        ["designs[1] is [i,j] C, like designs[0]", "every design once"],
    ),
    (
        put(*CERTIFICATE, "nodes", value=13),
        ["best.certificate.nodes: recorded 13 is not the model's 12"],
    ),
    (put("designs", 1, value=UNSOLVED), ["objective.value: recorded 639876 is not the model's"]),
    (other_best, ["objective.value: recorded", "is not the model's 639876"]),
    (no_best, ["objective.value: recorded null is not the model's 639876"]),
    (put("designs", value={}), ["designs is an object", "a valid list"]),
    (put("designs", 1, value=7), ["designs[1] is 7", "a mapping"]),
    (put("best", "dataflow", value=["i", "x"]), ["best: unknown dataflow 'i,x'", "i j k i,j"]),
    (put("best", "dataflow", value="ij"), ["best.dataflow is 'ij'", "a valid list"]),
    (put("best", "permutation", value="D"), ["best: unknown permutation 'D'", "A, B, C"]),
    (
        put("best", "buildable", value=False),
        ["best.buildable: recorded false is not the model's true"],
    ),
    (
        put(*TILING, value=None),
        ["best.certificate.status is 'optimal'", "a tiling and its metrics"],
    ),
    (put(*PART, "i", value=-3), ["best.tiling.array_part.i is -3", "an integer from 1 to"]),
    (put(*PART, "i", value=0), ["best.tiling.array_part.i is 0", "an integer from 1 to"]),
    (put(*PART, "i", value=10**200), ["best.tiling.array_part.i is", "an integer from 1 to"]),
    (put(*PART, "i", value=205.0), ["best.tiling.array_part.i is 205.0", "a valid integer"]),
    (put(*PART, "i", value=206), ["best.tiling.loop 'i'", "t2 = 41", "does not divide t1 = 206"]),
    (put(*PART, "x", value=1), ["best.tiling.array_part has unknown 'x'", "exactly i, j, k"]),
    (drop(*PART, "k"), ["best.tiling.array_part misses 'k'", "exactly i, j, k"]),
    (
        drop(*TILING, "simd"),
        ["best.tiling.simd is missing", "array_part, latency_hiding, simd, pack"],
    ),
    (put(*TILING, "simd", value=0), ["best.tiling.simd is 0", "an integer from 1 to"]),
    (
        put(*TILING, "simd", value=64),
        ["best.tiling is not in the design space", "allowed: power of two"],
    ),
    (put(*TILING, "pack", value={}), ["best.tiling.pack: no pack for buffer module A_IO_L2_in"]),
    (
        put(*TILING, "pack", "x", value=1),
        ["best.tiling.pack: unknown buffer module 'x'", "allowed: A_IO_L2_in"],
    ),
    (
        put(*TILING, "pack", "A_IO_L2_in", value=8),
        ["best.certificate.lower_bound is 639876", "the objective's 798136"],
    ),
    (
        put(*METRIC, "latency", value=5),
        ["best.metrics.latency: recorded 5 is not the model's 639876", "edited"],
    ),
    (
        put(*METRIC, "latency", value="5"),
        ["best.metrics.latency: recorded '5' is not the model's 639876"],
    ),
    (
        put(*METRIC, "latency", value=10**299),
        ["latency: recorded a very large number is not the model's"],
    ),
    (
        put(*METRIC, "dsp", value=8600.5),
        ["best.metrics.dsp: recorded 8600.5 is not the model's 8600"],
    ),
    (put(*METRIC, "lut", value=5), ["best.metrics.lut is unknown", "latency, prologue"]),
    (
        put(*METRIC, "throughput", value=-1),
        ["best.metrics.throughput: recorded -1 is not the model's"],
    ),
    (
        put(*METRIC, "off_chip_words_by_array", value=1),
        ["off_chip_words_by_array: recorded 1 is not the model's an object"],
    ),
    (
        put(*METRIC, "off_chip_words_by_array", "A", value=1),
        ["off_chip_words_by_array.A: recorded 1 is not"],
    ),
    (
        put(*METRIC, "off_chip_words_by_array", "D", value=1),
        ["off_chip_words_by_array.D is unknown", "A, B, C"],
    ),
    (drop(*METRIC, "latency"), ["best.metrics.latency is missing", "latency, prologue"]),
    (
        put(*CERTIFICATE, "status", value="proven"),
        ["best.certificate.status is 'proven'", "'optimal', 'feasible'"],
    ),
    (
        put(*CERTIFICATE, "status", value="infeasible"),
        ["best.certificate.status is 'infeasible'", "null for tiling"],
    ),
    (
        put(*CERTIFICATE, "lower_bound", value=1),
        ["best.certificate.lower_bound is 1", "the objective's 639876"],
    ),
    (
        put(*CERTIFICATE, "lower_bound", value=None),
        ["best.certificate.lower_bound is null", "the objective's 639876"],
    ),
    (
        put(*CERTIFICATE, "lower_bound", value=639_877),
        ["best.certificate.lower_bound is 639877", "at most"],
    ),
    (
        put(*CERTIFICATE, "gap", value=-0.5),
        ["best.certificate.gap is -0.5", "greater than or equal to 0"],
    ),
    (
        put(*CERTIFICATE, "nodes", value=-1),
        ["best.certificate.nodes is -1", "greater than or equal to 0"],
    ),
    (
        put(*CERTIFICATE, "seconds", value="1"),
        ["best.certificate.seconds is '1'", "a valid number"],
    ),
    (
        drop(*CERTIFICATE, "nodes"),
        ["best.certificate.nodes is missing", "status, lower_bound, gap"],
    ),
    (
        put("designs", 2, "shortfalls", 0, "metric", value="x"),
        ["designs[2].shortfalls[0].metric is 'x'", "one of the limits, dsp, bram18k"],
    ),
    (
        put("designs", 2, "shortfalls", 0, "more", value=1),
        ["designs[2].shortfalls[0].more is unknown", "metric, bound"],
    ),
    (
        put("designs", 0, "tiling", "array_part", "j", value=64),
        ["designs[0].metrics.", "is not the model's"],
    ),
    (
        put("space", value={"lanes": 2}),
        ["space.lanes is unknown", "min_lanes, divisors_only, dividing_packs"],
    ),
    (put("space", value={"min_lanes": 0}), ["space.min_lanes is 0", "greater than or equal to 1"]),
    (put("space", value={"divisors_only": 1}), ["space.divisors_only is 1", "a valid boolean"]),
]


@pytest.mark.parametrize(("edit", "words"), EDITS, ids=[words[0][:50] for _, words in EDITS])
def test_edited_results_are_refused(
    tmp_path: Path, edit: Callable[[Any], None], words: list[str]
) -> None:
    document = copy.deepcopy(DOCUMENT)
    edit(document)
    message = refusal(write(tmp_path / "result.json", document))
    for word in words:
        assert word in message


def test_the_accumulator_condition_is_checked(tmp_path: Path) -> None:
    solved = problem()
    tiling = Tiling({"i": 4, "j": 4, "k": 8}, {"i": 1, "j": 1}, 8, {"A": 8, "B": 8, "C_drain": 1})
    best = solution(solved, tiling)
    message = refusal(
        write(tmp_path / "result.json", result_document(Result("u250", best, (best,))))
    )
    assert message == "best.tiling: Π latency_hiding is too small; allowed: at least 8 · simd"


TEXT = document_text(DOCUMENT)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["not JSON at line 1, column 1", "a complete JSON document"]),
        (TEXT[: len(TEXT) // 2].encode(), ["not JSON at line", "a complete JSON document"]),
        (b"null", ["the document is null", "a mapping"]),
        (b"[]", ["the document is a list", "a mapping"]),
        (TEXT.encode("utf-16"), ["byte 0 is 0xff", "UTF-8"]),
        (TEXT.replace("u250", "u\x00250").encode(), ["is NUL", "text"]),
        (TEXT.replace("8601.6", "NaN").encode(), ["number is NaN", "a finite number"]),
        (TEXT.replace("8601.6", "-Infinity").encode(), ["number is -Infinity", "a finite number"]),
        (TEXT.replace("8601.6", "1e999").encode(), ["'1e999' is too large", "a finite number"]),
        (TEXT.replace("8601.6", "9" * 10_000).encode(), ["is too long", "at most 300 digits"]),
        (
            TEXT.replace('"edition"', '"schema"', 1).encode(),
            ["field 'schema' occurs twice", "every field once"],
        ),
        (b"[" * 500_000, ["nested too deeply", "as Ithaca writes it"]),
        (b'{"schema":' * 500_000, ["nested too deeply", "as Ithaca writes it"]),
        (TEXT.replace("8601.6", "[" * 900 + "]" * 900).encode(), ["allowed:"]),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, words: list[str]) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(content)
    message = refusal(path)
    for word in words:
        assert word in message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "missing.json")
    assert "is a directory" in refusal(tmp_path)
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # sparse: takes no room on disk
    assert "too large; allowed: at most 16777216 bytes" in refusal(large)


def test_a_network_of_a_family_that_writes_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_text('{"schema": "ithaca/1", "study": "network", "family": "recurrence"}')
    assert "is missing; allowed: schema, family" in refused("verify", path)
