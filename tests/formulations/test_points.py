"""Points files: golden rows reproduced, and everything that is refused."""

import csv
import io
import json
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.files.numbers import fraction, json_number
from ithaca.files.reading import parse_json
from ithaca.files.writing import document_text
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic import points as points_module
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.metrics import METRICS, by_part, metric_values
from ithaca.formulations.systolic.points import MAX_BYTES, evaluate_points, load_points
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.workloads.library import workload
from ithaca.workloads.nest import MAX_EXTENT
from tests.refusals import refusals

#: metrics split among the parts of the array
PARTS = (
    "off_chip_words_by_array",
    "dsp_by_module",
    "bram18k_by_module",
    "cycles_by_module",
)

#: the metrics the golden files record
RECORDED = ("latency", "prologue", "main", "epilogue", "dsp", "bram18k", "off_chip_words")
FP32 = data_type("fp32")

ROW = {
    "dataflow": "i,j",
    "reuse": "C",
    "edition": "odyssey",
    "sizes": '{"i": 1024, "j": 1024, "k": 1024}',
    "array_part": '{"i": 129, "j": 130, "k": 64}',
    "latency_hiding": '{"i": 3, "j": 13}',
    "simd": "4",
    "pack": '{"A_IO_L2_in": 16, "B_IO_L2_in": 16, "C_drain_IO_L1_out": 4}',
}


