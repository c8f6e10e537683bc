"""The benchmark beside AccelForge prints what it has, and says what is missing."""

import pytest

from benchmarks.uneven_mappings import main


@pytest.mark.parametrize("python", [[], ["--python", "false"]])
def test_rows_without_accelforge(python, capsys):
    """A program that does not start AccelForge is as none."""
    main([*python, "--only", "product 256", "--nodes", "free"])
    missing, row = capsys.readouterr().out.splitlines()
    assert missing == "AccelForge is left out: --python names no Python that has it"
    assert row.startswith("product 256 | free | Ithaca | 139,657,216 | optimal, ≥ 139,657,216 | ")
