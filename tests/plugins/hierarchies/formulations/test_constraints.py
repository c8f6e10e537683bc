"""Constraints files: what they leave of a space, and what they are refused for."""

import random
from itertools import product
from math import prod

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.constraint_entries import _entries
from ithaca.plugins.hierarchies.formulations.constraint_files import read_constraints
from ithaca.plugins.hierarchies.formulations.constraints import FactorRange
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.filled_lanes import filling
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.workloads.problem_files import read_problem
from tests.plugins.hierarchies.formulations.cases import golden
from tests.refusals import refusals

TEXT = """
mapspace_constraints:
  version: 0.4
  targets:
  - {target: GLB, type: spatial, factors: [N=1, C<=4, M=1], permutation: [Q, S, P, R, C, M, N], split: 2}
  - {target: GLB, type: temporal, factors: "R=1 S=1", permutation: "RS"}
  - {target: GLB, type: dataspace, keep: [Inputs, Outputs], bypass: [Weights]}
  - {target: psum_spad, type: bypass, keep: [Outputs], bypass: [Inputs, Weights]}
  - {target: DRAM, type: temporal, factors: "M=0"}
  - {target: mac, type: utilization, min: 0.5}
"""


def read(tmp_path, text):
    file = tmp_path / "constraints.yaml"
    file.write_text(text)
    return read_constraints(file, read_architecture(golden() / "eyeriss"), nest())


def nest():
    return read_problem(golden() / "eyeriss" / "problem_resnet18_l1.yaml")


def test_a_file_restricts_the_space(tmp_path):
    design = SpatialDesign(
        nest(),
        read_architecture(golden() / "eyeriss"),
        MappingOptions(divisors_only=True),
        read(tmp_path, TEXT),
    )
    rows = {axis.name: axis.table() for axis in design.space.axes}
    assert rows["M"]["M.DRAM"].tolist() == [64]  # 0 is the tool's word for all of it
    assert rows["C"]["C.GLB.x"].max() == 1
    assert sorted(set(rows["C"]["C.GLB.y"].tolist())) == [1, 2, 4]
    assert rows["Q"]["Q.GLB.x"].max() == 14
    assert rows["Q"]["Q.GLB.y"].max() == 1
    assert rows["S"]["S.GLB"].max() == 1
    assert {order[-2:] for order in design.orders["GLB"]} == {("S", "R")}
    assert design.keeps(1) == {"Inputs", "Outputs"}
    assert design.keeps(4) == {"Outputs"}
    assert any(str(link.left) == "84" for link in design.space.links)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    refusals("formulations-spatial-constraints", "what_contradicts_or_is_unknown_is_named"),
)
def test_what_contradicts_or_is_unknown_is_named(tmp_path, old, new, message):
    assert old in TEXT
    with pytest.raises(InputError) as refused:
        read(tmp_path, TEXT.replace(old, new))
    assert message in str(refused.value)
    assert "constraints.yaml" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_the_tool_leaves_out_is_named(tmp_path):
    # "Constraint R=9 exceeds problem dimension R=3, ignoring", mapping/constraints.cpp of NVlabs
    constraints = read(tmp_path, TEXT.replace('"M=0"', '"R=9"'))
    assert constraints.factor("DRAM", "temporal", "R") == FactorRange("DRAM", "temporal", "R")
    assert [path.partition(": ")[2] for path in constraints.unread] == [
        "mapspace_constraints.targets[4].factors.R=9, beyond the extent of R"
    ]


def test_empty_fields_state_nothing(tmp_path):
    """A comment may stand for the value."""
    without = TEXT.replace('factors: "R=1 S=1", permutation: "RS"', "")
    empty = TEXT.replace('"R=1 S=1", permutation: "RS"', ", permutation:")
    assert "permutation:}" in empty
    assert read(tmp_path, empty) == read(tmp_path, without.replace(", }", "}"))


def test_permutations_without_split_need_one_where_loops_could_lie_differently(
    tmp_path,
):
    text = TEXT.replace(", split: 2", "").replace("C<=4, M=1", "P=1, Q=1, R=1, S=1, M=1")
    assert not read(tmp_path, text).directions  # C alone may lie along X or Y
    with pytest.raises(InputError, match="permutation has no split"):
        read(tmp_path, text.replace("M=1", "M<=2"))


