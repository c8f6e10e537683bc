"""Distributions: what is installed with Ithaca suffices, and the sources hold what its tests
need."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.reference import unpack

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: Folders that are not installed.
OUTSIDE = {"tests", "benchmarks", "docs"}

#: Modules that are not called as what is installed.
DISTRIBUTIONS = {
    "cyipopt": "cyipopt-wheels",
    "google": "onnx",  # its messages are protobuf's
    "pydantic_core": "pydantic",
    "vcd": "pyvcd",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}

#: Extras whose packages are all imported by name.
TAKEN = ("solvers", "data", "charts", "onnx", "simulate")

#: What is imported from other extras, or is there where it is used.
ELSEWHERE = {
    "dask",
    "distributed",
    "hwcomponents",
    "IPython",
    "anyio",
    "mcp",
    "mcp_types",
    "pynq",
    "setuptools",
}


def sources():
    """The Python files of the program."""
    places = (path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
    return [p for p in places if not OUTSIDE & {*p.parts} and not p.parts[0].startswith(".")]


def test_what_is_imported_is_installed():
    extras = PROJECT["optional-dependencies"]
    named = (each for extra in TAKEN for each in extras[extra])
    needed = {re.split(r"[>=<\[]", each)[0] for each in (*PROJECT["dependencies"], *named)}
    imported = set()
    for path in sources():
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).partition(".")[0])
    imported -= {"ithaca", *sys.stdlib_module_names, *ELSEWHERE}
    assert {DISTRIBUTIONS.get(name, name).lower() for name in imported} == needed
    assert {"numba", "onnx", "pyvcd"} <= needed


def test_the_extra_all_brings_what_every_command_uses():
    extras = PROJECT["optional-dependencies"]
    (whole,) = extras["all"]
    own = {"all", "bench", "docs", "peers-gp", "test"}
    assert set(re.findall(r"[\w-]+", whole.partition("[")[2])) == extras.keys() - own


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_the_recipe_of_conda_is_of_this_version():
    recipe = yaml.safe_load((ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8"))
    assert recipe["package"] == {name: PROJECT[name] for name in ("name", "version")}
    run = {each.replace(" ", "") for each in recipe["requirements"]["run"]}
    assert run == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    assert recipe["about"]["summary"] == PROJECT["description"]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The source distribution of a copy of the tree, unpacked: building leaves files behind."""
    folder = tmp_path_factory.mktemp("sdist")
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site", "*.egg-info")
    shutil.copytree(ROOT, folder / "source", ignore=unwanted)
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(folder / "source")], check=True, capture_output=True, timeout=300)
    (archive,) = folder.glob("*.tar.gz")
    unpack(archive, folder / "unpacked")
    (found,) = (folder / "unpacked").iterdir()
    return found


def test_the_source_distribution_holds_everything(unpacked):
    source = unpacked.parents[1] / "source"
    held = {path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()}
    files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    assert {path for path in files - held if "ithaca.egg-info" not in path.parts} == set()
