"""Types of a tree that is installed as it lies (``pip install -e .``) are there for a user's
project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

USE = """import ithaca
reveal_type(ithaca.solve("mm", i=4, j=4, k=4))
ithaca.solve("mm", time_limit="x")
"""


@pytest.mark.ci(whole=True)
def test_types_are_found_where_the_tree_is_installed(tmp_path):
    pytest.importorskip("mypy")
    unwanted = shutil.ignore_patterns(".git", ".*_cache", "__pycache__", "site", "*.egg-info")
    shutil.copytree(ROOT, tmp_path / "tree", symlinks=True, ignore=unwanted)
    packages = next(path for path in sys.path if (Path(path) / "numpy").is_dir())
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "new"], check=True)
    (site,) = (tmp_path / "new").glob("lib/python3.*/site-packages")
    (site / "others.pth").write_text(f"{packages}\n")
    python = tmp_path / "new" / "bin" / "python"
    alone = {"capture_output": True, "text": True, "timeout": 300}
    alone["env"] = {name: os.environ[name] for name in os.environ.keys() - {"PYTHONPATH"}}
    install = "-m pip install -q --no-deps --no-build-isolation --no-index -e"
    done = subprocess.run([python, *install.split(), tmp_path / "tree"], **alone)
    assert done.returncode == 0, done.stderr
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "use.py").write_text(USE)
    check = [sys.executable, "-m", "mypy", "--python-executable", python, "use.py"]
    printed = subprocess.run(check, cwd=tmp_path / "project", **alone).stdout
    assert 'Revealed type is "ithaca.solver.result.Result"' in printed
    assert 'Argument "time_limit" to "solve" has incompatible type "str"' in printed
