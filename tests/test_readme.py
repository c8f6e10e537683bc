"""Every console block of the README prints what the README says.

``UPDATE_README=1 pytest tests/test_readme.py`` writes the blocks anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def run(commands: list[str], folder: Path) -> str:
    """The commands and their output, as the README shows them."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "ithaca").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ithaca.cli "$@"\n')
    (tools / "ithaca").chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    shown = []
    for command in commands:
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        lines = [line.rstrip() for line in done.stdout.strip("\n").split("\n")]
        shown.append("\n".join([f"$ {command}", *lines]) + "\n")
    return "\n".join(shown)


def plain(text: str) -> str:
    """Text without what may differ between runs: box counts, seconds, and the width of columns of seconds."""
    text = re.sub(r"[\d,]+ boxes, [\d.]+ s", "boxes", text)
    text = re.sub(r"│ +[\d.]+ │$", "│ s │", text, flags=re.MULTILINE)
    return re.sub(r"[━─┏┓┡┩└┘┳┴╇]+", "━", text)


def test_console_blocks_print_what_the_readme_says(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler for the exported program")
    text = README.read_text()
    renewed = text
    for block in BLOCK.findall(text):
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        output = run(commands, tmp_path)
        renewed = renewed.replace(f"```console\n{block}```", f"```console\n{output}```")
    if os.environ.get("UPDATE_README"):
        README.write_text(renewed)
    assert plain(renewed) == plain(text) or os.environ.get("UPDATE_README")


def test_the_two_commands_stand_at_the_top() -> None:
    text = README.read_text()
    assert "pip install -e . && ithaca solve mm -s i=1024,j=1024,k=1024 --platform u250" in text
    assert 'pip install -e ".[test]" && pytest' in text
