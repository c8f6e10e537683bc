"""Plug-ins: found where their packages are installed, refused in one line where they are broken."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ithaca.commands.api.parsing import parse_method
from ithaca.files.errors import InputError
from ithaca.files.plugin import CORE, plugins
from ithaca.files.registry import Registry
from ithaca.solver.engines import engine
from tests.command_line import refused
from tests.families.stranger import install

ROOT = Path(__file__).parents[1]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages."""
    monkeypatch.syspath_prepend(tmp_path)
    plugins.cache_clear()
    yield tmp_path
    plugins.cache_clear()


def test_the_core_is_first(site):
    install(site)
    assert next(iter(plugins())) == CORE
    assert next(iter(Registry("families"))) == "systolic"
    assert "fir" in Registry("families")


def test_every_place_is_there():
    """Every place in a registry can be imported."""
    kinds = {kind for plugin in plugins().values() for kind in plugin.things}
    assert all(thing is not None for kind in kinds for thing in Registry[object](kind).values())


def test_every_command_has_a_line_of_help():
    for plugin in plugins().values():
        assert plugin.commands.keys() == plugin.things.get("commands", {}).keys()


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("no_such_package:PLUGIN", "plug-in filters (no_such_package:PLUGIN): No module named"),
        ("tests.families.stranger:NOTHING", "plug-in filters (tests.families.stranger:NOTHING):"),
        ("tests.families.stranger:install", "plug-in filters (tests.families.stranger:install) is"),
    ],
)
def test_a_broken_plugin_is_named(site, place, line):
    install(site, place)
    with pytest.raises(InputError) as error:
        plugins()
    assert str(error.value).startswith(line)


def test_a_broken_plugin_is_one_line_of_the_command(site):
    install(site, "no_such_package:PLUGIN")
    assert refused("list", "platforms").startswith("ithaca: plug-in filters (no_such_package")


def test_names_are_of_one_plugin(site):
    (site / "second.py").write_text(
        "from ithaca.files.plugin import Plugin\n"
        'PLUGIN = Plugin({"families": {"systolic": "second:PLUGIN"}})\n'
    )
    install(site, "second:PLUGIN")
    with pytest.raises(InputError, match="plug-in filters: families systolic is another's name"):
        list(Registry("families"))


def test_an_engine_of_a_plugin_is_a_method(site):
    (site / "third.py").write_text(
        "from ithaca.files.plugin import Plugin\n"
        'PLUGIN = Plugin({"engines": {"thorough": "ithaca.solver.exact.engine:solve_exact"}})\n'
    )
    install(site, "third:PLUGIN")
    assert engine(parse_method("thorough")) is engine("exact")


PAGE = ROOT / "docs" / "plug-ins.md"


def test_the_page_names_every_registry():
    kinds = {kind for plugin in plugins().values() for kind in plugin.things}
    text = PAGE.read_text(encoding="utf-8")
    assert [kind for kind in kinds if f"`{kind}`" not in text.partition("| registry")[2]] == []


def test_the_package_of_the_page_exports(tmp_path):
    """Files and commands as they stand there, installed beside Ithaca."""
    page, site = PAGE.read_text(encoding="utf-8"), tmp_path / "site"
    for name, text in re.findall(
        r'^```\w+ title="(\S+)"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL
    ):
        (tmp_path / name).write_text(text)
    install, *commands = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[
        0
    ].splitlines()
    assert install == "pip install ."
    words = f"-m pip install -q --no-deps --no-index --no-build-isolation --target {site} ."
    subprocess.run([sys.executable, *words.split()], check=True, timeout=300, cwd=tmp_path)
    paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    for command in commands:
        program, *rest = command.split()
        assert program == "ithaca"
        subprocess.run(
            [sys.executable, "-m", "ithaca.cli", *rest],
            check=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths},
        )
    rows = (tmp_path / "tiles" / "tiles.csv").read_text().splitlines()
    assert rows[0] == "loop,extent,tile"
    assert [row.split(",")[:2] for row in rows[1:]] == [[loop, "64"] for loop in "ijk"]


def test_a_package_of_somebody_else_is_a_family(tmp_path):
    """Installed by pip, asked in a process of its own."""
    source, site = tmp_path / "filters", tmp_path / "site"
    source.mkdir()
    (source / "fir_filters.py").write_text("from tests.families.stranger import PLUGIN\n")
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "filters"\nversion = "1.0"\n'
        '[project.entry-points."ithaca.plugins"]\nfilters = "fir_filters:PLUGIN"\n'
        '[tool.setuptools]\npy-modules = ["fir_filters"]\n'
    )
    words = f"-m pip install -q --no-deps --no-index --no-build-isolation --target {site} {source}"
    subprocess.run([sys.executable, *words.split()], check=True, timeout=300)
    paths = os.pathsep.join([str(site), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths}

    def ithaca(line):
        command = [sys.executable, "-m", "ithaca.cli", *line.split()]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    question = "filter -s taps=12,samples=100 --limit dsp=9,noise=4"
    assert "(optimal" in ithaca(f"solve {question} -o fir.json")
    assert json.loads((tmp_path / "fir.json").read_text())["family"] == "fir"
    assert "confirmed" in ithaca("verify fir.json")
    assert "Design: transposed" in ithaca("explain fir.json --quick")
    ithaca("report fir.json -o fir.html --quick")
    assert "filter" in (tmp_path / "fir.html").read_text()
    assert "complete:" in ithaca(f"pareto {question} --objectives latency,dsp")
    assert '"taps"' in ithaca("list schema filter")
