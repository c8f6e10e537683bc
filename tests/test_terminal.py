"""Names from files reach neither the terminal as commands nor a spreadsheet as formulas."""

import csv
import io
import json

import pytest
from onnx import TensorProto, helper

from ithaca.files.csv_text import csv_text
from ithaca.files.messages import escaped
from tests.command_line import ithaca, succeed

#: Clears the screen and sets the window's title.
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A result whose platform has a name that drives a terminal."""
    path = tmp_path_factory.mktemp("results") / "result.json"
    succeed("solve", "mm", "-s", "i=8,j=8,k=8", "--dataflow", "i", "--gap", "0.5", "-o", path)
    document = json.loads(path.read_text())
    document["platform"]["name"] = f"u250{ESCAPES}"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "FILE", "--quick"),
        ("refine", "FILE", "--samples", "100"),
        ("verify", "FILE"),
        ("grid", "FILE", "--around", "1"),
        ("report", "FILE", "-o", "page.html"),
        ("seed", "FILE", "--for", "nevergrad", "-n", "2", "-o", "seeds.py"),
    ],
    ids=lambda words: words[0],
)
def test_a_platform_of_a_file_drives_no_terminal(words, result, tmp_path):
    done = ithaca(*(str(result) if word == "FILE" else word for word in words), cwd=tmp_path)
    printed = done.stdout + done.stderr
    assert done.returncode in (0, 1, 2), printed
    assert printed
    assert all(c.isprintable() or c == "\n" for c in printed)
    if words[0] in ("explain", "refine"):
        assert "u250\\x1b[2J" in done.stdout


def model(path, name):
    """An ONNX model of one matrix multiplication with a name."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=(6, 5))
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="elsewhere.bin")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name=name)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 6])],
        [helper.make_empty_tensor_value_info("y")],
        [weight],
    )
    path.write_bytes(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9
        ).SerializeToString()
    )
    return path


@pytest.mark.parametrize("name", [f"mul{ESCAPES}", "=cmd|' /C calc'!A0", "@SUM(1)", "+1-1", "-x"])
def test_a_node_drives_neither_terminal_nor_spreadsheet(name, tmp_path):
    model(tmp_path / "model.onnx", name)
    words = (
        "--divisors-only",
        "--edition",
        "exact",
        "--limit",
        "dsp=50,bram18k=50",
        "--table",
        "table.csv",
        "-o",
        "result.json",
    )
    done = succeed("network", "model.onnx", *words, cwd=tmp_path)
    printed = done.stdout + done.stderr
    assert all(c.isprintable() or c == "\n" for c in printed)
    (row,) = csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text(), newline=""))
    assert row["layer"] == (escaped(name) if name.startswith("mul") else f"'{name}")
    (layer,) = json.loads((tmp_path / "result.json").read_text())["layers"]
    assert layer["name"] == escaped(name)  # as it is read, no control character is left


def test_cells_that_begin_like_a_formula_are_text():
    text = csv_text(
        ("name", "=value"),
        [("=1+1", -1), ("\tx", "-2.5"), ("\r=x", "+1e3"), ("a=b", "-"), ("", None)],
    )
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [
        ["name", "'=value"],
        ["'=1+1", "-1"],
        [r"\tx", "-2.5"],
        [r"\r=x", "+1e3"],
        ["a=b", "'-"],
        ["", ""],
    ]
