"""``ithaca map --problems``: every layer of a file, proven, in one document."""

import csv
import json

import pytest

from tests.command_line import ithaca, succeed

LAYERS = [
    ("conv", {"N": 4, "M": 512, "C": 512, "Ox": 7, "Oy": 7, "Fx": 3, "Fy": 3}, 1),
    ("dw", {"N": 1, "M": 1, "C": 16, "Ox": 14, "Oy": 14, "Fx": 3, "Fy": 3}, 2),
    ("gemm", {"X": 64, "Y": 32, "K": 128}, 1),
]


def tensors(kind, extents, stride):
    if kind == "gemm":
        x, y, k = extents.values()
        return {"A": [x, k], "B": [k, y], "C": [x, y]}
    n, m, c, ox, oy, fx, fy = extents.values()
    wide, high = (ox - 1) * stride + fx, (oy - 1) * stride + fy
    return {
        "I": [n, c, wide, high],
        "W": [m, c, fx, fy],
        "O": [n, c if kind == "dw" else m, ox, oy],
    }


@pytest.fixture
def layers(tmp_path):
    rows = [
        (kind, json.dumps(sizes), stride, json.dumps(tensors(kind, sizes, stride)))
        for kind, sizes, stride in LAYERS
    ]
    return write(tmp_path / "layers.csv", ("kind", "extents", "stride", "tensors"), rows)


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


ASKED = ("--arch", "dmazerunner-256", "--edition", "dmazerunner")


def test_every_layer_is_proven_and_its_mapping_costs_what_is_said(layers, tmp_path):
    told = ithaca(
        "map", *ASKED, "--problems", str(layers), "--objective", "edp", "--divisors-only", "--json"
    )
    answers = json.loads(told.stdout)["answers"]
    assert [answer["status"] for answer in answers] == ["optimal"] * 3
    assert all(
        answer["value"] == answer["lower_bound"] == answer["metrics"]["edp"] for answer in answers
    )
    assert answers[0]["value"] == pytest.approx(6.844957e15, rel=1e-7)
    columns = tuple(answers[0]["mapping"])
    rows = list(csv.reader(layers.read_text(encoding="utf-8").splitlines()))[1:]
    mappings = [
        tuple(json.dumps(x) if isinstance(x, dict) else x for x in answer["mapping"].values())
        for answer in answers
    ]
    points = [(*row, *mapping) for row, mapping in zip(rows, mappings, strict=True)]
    path = write(
        tmp_path / "points.csv", ("kind", "extents", "stride", "tensors", *columns), points
    )
    evaluated = json.loads(ithaca("evaluate", *ASKED, "--points", str(path), "--json").stdout)[
        "points"
    ]
    assert [point["valid"] for point in evaluated] == [True] * 3
    assert [answer["best_of"] for answer in answers] == ["factors that divide extents"] * 3
    assert [point["metrics"] for point in evaluated] == [answer["metrics"] for answer in answers]


def test_the_table_names_layers(layers):
    told = ithaca("map", *ASKED, "--problems", str(layers), "--objective", "latency")
    assert "X=64, Y=32, K=128" in told.stdout
    assert told.stdout.count("optimal") == 3


def test_what_padded_optima_are_best_of_is_said(layers, tmp_path):
    surplus = list(_row(1))
    surplus[3] = json.dumps(
        {"I": [1, 16, 30, 30], "W": [1, 16, 3, 3], "O": [1, 16, 14, 14]}
    )  # of which 29 are needed
    rows = [_row(1), tuple(surplus)]
    path = write(tmp_path / "two.csv", ("kind", "extents", "stride", "tensors"), rows)
    said = {}
    for objective in ("energy", "energy/pes"):
        told = ithaca("map", *ASKED, "--problems", str(path), "--objective", objective, "--json")
        said[objective] = [answer["best_of"] for answer in json.loads(told.stdout)["answers"]]
    assert said == {
        "energy": ["all paddings", "least paddings"],
        "energy/pes": ["least paddings"] * 2,
    }


def test_limits_that_no_layer_meets_are_told_by_row(layers):
    told = ithaca(
        "map", *ASKED, "--problems", str(layers), "--limit", "energy=1", "--divisors-only", "--json"
    )
    assert told.returncode == 1
    assert [answer["status"] for answer in json.loads(told.stdout)["answers"]] == ["infeasible"] * 3
    assert told.stderr.startswith(
        "row 1: infeasible: limit energy = 1 pJ cannot be met; the smallest that could be met"
    )


def test_results_of_this_edition_are_searched_again(tmp_path):
    path, sizes = tmp_path / "r.json", "o=64,i=64,r=28,c=28"
    succeed("map", *ASKED, "--problem", "conv2d", "-s", sizes, "--divisors-only", "-o", str(path))
    verified = succeed("verify", str(path))
    assert "confirmed by staged" in verified.stdout


def test_a_problem_beside_problems_is_refused(layers):
    told = ithaca("map", *ASKED, "--problems", str(layers), "--problem", "mm")
    assert told.returncode == 2
    assert "--problems is given beside another problem" in told.stderr


def test_constraints_restrict_layers(layers, tmp_path):
    constraints = tmp_path / "constraints.yaml"
    constraints.write_text(
        "mapspace_constraints:\n  - {target: SPM, type: temporal, factors: X=1}\n", encoding="utf-8"
    )
    gemm = write(tmp_path / "gemm.csv", ("kind", "extents", "stride", "tensors"), [_row(2)])
    told = ithaca(
        "map", *ASKED, "--problems", str(gemm), "--constraints", str(constraints), "--json"
    )
    (answer,) = json.loads(told.stdout)["answers"]
    assert answer["status"] == "optimal"
    assert answer["mapping"]["SPM"]["X"] == 1


def _row(number):
    kind, sizes, stride = LAYERS[number]
    return kind, json.dumps(sizes), stride, json.dumps(tensors(kind, sizes, stride))
