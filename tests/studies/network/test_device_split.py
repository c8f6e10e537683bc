"""A device split among systolic arrays by `ithaca codesign`: the space's file, the same answer as
arrays with free shares."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.formulations.hardware.files import find_space, read_space, space_fields
from tests.command_line import ithaca as command
from tests.command_line import succeed

SPACE = """
name: split
family: systolic
platform: u250
dtype: int8
dataflow: [i, j]
arrays: 2
shares: 400
quantities:
  d1: {range: [1, 400]}
  d2: {range: [1, 400]}
  b1: {range: [1, 400]}
  b2: {range: [1, 400]}
  bandwidth: {values: [200]}
figures: {array1.dsp: d1, array2.dsp: d2, array1.bram18k: b1, array2.bram18k: b2, bandwidth: bandwidth}
rules: [d1 + d2 <= 400, b1 + b2 <= 400]
objective: latency
"""

NETWORK = """
name: two
layers:
  - {op: kernel, name: big, kernel: mm, sizes: {i: 8, j: 6, k: 8}}
  - {op: kernel, name: small, kernel: mm, sizes: {i: 3, j: 4, k: 8}}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    space, network = tmp_path / "split.yaml", tmp_path / "two.yaml"
    space.write_text(SPACE)
    network.write_text(NETWORK)
    return space, network


def test_the_shipped_space_divides_the_device() -> None:
    space = find_space("u250-arrays")
    assert space.accelerator.sizes(space) == {  # type: ignore[attr-defined]
        "dsp": Fraction("8601.6") / 32,
        "bram18k": Fraction("3763.2") / 32,
        "bandwidth": Fraction("77") / 2,
    }
    assert read_space(space_fields(space), "document") == space


@pytest.mark.ci
def test_shares_are_proven_and_say_what_more_would_buy(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    path = tmp_path / "found.json"
    result = succeed("codesign", str(files[0]), "--workload", str(files[1]), "-o", str(path))
    found = ithaca.load(path)
    assert found.status == "optimal"
    free = ithaca.network(files[1], mode="multi-array", arrays=2, dtype="int8", dataflow="i,j")
    assert free.value <= found.value  # whole shares are no better than free ones
    assert "one more share of dsp (21.504) would buy" in result.stdout
    assert "one more share of bram18k (9.408) would buy" in result.stdout
    for metric, size in (("dsp", Fraction("8601.6") / 400), ("bram18k", Fraction("3763.2") / 400)):
        shares = [-(-array.resources[metric] // size) for array in found.arrays]
        assert sum(shares) <= 400
        assert all(f"{share} shares of {metric}" in result.stdout for share in shares)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("d1 + d2 <= 400", "d1 + d2 <= 399", "rules do not divide dsp; allowed: d1 + d2 <= 400"),
        ("b1: {range: [1, 400]}", "b1: {range: [1, 8]}", "figures.array1.bram18k is not free"),
        ("platform: u250", "platform: nosuch", "platform"),
    ],
)
def test_other_spaces_are_refused(
    files: tuple[Path, Path], old: str, new: str, message: str
) -> None:
    files[0].write_text(SPACE.replace(old, new))
    with pytest.raises(InputError, match=message.replace("+", r"\+")):
        ithaca.codesign(files[0], workload=str(files[1]))


def test_options_that_say_nothing_of_arrays_are_refused(files: tuple[Path, Path]) -> None:
    refused = command("codesign", str(files[0]), "--workload", str(files[1]), "--limit", "dsp=3")
    assert refused.returncode == 2
    assert "--limit does not go with space split" in refused.stderr