def csv_text(*rows):
    """Rows as CSV text; the first gives the header."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def refusal(path, nest=None):
    """The error line of a file, without its path."""
    with pytest.raises(InputError) as caught:
        load_points(path, nest or workload("mm"), FP32)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) <= 700
    assert message.startswith(str(path))
    return message.removeprefix(str(path)).strip(" :")


@pytest.mark.parametrize(("app", "name"), [("gemm", "mm"), ("cnn", "conv2d")])
def test_golden(app, name, reference):
    """Every row of a golden file against the model."""
    path = reference / "golden" / f"{app}.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    evaluated = evaluate_points(load_points(path, workload(name), FP32))
    assert len(evaluated) == len(rows) > 0
    for row, found in zip(rows, evaluated, strict=True):
        assert (found["dataflow"], found["permutation"]) == (
            row["dataflow"].split(","),
            row["reuse"],
        )
        assert found["edition"] == row["edition"]
        assert found["meets_bounds"] is (row["meets_bounds"] == "True")
        for metric in RECORDED:
            assert found["metrics"][metric] == pytest.approx(float(row[metric]), rel=1e-9)
        words = found["metrics"]["off_chip_words_by_array"]
        assert sum(words.values()) == pytest.approx(found["metrics"]["off_chip_words"], rel=1e-12)
        assert set(words) == {access.tensor for access in workload(name).accesses}


def test_points_of_a_design_are_evaluated_together_and_stay_exact(tmp_path, monkeypatch):
    """20,000 rows took over a minute, one by one; what no float holds is exact still, and rows keep
    their order."""
    draw = random.Random(0)
    rows = []
    for number in range(60):
        outer = {
            "i": 3 * draw.randint(1, 60),
            "j": 13 * draw.randint(1, 10),
            "k": 4 * draw.randint(1, 40),
        }
        sizes = {x: draw.choice([1024, 1000, MAX_EXTENT - 1]) for x in "ijk"}
        changes = {
            "array_part": json.dumps(outer),
            "sizes": json.dumps(sizes),
            "edition": ("exact", "odyssey")[number % 2],
        }
        rows.append({**ROW, **changes})
    path = tmp_path / "points.csv"
    path.write_text(csv_text(*rows))
    points = load_points(path, workload("mm"), FP32)
    calls = []
    monkeypatch.setattr(
        points_module, "evaluate", lambda *args: calls.append(args[0]) or evaluate(*args)
    )
    found = evaluate_points(points)
    assert len(calls) == 2
    for point, row in zip(points, found, strict=True):
        design, costs = point[0], point[0].costs(point[1])
        assert row["edition"] == design.array.edition.value
        parts = {
            name: {part: json_number(value) for part, value in values.items()}
            for name, values in by_part(costs).items()
        }
        metrics = {name: json_number(value) for name, value in metric_values(costs).items()}
        assert row["metrics"] == metrics | parts
        assert row["meets_bounds"] is bool(costs.meets_bounds)
    assert max(row["metrics"]["edp"] for row in found) > 2**53


def test_published_design(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(csv_text(ROW))
    document = json.loads(
        document_text({"points": evaluate_points(load_points(path, workload("mm"), FP32))})
    )
    (point,) = document["points"]
    assert point["metrics"]["latency"] == 644_713.5
    assert (point["metrics"]["dsp"], point["metrics"]["bram18k"]) == (8600, 3740)
    assert isinstance(point["metrics"]["dsp"], int)
    assert set(point["metrics"]) == {*METRICS, *PARTS} - {
        "area",
        "uram",
        "lut",
        "lutram",
        "ff",
    }
    assert point["meets_bounds"] is True


def test_edition_is_optional_and_designs_are_shared(tmp_path):
    row = {name: value for name, value in ROW.items() if name != "edition"}
    path = tmp_path / "points.csv"
    path.write_text(
        "\ufeff" + csv_text(row, row, {**row, "dataflow": "j, i"}).replace("\n", "\r\n") + "\r\n",
        encoding="utf-8",
    )
    first, second, third = load_points(path, workload("mm", {"i": 7}), FP32)
    assert first[0].array.edition is Edition.EXACT
    assert first[0].array is second[0].array
    assert first == second == third
    assert first[0].nest.sizes == {"i": 1024, "j": 1024, "k": 1024}


def test_values_are_taken_as_given(tmp_path):
    """A SIMD factor of 3 or a pack that divides nothing is no tiling one can build, but it has
    costs."""
    odd = {
        **ROW,
        "simd": "3",
        "array_part": '{"i": 129, "j": 130, "k": 9}',
        "pack": ROW["pack"].replace("16", "7"),
    }
    path = tmp_path / "points.csv"
    path.write_text(csv_text(odd))
    (point,) = load_points(path, workload("mm"), FP32)
    assert point[1]["t2.k"] == 3


#: column, value, and the words the error line must contain


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        *refusals("formulations-points", "bad_cells"),
        ("dataflow", "i," * 5000, ["unknown dataflow", "allowed: i j k"]),
        (
            "sizes",
            '{"i": ' + "9" * 9999 + "}",
            ["row 3: sizes: number", "too long", "at most 300 digits"],
        ),
        ("sizes", "[" * 100_000, ["row 3: sizes: nested too deeply", "allowed: at most"]),
        (
            "sizes",
            "9" * 140_000,
            ["row 3: field larger than field limit", "comma-separated values"],
        ),
        ("simd", "9" * 9999, ["row 3: simd is '99", "an integer"]),
    ],
)
def test_bad_cells(tmp_path, column, value, words):
    path = tmp_path / "points.csv"
    path.write_text(csv_text(ROW, {**ROW, column: value}), encoding="utf-8")
    message = refusal(path)
    for word in words:
        # a newline inside a cell counts as the line it is
        assert word.replace("row 3", f"row {3 + value.count(chr(10))}") in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["column 'dataflow' is missing", "allowed: dataflow, reuse"]),
        (csv_text(ROW).split("\n")[0].encode(), ["has no rows", "at least one"]),
        (
            csv_text(ROW).replace("simd", "SIMD").encode(),
            ["column 'simd' is missing", "allowed: dataflow, reuse"],
        ),
        (
            csv_text(ROW).replace("edition", "pack", 1).encode(),
            ["column 'pack' occurs twice", "every column once"],
        ),
        (csv_text(ROW)[:-10].encode(), ["row 2", "unexpected end of data"]),
        (
            b"\n".join(csv_text(ROW, ROW).encode().split(b"\n")[:2]) + b'\n"i,j",C,odys',
            ["row 3: has 3 cells", "allowed: 8"],
        ),
        (csv_text(ROW).rstrip().encode() + b",1\n", ["row 2: has 9 cells", "allowed: 8"]),
        (
            csv_text(ROW).replace(",C,", ',"C"x,').encode(),
            ["row 2", "expected after", "comma-separated values"],
        ),
        (csv_text(ROW).replace(",C,", ",C\0,").encode(), ["is NUL", "text"]),
        (csv_text(ROW).encode("utf-16"), ["byte 0 is 0xff", "UTF-8"]),
        (csv_text(ROW).replace(",C,", ",\u00e9,").encode("latin-1"), ["is 0xe9", "UTF-8"]),
        (
            csv_text(ROW | {"fifo-depth": "9"}).encode(),
            ["column 'fifo-depth' is unknown", "allowed: fifo_depth"],
        ),
        (csv_text(ROW | {"Mac": "9"}).encode(), ["column 'Mac' is unknown", "allowed: mac"]),
        (csv_text(ROW | {"d": "9"}).encode(), ["column 'd' is unknown", "allowed: swap"]),
        (b"\x89PNG\r\n\x1a\n", ["byte 0 is 0x89", "UTF-8"]),
    ],
)
def test_bad_files(tmp_path, content, words):
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    message = refusal(path)
    for word in words:
        assert word in message


def test_files_that_cannot_be_read(tmp_path):
    assert "no such file" in refusal(tmp_path / "missing.csv")
    assert "is a directory" in refusal(tmp_path)
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # sparse: takes no room on disk
    assert "too large; allowed: at most 67108864 bytes" in refusal(large)


@given(st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_round_trip(number):
    read = fraction(number)
    assert read == number if isinstance(number, int) else float(read) == number
    assert fraction(json.loads(json.dumps(json_number(read)))) == read


@given(st.decimals(places=3, min_value=-(10**11), max_value=10**11))
def test_decimals_are_exact(number):
    assert fraction(json_number(Fraction(number))) == Fraction(number)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_are_finite(number):
    with pytest.raises(InputError, match="allowed: a finite number"):
        fraction(number)


def test_integral_numbers_are_integers():
    assert [repr(json_number(Fraction(n))) for n in ("5", "10/2", "0.5", "1/3")] == [
        "5",
        "5",
        "0.5",
        "0.3333333333333333",
    ]
    assert json_number(Fraction(10**400 + 1, 2)) == 10**400 // 2


def test_parse_json_counts_the_digits_of_negative_numbers_too():
    assert parse_json("-1" + "0" * 298, "x") == -(10**298)
    with pytest.raises(InputError, match="at most 300 digits"):
        parse_json("-" + "1" * 300, "x")
