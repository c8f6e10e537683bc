"""Timeloop's constraints files: what they restrict, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from ithaca.formulations.spatial.constraints import Constraints, read_constraints
from ithaca.formulations.spatial.library import find_architecture, fitted
from ithaca.workloads.errors import InputError
from ithaca.workloads.library import workload

NEST = workload("mm", {"i": 8, "j": 12, "k": 30})
EYERISS = fitted(find_architecture("eyeriss"), NEST)


def read(tmp_path: Path, text: str, *, divisors_only: bool = True) -> Constraints:
    path = tmp_path / "constraints.yaml"
    path.write_text(text)
    found = read_constraints(path, EYERISS, NEST)
    found.check(EYERISS, NEST, divisors_only=divisors_only)
    return found


def test_factors_permutations_and_splits_are_ranges(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        architecture_constraints:
          version: '0.4'
          targets:
            - {target: DRAM, type: temporal, factors: i=2 j<=3, permutation: kj}
            - {target: GLB, type: spatial, permutation: ji, split: 1, factors: k=1}
            - {target: psum_spad, type: temporal, factors: [i=4, k1]}
            - {target: GLB, type: bypass, keep: [C], bypass: [A]}
            - {target: psum_spad, type: utilization, min: 0.25}
        mapspace_constraints:
          - {target: DRAM, type: temporal, factors: j=3, permutation: k}
        """,
    )
    assert found.of == {
        "i.DRAM": (2, 2),
        "j.DRAM": (3, 3),
        "i.GLB.x": (1, 1),
        "j.GLB.y": (1, 1),
        "k.GLB.x": (1, 1),
        "k.GLB.y": (1, 1),
        "i.psum_spad": (4, 4),
        "k.psum_spad": (1, 1),
        "keep.GLB.C": (2, 2),
        "keep.GLB.A": (1, 1),
    }
    assert dict(found.orders) == {"DRAM": ("k", "j")}
    assert found.lanes == Fraction(1, 4)
    kept = {level.name: level.kept(["A", "B", "C"]) for level in found.keeping(EYERISS, NEST).levels}
    assert kept["GLB"] == {"C"}
    assert kept["DRAM"] == {"A", "B", "C"}


def test_zero_is_the_whole_extent(tmp_path: Path) -> None:
    found = read(tmp_path, "constraints: [{target: GLB, type: temporal, factors: j=0}]")
    assert found.of == {"j.GLB": (12, 12)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{target: L2, type: temporal}", "target is 'L2'; allowed: DRAM, GLB, ifmap_spad, weights_spad, psum_spad"),
        ("{target: DRAM, type: spatial, factors: i=2}", "type is spatial, but no mesh lies inside DRAM"),
        ("{target: GLB, type: temporal, factors: z=2}", "factors name the unknown loop 'z'; allowed: i, j, k"),
        ("{target: GLB, type: temporal, factors: 'i>=2'}", "factors have 'i>=2'"),
        ("{target: GLB, type: temporal, permutation: ijz}", "permutation names the unknown loop 'z'"),
        ("{target: GLB, type: temporal, permutation: iji}", "repeats a loop"),
        ("{target: GLB, type: temporal, split: 1}", "split does not go with type temporal"),
        ("{target: GLB, type: spatial, split: 2, permutation: i}", "split is 2 with a permutation of 1"),
        ("{target: GLB, type: bypass, bypass: [Weights]}", "unknown tensor 'Weights'; allowed: A, B, C"),
        ("{target: DRAM, type: bypass, bypass: [A]}", "bypass names A at DRAM"),
        ("{target: GLB, type: no_multicast, datatypes: [A]}", "type is 'no_multicast'; allowed"),
        ("{target: GLB, type: spatial, factors: i=2}", "factors fix i without a direction"),
        (
            "{target: GLB, type: temporal, factors: i=2}, {target: GLB, type: temporal, factors: i<=1}",
            "contradict each other: i.GLB = 2 and = 1",
        ),
        (
            "{target: GLB, type: bypass, bypass: [A]}, {target: GLB, type: bypass, keep: [A]}",
            "contradict each other: keep.GLB.A",
        ),
        (
            "{target: GLB, type: temporal, permutation: ij}, {target: GLB, type: temporal, permutation: ji}",
            "permutation j i of GLB contradicts another one, i j",
        ),
        ("{target: GLB, type: temporal, factors: i=16}", "constraints on i contradict its extent 8: i.GLB = 16 make 16"),
        (
            "{target: GLB, type: temporal, factors: k=4}",
            "constraints on k contradict its extent 30: k.GLB = 4 do not divide it",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, f"constraints: [{text}]")
    assert "\n" not in str(error.value)
    assert told in str(error.value)


def test_factors_too_small_together_are_refused(tmp_path: Path) -> None:
    levels = ", ".join(f"{{target: {level.name}, type: temporal, factors: i<=1}}" for level in EYERISS.levels)
    flat = "{target: GLB, type: spatial, factors: i<=2}"
    with pytest.raises(InputError, match="its factors are at most 4 together"):
        read(tmp_path, f"constraints: [{levels}, {flat}]")
