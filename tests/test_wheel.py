"""The installation without the checkout: the wheel holds the whole program, and every command runs
from it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from shlex import split

import pytest

from ithaca.cli import COMMANDS
from tests.studies.network.tiny import tiny_file

ROOT = Path(__file__).resolve().parents[1]

#: Folders that are no part of the program.
OUTSIDE = {"tests", "benchmarks", "conda", "docs"}

#: What the program reads of itself.
ENDINGS = {*split(".py .pyi .yaml .csv .css .html .typed .json .toml .txt .js .svg")}

#: A quick run of each command; later ones read what earlier ones wrote. Building takes a compiler,
#: and estimators are an extra.
RUNS = [
    split(line)
    for line in """\
solve mm -s i=8,j=6,k=8 --dataflow i,j --min-lanes 2 -o result.json
solve mm -s i=8,j=6,k=8 --dataflow i --method evolve --gap 0.9
solve mm -s i=4,j=4,k=4 --edition exact --dataflow i --permutation C --prove-with exact,cpsat
solve mm -s i=4,j=4,k=4 --edition exact --dataflow i --permutation C --method gp
solve mm -s i=4,j=4,k=4 --edition exact --dataflow i --permutation C --method nlp
network tiny.yaml --divisors-only --edition exact --dataflow i --layers mm --limit dsp=400,bram18k=400 --table table.csv
network tiny.yaml --divisors-only --edition exact --dataflow i --layers mm --mode shared-array --limit dsp=400,bram18k=400
network tiny.yaml --divisors-only --edition exact --dataflow i --layers mm --mode multi-array --arrays 2 --limit dsp=400,bram18k=400
whatif mm -s j=6,k=8 --vary i=4,8 --dataflow i --plot study.html -o study.nc
pareto mm -s i=4,j=4,k=4 --dataflow i --objectives latency,bram18k --max-points 2
whatif tiny.yaml --divisors-only --edition exact --layers wide --dataflow i --vary dsp=20,40 -o networks.json
pareto tiny.yaml --divisors-only --edition exact --layers wide --dataflow i --objectives latency,dsp --limit dsp=20
grid result.json --around 1 -o grid.nc
evaluate mm --points result.json
evaluate cambricon-x
verify result.json
simulate result.json
explain result.json --quick
report result.json -o page.html --quick
export result.json --to autosa -o autosa
export result.json --to timeloop -o timeloop
programs mm -s i=4,j=4,k=4 --to nl -o programs
seed result.json --to csv --count 3 -o seeds.csv
map --arch simple --problem mm -s i=2,j=2,k=2 -o mapped.json
export mapped.json --to timeloop -o mapped
timeloop-mapper mapped/arch.yaml mapped/problem.yaml mapped/ert.yaml -o mapped
map 'C[i,j] += A[i,k] * B[k,j]' -s i=4,j=4,k=4 --arch hasco-gemm --edition intrinsic --objective latency -o calls.json
export calls.json --to instructions -o instructions
export calls.json --to gemmini -o gemmini
solve mm -s i=4,j=4,k=4 --dtype int8 --dataflow i -o int8.json
export int8.json --to rtl -o rtl
build --help
estimate --help
calibrate --help
unroll --help
match mm -s i=4,j=4,k=4
codesign dmazerunner-memory mm -s i=4,j=4,k=4 --divisors-only -o chosen.json
explain chosen.json --quick
refine result.json --samples 50
serve --help
list workloads
list networks
list platforms
list architectures
list spaces
list designs conv2d
""".splitlines()
]

#: Runs commands one after another as each process would, and writes down how each ended.
DRIVER = """
import contextlib, io, json, sys, traceback
import ithaca, ithaca.cli
ended = [ithaca.__file__]
for words in json.load(open("runs.json")):
    sys.argv = ["ithaca", *words]
    try:
        ithaca.cli.main()
    except SystemExit as end:
        ended.append(end.code)
    except BaseException:
        ended.append(traceback.format_exc())
    else:
        ended.append(0)
json.dump(ended, open("ended.json", "w"))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy of the tree: building leaves files behind."""
    folder = tmp_path_factory.mktemp("wheel")
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", *OUTSIDE)
    shutil.copytree(ROOT, folder / "source", ignore=unwanted)
    words = f"-m build --wheel --no-isolation --outdir {folder} {folder / 'source'}"
    command = [sys.executable, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = folder.glob("*.whl")
    return found


def files_of_the_program(pattern):
    """Files by their names."""
    paths = {path: path.relative_to(ROOT).parts for path in ROOT.rglob(pattern)}
    outside = {path for path, parts in paths.items() if OUTSIDE & {*parts} or parts[0][0] == "."}
    return {p for p in paths.keys() - outside if not paths[p][0].endswith(".egg-info")}


def test_the_wheel_holds_every_file_of_the_program(wheel):
    packages = {path.parent for path in files_of_the_program("__init__.py")}
    assert ROOT in packages
    every = {path for path in files_of_the_program("*") if path.suffix in ENDINGS}
    hardware = ROOT / "plugins" / "rtl" / "exports"
    files = {*hardware.glob("*/*.sv"), *hardware.glob("*/*.tcl")}
    files |= {path for path in every if path.parent in packages - {ROOT}}
    # of the root itself only what belongs to the package
    files |= {*ROOT.glob("*.py"), *ROOT.glob("*.pyi"), ROOT / "py.typed"} - {ROOT / "setup.py"}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("ithaca/")}
    assert held == {f"ithaca/{path.relative_to(ROOT).as_posix()}" for path in files}
    data = {path for path in every if path.suffix in (".yaml", ".css", ".html", ".txt")}
    strays = [path for path in data if path.parent not in packages]
    assert not strays, "data outside of a package is not installed"


@pytest.mark.ci(whole=True)
def test_every_command_runs_from_the_wheel(wheel, tmp_path):
    assert {words[0] for words in RUNS} == set(COMMANDS)
    site = tmp_path / "site"
    words = f"-m pip install -q --no-deps --no-index --no-compile --target {site} {wheel}"
    subprocess.run([sys.executable, *words.split()], check=True, timeout=300)
    here = tmp_path / "here"
    here.mkdir()
    tiny_file(here)
    (here / "runs.json").write_text(json.dumps(RUNS))
    # the checkout is on no path: not the folder, and before what is installed in the environment
    # comes the wheel
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        cwd=here,
        # compiling the simulator takes longer than all else, and says nothing about the wheel
        env={**os.environ, "PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (here / "ended.json").exists(), done.stderr
    where, *ended = json.loads((here / "ended.json").read_text())
    assert Path(where).is_relative_to(site)
    failed = [(words, status) for words, status in zip(RUNS, ended, strict=True) if status != 0]
    assert not failed, done.stderr
    files = "result.json table.csv study.html grid.nc page.html autosa seeds.csv rtl/library"
    assert all((here / name).exists() for name in files.split())
