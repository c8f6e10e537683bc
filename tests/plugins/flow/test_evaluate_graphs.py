"""Flow graphs by `ithaca evaluate`: files, names, mappings and points."""

import csv
import json

import pytest
import yaml

import ithaca
from ithaca.files.errors import InputError
from tests.command_line import refused, succeed

GRAPH = {
    "name": "moved",
    "megahertz": 200,
    "parameters": {"n": 100, "share": 1},
    "tensors": {"x": {"bits": 8, "density": "share"}},
    "components": {"dma": "dma", "buffer": {"of": "sram", "parameters": {"width": 8}}},
    "edges": ["dma.out -> buffer.in"],
    "intervals": {"all": {"repeat": 2, "inputs": {"dma.in": {"of": "x", "shape": ["n"]}}}},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "graph.yaml").write_text(yaml.safe_dump(GRAPH))
    (tmp_path / "points.csv").write_text("n,share\n100,1\n2k,1\n,0.5\n")
    return tmp_path


def test_a_file_says_cycles_energy_and_bottleneck(folder):
    text = succeed("evaluate", "graph.yaml", cwd=folder).stdout
    assert "630" in text  # 2 × (291 + 24)
    assert "│ dma" in text
    assert "no zeros are drawn: all is exact" in text
    assert "at 200 MHz 0.00315 ms" in text
    (point,) = json.loads(succeed("evaluate", "graph.yaml", "--json", cwd=folder).stdout)["points"]
    assert point["metrics"] == {"latency": 630, "latency_error": 0, "energy": 250}
    assert point["bottleneck"] == ["dma"]
    assert [part["energy"] for part in point["components"]] == [0, 250]


def test_points_are_parameters(folder):
    succeed("evaluate", "graph.yaml", "--points", "points.csv", "--table", "t.csv", cwd=folder)
    rows = list(csv.DictReader((folder / "t.csv").open()))
    assert [float(row["latency"]) for row in rows[:2]] == [630, 2 * 2000]
    # dense, zeros are moved as well
    assert float(rows[2]["latency"]) == 630


def test_files_mappings_and_rows_are_the_same(folder):
    file = ithaca.evaluate(str(folder / "graph.yaml"), points=str(folder / "points.csv"))
    rows = [{"n": 100, "share": 1}, {"n": 2000}, {"share": 0.5}]
    assert ithaca.evaluate(GRAPH, points=rows).document == file.document
    assert "3 runs of the flow graph" in repr(file)
    assert (
        "energy without that of pe.index, demux, which is not stated"
        in succeed("evaluate", "cambricon-x").stdout
    )
    shipped = ithaca.evaluate("cambricon-x", points={"vectors": 16})
    assert shipped.rows[0]["bottleneck"] == ["pe.synchronizer"]
    assert list(shipped.to_dataframe()["latency"]) == [float(shipped.runs[0].cycles)]


def test_a_graph_in_python(folder):
    from ithaca.plugins.flow.formulations.graph import find_graph

    graph = find_graph(GRAPH)
    assert ithaca.evaluate(graph).document == ithaca.evaluate(GRAPH).document


@pytest.mark.parametrize(
    ("points", "line"),
    [
        ("m\n1\n", "points.csv: 'm' is unknown; allowed: n, share"),
        ("n\nx\n", "points.csv row 2: n is 'x'; allowed: a number"),
        ("share\n2\n", "points.csv row 2: intervals.all: tensors.x.density is 2; allowed: 0 to 1"),
        ("n\n", "points.csv: has no rows; allowed: at least one"),
    ],
)
def test_points_that_mean_nothing_are_refused(points, line, folder):
    (folder / "points.csv").write_text(points)
    assert line in refused("evaluate", "graph.yaml", "--points", "points.csv", cwd=folder)


def test_other_options_are_refused(folder):
    for option in ("--arch", "--dtype", "--edition", "--sums", "--layer"):
        line = refused("evaluate", "graph.yaml", option, "1", cwd=folder)
        assert f"{option} does not go with a flow graph; allowed: without it" in line
    with pytest.raises(InputError, match="graph: intervals is missing"):
        ithaca.evaluate({"name": "x", "tensors": {}, "components": {}})
    (folder / "graph.yaml").write_text("intervals:\n  - 1: [\n")
    assert "graph.yaml: not YAML" in refused("evaluate", "graph.yaml", cwd=folder)
