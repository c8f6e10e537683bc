"""The core alone: what it does without any extra, and how it names the one that is missing."""

import json
import subprocess
import sys
from shlex import split

import pytest

from ithaca.exports.charts.files import check_plot
from ithaca.files.errors import InputError
from ithaca.files.extras import extra_of, lacking

#: Modules of extras, and what brings none of its own.
MODULES = [
    "cyipopt",
    "dask",
    "distributed",
    "llvmlite",
    "mcp",
    "netCDF4",
    "numba",
    "onnx",
    "ortools",
    "pandas",
    "pyomo",
    "scipy",
    "vcd",
    "vl_convert",
    "xarray",
]

#: Runs commands in one process, in which no extra is installed, and writes down how each ended.
DRIVER = """
import contextlib, io, json, sys
from importlib.machinery import PathFinder
missing = set(sys.argv[1].split())
packages = missing | {"cyipopt-wheels", "netcdf4", "pyvcd", "vl-convert-python"}
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in missing else super().find_spec(name, path, target)
    @classmethod
    def find_distributions(cls, *words):
        distributions = super().find_distributions(*words)
        return (each for each in distributions if each.metadata["Name"].lower() not in packages)
sys.meta_path[:] = [Without if each is PathFinder else each for each in sys.meta_path]
import ithaca, ithaca.cli
ended = []
for words in json.loads(sys.argv[2]):
    sys.argv = ["ithaca", *words]
    stream, out = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(out):
        try:
            ithaca.cli.main()
        except SystemExit as end:
            ended.append((end.code, stream.getvalue(), out.getvalue()))
try:
    ithaca.load("result.json").to_dataframe()
except ithaca.InputError as error:
    ended.append((2, "ithaca: " + str(error), ""))
print("\\n" + json.dumps(ended))
"""

#: Commands, and the extra that each lacks; empty: it needs none.
RUNS = {
    "solve mm -s i=8,j=6,k=8 --dataflow i,j --min-lanes 2 -o result.json": "",
    "solve mm -s i=1024,j=1024,k=1024 --platform u250": "",
    "verify result.json": "",
    "explain result.json --quick": "",
    "report result.json -o page.html --quick": "charts",
    "export result.json --to autosa -o autosa": "",
    "seed result.json --to csv --count 3 -o seeds.csv": "",
    "evaluate mm --points result.json": "",
    "refine result.json --samples 50": "",
    "whatif mm -s j=6,k=8 --vary i=4,8 --dataflow i": "",
    "pareto mm -s i=4,j=4,k=4 --dataflow i --objectives latency,bram18k --max-points 2": "",
    "map mm -s i=4,j=4,k=4 --arch simple --divisors-only": "",
    "codesign dmazerunner-memory mm -s i=4,j=4,k=4 --divisors-only": "",
    "list workloads": "",
    "solve mm -s i=8,j=6,k=8 --dataflow i --method gp": "solvers",
    "solve mm -s i=8,j=6,k=8 --dataflow i --method cpsat": "solvers",
    "export result.json --to pyomo -o programs": "solvers",
    "grid result.json --around 1": "data",
    "solve mm -s i=8,j=6,k=8 --dataflow i,j -o result.nc": "data",
    "whatif mm -s j=6,k=8 --vary i=4,8 --dataflow i --plot study.png": "charts",
    "whatif mm -s j=6,k=8 --vary i=4,8 --dataflow i --plot study.html": "charts",
    "network net.onnx": "onnx",
    "refine result.json --samples 50 --plot course.svg": "charts",
    "simulate result.json": "simulate",
    "serve --mcp": "mcp",
    "solve mm -s i=8,j=6,k=8 --dataflow i --scheduler local": "scale",
}


@pytest.mark.ci
def test_the_core_needs_no_extra_and_names_the_one_that_is_missing(tmp_path):
    (tmp_path / "net.onnx").write_bytes(b"\x08\x07")
    commands = json.dumps([split(line) for line in RUNS])
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, " ".join(MODULES), commands],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    for (line, extra), (status, said, printed) in zip(
        {**RUNS, "Python": "data"}.items(), ended, strict=True
    ):
        if extra:
            named = f'pip install "ithaca[{extra}]"'
            assert (status, said.count("\n") <= 1, named in said) == (2, True, True), (line, said)
            assert printed == "", line  # refused before anything is computed
        else:
            assert status == 0, (line, said)


def test_pages_of_charts_need_their_script_alone(tmp_path, monkeypatch):
    """A script kept by an earlier chart serves pages."""
    monkeypatch.setattr("ithaca.files.extras.installed", lambda *modules: False)
    monkeypatch.setattr("ithaca.exports.charts.files.script", lambda: "")
    check_plot(tmp_path / "p.html")
    for ending in ("png", "svg", "pdf"):
        with pytest.raises(InputError, match="this needs the package vl-convert-python"):
            check_plot(tmp_path / f"p.{ending}")


def test_missing_modules_name_the_extra_that_brings_them():
    assert extra_of("netCDF4") == "data"
    assert extra_of("vl_convert") == "charts"
    assert extra_of("numpy") == ""
    assert isinstance(lacking(ModuleNotFoundError(name="pyomo.environ")), InputError)
    broken = ModuleNotFoundError("own", name="no_such_module")
    assert lacking(broken) is broken
