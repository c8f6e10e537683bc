"""A new kernel needs a YAML file and nothing else: it is listed, solved, kept, read back, verified
and seeded."""

import json

import pytest

from ithaca.commands.api.loading import load
from ithaca.commands.systolic.points import load_any_points
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.systolic.design import systolic
from ithaca.solver.certificate import Status
from ithaca.workloads.library import workload
from tests.command_line import ithaca, refused, succeed
from tests.refusals import refusals

KERNEL = """\
name: strided-layer
statement: y[n][f] += x[n][s*f+t][c] * w[t][c]
extents: {n: 8, f: 30, t: 5, c: 16}
parameters: {s: 1}
untiled: [t]
"""


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A folder with a kernel of one's own, and a result of it."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "kernel.yaml").write_text(KERNEL)
    done = succeed(
        "solve",
        "kernel.yaml",
        "-s",
        "n=4,s=2",
        "--dataflow",
        "n,f",
        "-o",
        "result.json",
        cwd=folder,
    )
    assert "strided-layer (n=4, f=30, t=5, c=16; s=2)" in done.stdout
    assert "optimal" in done.stdout
    return folder


def test_the_result_states_the_kernel(solved):
    assert json.loads((solved / "result.json").read_text())["workload"] == {
        "name": "strided-layer",
        "sizes": {"n": 4, "f": 30, "t": 5, "c": 16},
        "parameters": {"s": 2},
        "kernel": {
            "statement": "y[n][f] += x[n][s*f+t][c] * w[t][c]",
            "untiled": ["t"],
            "simd": "c",
        },
        "dtype": "fp32",
    }


def test_the_result_is_read_back_without_the_file(solved, tmp_path):
    result = tmp_path / "result.json"
    result.write_text((solved / "result.json").read_text())
    loaded = load(result)
    assert systolic(loaded.problem).nest == workload(str(solved / "kernel.yaml"), {"n": 4, "s": 2})
    assert loaded.best.certificate.status is Status.OPTIMAL
    done = succeed("verify", "result.json", cwd=tmp_path)
    assert "confirmed" in done.stdout


def test_points_must_be_of_the_kernel_asked_for(solved, tmp_path):
    data = DATA_TYPES["fp32"]
    points = load_any_points(solved / "result.json", workload(str(solved / "kernel.yaml")), data)
    assert str(points[0][0].nest) == "y[n][f] += x[n][2*f+t][c] * w[t][c]"
    edited = tmp_path / "kernel.yaml"
    edited.write_text(KERNEL.replace("s*f+t", "s*f+2*t"))
    with pytest.raises(
        InputError,
        match=r"workload.kernel is 'y\[n\]\[f\] .*'; allowed: y\[n\]\[f\] .*, the workload asked for",
    ):
        load_any_points(solved / "result.json", workload(str(edited)), data)


def test_a_table_of_points_keeps_the_stride(solved):
    succeed("seed", "kernel.yaml", "-s", "n=4,s=2", "--dataflow", "n,f", "--permutation", "y",
                  "--for", "csv", "--count", "2", "-o", "seeds.csv", cwd=solved)  # fmt: skip
    best = json.loads((solved / "result.json").read_text())["best"]["metrics"]["latency"]
    evaluated = ithaca("evaluate", "kernel.yaml", "--points", "seeds.csv", "--json", cwd=solved)
    assert json.loads(evaluated.stdout)["points"][0]["metrics"]["latency"] == best


@pytest.mark.parametrize(
    ("arguments", "told"),
    refusals("own_kernel", "bad_input_ends_in_one_line_and_status_2"),
)
def test_bad_input_ends_in_one_line_and_status_2(solved, arguments, told):
    (solved / "bad.yaml").write_text(KERNEL.replace("y[n][f]", "y[n+f]"))
    done = refused(*arguments, cwd=solved)
    assert told in done.replace("workload strided-layer: ", "")
