"""Every console block of the README prints what the README says.

``UPDATE_README=1 pytest tests/test_readme.py`` writes the blocks anew.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.console_blocks import check

README = Path(__file__).resolve().parents[1] / "README.md"


def test_console_blocks_print_what_the_readme_says(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler for the exported program")
    check(README, tmp_path, "UPDATE_README")


def test_the_two_commands_stand_at_the_top() -> None:
    text = README.read_text()
    assert "pip install -e . && ithaca solve mm -s i=1024,j=1024,k=1024 --platform u250" in text
    assert 'pip install -e ".[test]" && pytest' in text