def test_attributes_of_a_constraint_are_a_mapping():
    section = [{"name": "DRAM", "constraints": [{"type": "spatial", "attributes": 4}]}]
    with pytest.raises(InputError, match=r"constraints.0..attributes is '4'; allowed: a mapping"):
        list(_entries(section[0], "at"))


@pytest.mark.parametrize(
    ("extents", "room", "factors"),
    [
        ((128, 128), 8, (8, 1)),  # as timeloopfe wrote of a public design: M=8, C=1
        ((3, 4), 12, (3, 4)),
        ((3, 4), 8, (3, 2)),
        ((13,), 8, (7,)),  # two turns, of 7 and 6: 6.5 lanes on average
        ((13, 2), 8, (7, 1)),
        ((5, 1), 1, (1, 1)),
    ],
)
def test_loops_fill_lanes_as_well_as_can_be(extents, room, factors):
    assert filling(extents, room) == factors


def test_filling_is_at_least_the_best_of_divisors():
    rng = random.Random(7)
    for _ in range(60):
        extents = tuple(rng.randint(1, 24) for _ in range(rng.randint(1, 3)))
        room = rng.randint(max(extents), 64)  # no loop exceeds it: whole divisors alone
        divisors = [[d for d in range(1, n + 1) if n % d == 0] for n in extents]
        best = max(p for each in product(*divisors) if (p := prod(each)) <= room)
        own = filling(extents, room)
        assert best <= prod(own) <= room, (extents, room, own)


MACRO = "mapspace:\n- {{target: GLB, type: spatial, {}}}\n"


def fixed(tmp_path, fields):
    spans = read(tmp_path, MACRO.format(fields)).factors
    return {span.loop: (span.low, span.high) for span in spans if span.kind == "spatial"}


def test_fields_of_the_front_end_stand_for_factors(tmp_path):
    """On 12 × 14 lanes, of 64 filters and channels and windows of 3 × 3."""
    filled = fixed(tmp_path, "maximize_dims: [[S], [R, M]]")
    assert filled == {"S": (3, 3), "R": (3, 3), "M": (16, 16)}  # 56 lanes left: 3 · 16
    assert fixed(tmp_path, "factors: S=2, maximize_dims: [M]")["M"] == (64, 64)  # 84 lanes left
    assert fixed(tmp_path, "maximize_dims: [M], maximize_dims_capacity: 4") == {"M": (4, 4)}
    still = fixed(tmp_path, "no_iteration_over_dataspaces: [Weights]")
    assert still == dict.fromkeys("MCRS", (1, 1))
    assert fixed(tmp_path, "must_iterate_over_dataspaces: [Outputs]") == dict.fromkeys(
        "CRS", (1, 1)
    )
    assert fixed(tmp_path, "must_iterate_over_dataspaces: ['*']") == {}
    by_loop = fixed(tmp_path, "factors: {M: '4', C: 2}, split: '2', permutation: 'M,C'")
    assert by_loop == {"M": (4, 4), "C": (2, 2)}
    assert fixed(tmp_path, "factors: [M<=1048576]") == {"M": (1, 1048576)}  # as large as extents


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("maximize_dims: [[C, X]]", "maximize_dims has 'X'; allowed: each of N, M, C"),
        ("factors: C=3, maximize_dims: [C]", "maximize_dims has 'C'; allowed: each of N, M, P"),
        ("maximize_dims: [[C, C]]", "maximize_dims has 'C'"),
        ("maximize_dims: C", "maximize_dims is 'C'; allowed: a list of lists of loops"),
        ("maximize_dims: [[1]]", "maximize_dims is"),
        ("no_iteration_over_dataspaces: [W]", "there is no tensor 'W'"),
        ("no_iteration_over_dataspaces: W", "allowed: a list of tensors"),
        ("no_reuse: [Inputs]", "no_reuse is not supported"),
        ("rmw_first_update: [Inputs]", "rmw_first_update is not supported"),
    ],
)
def test_fields_of_the_front_end_that_say_nothing_are_refused(tmp_path, fields, told):
    with pytest.raises(InputError) as error:
        read(tmp_path, MACRO.format(fields))
    assert told in str(error.value)
    with pytest.raises(InputError, match="maximize_dims has no maximize_dims_capacity"):
        read(tmp_path, "mapspace:\n- {target: GLB, type: temporal, maximize_dims: [[C]]}\n")
