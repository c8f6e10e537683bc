"""Documents and keys that never end, or whose reading would take the square of their size."""

import os
from pathlib import Path

import pytest
from pydantic import Field

from ithaca.files import faults, yaml_documents
from ithaca.files.csv_text import read_rows
from ithaca.files.documents import InputDocument, validated
from ithaca.files.errors import InputError
from ithaca.files.seals import own_key
from ithaca.files.yaml_documents import parse_yaml


def test_work_on_yaml_is_bounded(monkeypatch):
    # time that grows with the square of the text would be minutes here
    digits = "1" * 10**5 + "x"
    assert parse_yaml(f"a: {digits}", "file") == {"a": digits}
    assert yaml_documents.MAX_VALUES == 200_000
    monkeypatch.setattr(yaml_documents, "MAX_VALUES", 2000)
    taken = ",".join(["*e"] * 400)
    fields = "".join(f"  k{n}: 1\n" for n in range(400))
    for how, value in (("<<", "1"), ("<<<", "[1]")):
        text = f"a: &e {{z: {value}}}\nb:\n  {how}: [{taken}]\n  z: {value}\n{fields}"
        with pytest.raises(InputError, match="written out to more than 2,000 values"):
            parse_yaml(text, "file", references=True)


@pytest.mark.ci(whole=True)
def test_files_of_very_many_values_are_refused_before_these_are_made(monkeypatch):
    assert yaml_documents.MAX_NODES == 100_000
    monkeypatch.setattr(yaml_documents, "MAX_NODES", 1000)
    for text in ("a: [" + "[]," * 1100 + "]", "\n".join(f"k{n}: 1" for n in range(550))):
        with pytest.raises(InputError, match="more than 1,000 values; allowed: fewer"):
            parse_yaml(text, "file")
    cells = ",".join(map(str, range(5000)))
    with pytest.raises(InputError, match="has 5,000 columns; allowed: at most 4,096"):
        next(read_rows(f"{cells}\n{cells}\n", Path("file"), list))


class _Inner(InputDocument):
    own: int


class _Outer(InputDocument):
    parts: list[_Inner] = Field(default_factory=list)
    by_name: dict[str, _Inner] = Field(default_factory=dict)
    last: int


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ({**dict.fromkeys(map(str, range(5000)), 1), "last": 1}, "'0' is unknown; allowed: parts"),
        ({"parts": [{}] * 5000, "last": 1}, r"parts\[0\].own is missing; allowed: own"),
        ({"parts": [{"own": 1}] * 4000 + [{}] * 4000, "last": 1}, "4,000 fields or values"),
        ({"by_name": {f"n{n}": {"own": "x"} for n in range(5000)}, "last": 1}, "n0.own is 'x'"),
    ],
)
def test_of_very_many_faults_few_are_listed(document, line, monkeypatch):
    """Pydantic's words on a million faults take seconds and a gigabyte."""
    listed = []
    refusal = faults.refusal
    monkeypatch.setattr(
        faults, "refusal", lambda at, e, *rest: listed.append(e) or refusal(at, e, *rest)
    )
    with pytest.raises(InputError, match=line):
        validated(_Outer, document, "file")
    assert all(error.error_count() <= faults.MAX_ERRORS for error in listed)


def test_a_key_that_never_ends_is_refused(tmp_path, monkeypatch):
    os.mkfifo(pipe := tmp_path / "key")
    for path, kind in ((pipe, "a pipe"), (Path("/dev/null"), "a device")):
        monkeypatch.setenv("ITHACA_KEY", str(path))
        with pytest.raises(InputError, match=f"is {kind}; allowed: a file"):
            own_key()
