"""Documents and keys that never end, or whose reading would take the square of their size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ithaca.files.errors import InputError
from ithaca.files.seals import own_key
from ithaca.files.yaml_documents import parse_yaml


def test_work_on_yaml_is_bounded() -> None:
    # time that grows with the square of the text would be hours here
    digits = "1" * 10**6 + "x"
    assert parse_yaml(f"a: {digits}", "file") == {"a": digits}
    taken = ",".join(["*e"] * 4000)
    fields = "".join(f"  k{n}: 1\n" for n in range(4000))
    for how, value in (("<<", "1"), ("<<<", "[1]")):
        text = f"a: &e {{z: {value}}}\nb:\n  {how}: [{taken}]\n  z: {value}\n{fields}"
        with pytest.raises(InputError, match="written out to more than 200,000 values"):
            parse_yaml(text, "file", references=True)


def test_a_key_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(pipe := tmp_path / "key")
    for path, kind in ((pipe, "a pipe"), (Path("/dev/null"), "a device")):
        monkeypatch.setenv("ITHACA_KEY", str(path))
        with pytest.raises(InputError, match=f"is {kind}; allowed: a file"):
            own_key()
