"""Constraints files: what they leave of a space, and what they are refused for."""

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.constraint_entries import _entries
from ithaca.plugins.hierarchies.formulations.constraint_files import read_constraints
from ithaca.plugins.hierarchies.formulations.constraints import FactorRange
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
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
