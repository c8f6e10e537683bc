"""Hardware to change, and tools that are not to run."""

import pytest

from ithaca.files.writing import write_folder
from ithaca.plugins.rtl.exports import tools
from ithaca.plugins.rtl.exports.folder import rtl_tool
from tests.plugins.rtl.exports.cases import configuration


@pytest.fixture(scope="module")
def plain():
    """Hardware of one layer."""
    return rtl_tool().export(configuration("mm", "ij", 1)[0])


@pytest.fixture
def hardware(plain, folder):
    write_folder(folder, plain)
    return folder


@pytest.fixture
def _nothing_runs(monkeypatch):
    def run(*command):
        raise AssertionError(f"ran {command}")

    monkeypatch.setattr(tools.subprocess, "run", run)
