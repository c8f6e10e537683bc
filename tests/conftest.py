"""Shared fixtures: where the reference material lies, and small problems."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material beside the project; tests skip without it."""
    folder = Path(__file__).resolve().parents[1].parent / "shared"
    if not (folder / "golden").is_dir():
        pytest.skip("no ../shared beside the project")
    return folder
