"""Timeloop's files: what is read from both forms, and what is refused by its path."""

from fractions import Fraction

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.workloads.problem_files import read_problem
from tests.command_line import ithaca, succeed
from tests.plugins.hierarchies.formulations.cases import golden

NODES = """
architecture:
  version: 0.4
  nodes:
  - !Container
    name: system
    attributes: {technology: 45nm}
  - !Component
    name: DRAM
    class: DRAM
    required_actions: [read, write]
    attributes: {width: 64, datawidth: 16, read_energy: 100, write_energy: 100.5}
  - !Container
    name: PE
    spatial: {meshX: 4, meshY: 2}
  - !Component
    name: RF
    class: regfile
    attributes: {depth: 16, width: 32, datawidth: 16, multiple_buffering: 2, vector_access_energy: 0.3, shared_bandwidth: 1.5}
    constraints: {dataspace: {keep: [A], bypass: [B]}}
  - !Component
    name: mac
    class: intmac
    spatial: {meshX: 2}
    attributes: {energy: 1}
"""

SUBTREE = """
architecture:
  version: 0.4
  subtree:
  - name: system
    local:
    - name: DRAM
      class: DRAM
      attributes: {word-bits: 8, block-size: 4, bandwidth: 8}
    subtree:
    - name: PE[0..15]
      local:
      - name: RF
        class: regfile
        attributes: {meshX: 4, sizeKB: 1, word-bits: 8, width: 32}
      - name: mac[0..1]
        class: mac
        attributes: {meshX: 4}
ERT:
  version: 0.4
  tables:
  - {name: system.DRAM, actions: [{name: read, energy: 2}, {name: write, energy: 3}, {name: leak, energy: 0.5}]}
  - {name: "system.PE[0..15].RF[1..1]", actions: [{name: read, energy: 0.2}, {name: write, energy: 0.3},
      {name: update, energy: 0.4}]}
  - {name: mac, actions: [{name: compute, energy: 0.1}]}
"""

PROBLEM = """
problem:
  version: 0.4
  shape:
    name: conv
    dimensions: [M, C, P, R]
    coefficients: [{name: stride, default: 1}]
    data_spaces:
    - {name: W, projection: [[[M]], [[C]], [[R]]]}
    - {name: I, projection: [[[C]], [[P, stride], [R]]]}
    - {name: O, projection: [[[M]], [[P]]], read_write: true}
  instance: {M: 4, C: 3, P: 8, R: 3, stride: 2}
"""


def saved(tmp_path, text):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    return path


def test_nodes_are_inside_those_before_them(tmp_path):
    found = read_architecture(saved(tmp_path, NODES))
    dram, registers = found.levels
    assert (dram.block, dram.instances, dram.read_energy, dram.update_energy) == (
        4,
        1,
        100,
        Fraction(201, 2),
    )
    assert (registers.instances, registers.mesh_x, registers.mesh_y) == (8, 4, 2)
    assert (registers.words, registers.block, registers.usable(registers.words or 0)) == (32, 2, 16)
    assert (registers.keeps, registers.shared_bandwidth) == (frozenset("A"), Fraction(3, 2))
    assert (found.compute.instances, found.compute.mesh_x, found.compute.energy) == (16, 8, 1)


@pytest.mark.parametrize(
    ("text", "words", "unread"),
    [
        ("memory_depth: 8, data_storage_depth: 16", 16, ["data_storage_depth"]),
        ("data_storage_depth: 8", 16, []),
        ("data_storage_depth: 99, depth: 8", 16, ["data_storage_depth"]),
        ("data_storage_depth: 8, depth: 8", 16, []),
    ],
)
def test_of_several_depths_the_tool_reads_the_first(tmp_path, text, words, unread):
    """The first counts of depth, memory_depth and data_storage_depth (buffer.cpp); others are
    named."""
    architecture = read_architecture(saved(tmp_path, NODES.replace("depth: 16", text)))
    assert architecture.levels[1].words == words
    assert [path.rpartition(".")[2].partition(";")[0] for path in architecture.unread] == unread


def test_capacities_are_words_or_bytes_of_all_tensors_or_of_each(tmp_path):
    for text, words, by_tensor in (
        ("entries: 24", 24, ()),
        ("bytes: 24", 12, ()),
        ("entries: {A: 8, B: 4}", None, (("A", 8), ("B", 4))),
        ("bytes: {A: 8}", None, (("A", 4),)),
    ):
        level = read_architecture(saved(tmp_path, NODES.replace("depth: 16", text))).levels[1]
        assert (level.words, level.tensor_words) == (words, by_tensor)


def test_branches_and_ranges_multiply(tmp_path):
    found = read_architecture(saved(tmp_path, SUBTREE))
    dram, registers = found.levels
    assert (dram.word_bits, dram.block, dram.read_bandwidth, dram.write_bandwidth, dram.leak) == (
        8,
        4,
        4,
        4,
        Fraction(1, 2),
    )
    assert (registers.instances, registers.mesh_x, registers.mesh_y) == (16, 4, 4)
    assert (registers.words, registers.block, registers.cluster) == (1024, 4, 1)
    assert (registers.read_energy, registers.update_energy) == (Fraction(1, 5), Fraction(2, 5))
    assert (found.compute.instances, found.compute.mesh_x, found.compute.mesh_y) == (32, 4, 8)


def test_a_folder_has_its_name_and_its_energies():
    found = read_architecture(golden() / "eyeriss")
    assert found.name == "eyeriss"
    assert [level.name for level in found.levels] == [
        "DRAM",
        "GLB",
        "ifmap_spad",
        "weights_spad",
        "psum_spad",
    ]
    assert found == read_architecture(golden() / "eyeriss" / "arch.yaml")
    assert found.levels[1].write_energy == Fraction(13, 2)


def test_a_problem_is_a_nest(tmp_path):
    found = read_problem(saved(tmp_path, PROBLEM))
    assert str(found) == "O[M][P] += W[M][C][R] * I[C][2*P+R]"
    assert found.sizes == {"M": 4, "C": 3, "P": 8, "R": 3}
    assert str(found.with_sizes({"stride": 1})) == "O[M][P] += W[M][C][R] * I[C][P+R]"


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (NODES, "meshX: 4", "meshX: 0", "architecture.nodes[2]: spatial.meshX is 0; allowed: a positive integer"),
        (NODES, "name: mac", "name: RF", "the name 'RF' occurs twice"),
        (NODES, "name: RF", "name: a.b", "architecture.nodes[3].name is 'a.b'; allowed: letters, digits and _"),
        (NODES, "read_energy: 100,", "read_energy: -1,", "DRAM.read_energy is -1; allowed: a number of at least 0"),
        (NODES, "class: intmac", "class: regfile", "architecture: has 3 storage levels, and nothing computes; allowed: components whose class has"),
        (NODES, "width: 32", "width: 33", "RF.width is 33; allowed: a multiple of 16 bits"),
        (NODES, "multiple_buffering: 2", "multiple_buffering: 0", "RF.multiple_buffering is 0"),
        (NODES, "depth: 16", "depth: 16, entries: 8", "RF has two sizes; allowed: one of entries, bytes, depth, sizeKB"),
        (NODES, "depth: 16", "entries: {A: 0}", "RF.entries.A is 0; allowed: a positive integer"),
        (NODES, "keep: [A]", "keep: A", "architecture.nodes[3].constraints: dataspace: keep is 'A'; allowed: a list of tensors"),
        (NODES, "!Container", "!Tree", "line 5: tag '!Tree'; allowed: mappings tagged !Component, !Container"),
        (NODES, "keep: [A]", "no_coalesce: [A]", "architecture.nodes[3].constraints.dataspace: no_coalesce is not supported; allowed: bypass, bypass_only"),
        (NODES, "depth: 16", "depth: 16, min_utilization: 0.5", "attribute 'min_utilization' of RF is not supported; allowed: min_utilization: 0"),
        (NODES, "depth: 16", "depth: 2 * rows", "RF.depth: '2 * rows' uses the unknown name"),
        (NODES, "shared_bandwidth: 1.5", "shared_bandwidth: 0", "RF.shared_bandwidth is 0; allowed: a positive number"),
        (NODES, "version: 0.4", "version: 0.9", "architecture: version is 0.9; allowed: 0.4"),
        (NODES, "architecture:", "mapping:", "architecture is missing; allowed: a file of Timeloop's, such as ithaca list architectures simple prints"),
        (SUBTREE, "meshX: 4, sizeKB", "meshX: 5, sizeKB", "RF has 16 instances on a mesh of 5·3"),
        (SUBTREE, "- name: RF", "- nome: RF", "architecture.subtree[0].subtree[0].local[0].nome is unknown; allowed: name, class, subclass, attributes, required_actions, enabled, area_scale, energy_scale; did you mean name?"),
        (SUBTREE, "PE[0..15]", "PE[15..0]", "subtree[0].name is 'PE[15..0]'; allowed: letters"),
        (SUBTREE, "{meshX: 4}", "{meshX: 4, network_fill_latency: 3}", "attribute 'network_fill_latency' of mac is not supported"),
        (SUBTREE, "energy: 0.1", "energy: -0.1", "ERT: energy of mac.compute is -0.1"),
        (SUBTREE, "{name: compute, energy: 0.1}", "{name: compute}", "ERT.tables[2].actions[0].energy is missing"),
        (SUBTREE, "name: RF", "name: DRAM", "the name 'DRAM' occurs twice"),
    ],
)  # fmt: skip
def test_architectures_are_refused_by_path(tmp_path, text, old, new, message):
    assert old in text
    with pytest.raises(InputError) as refused:
        read_architecture(saved(tmp_path, text.replace(old, new, 1)))
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path))
    assert "\n" not in str(refused.value)


@pytest.mark.ci
def test_a_listed_architecture_is_a_file_to_begin_with(tmp_path):
    printed = succeed("list", "architectures", "simple").stdout
    own, known = read_architecture(saved(tmp_path, printed)), find_architecture("simple")
    assert (own.levels, own.compute) == (known.levels, known.compute)
    assert "did you mean simple?" in ithaca("list", "architectures", "simpel").stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[P, stride]", "[P, strode]", "projection of I has 'P*strode'"),
        ("instance: {M: 4, ", "instance: {", "instance.M is missing"),
        (", read_write: true", "", "shape.data_spaces has 0 with read_write"),
        ("[[[M]], [[P]]]", "[[[M]], [[P], [R]]]", "which is written"),
        ("M: 4", "M: 0", "size of loop 'M' is 0"),
        ("stride: 2", "stride: 2, commonBitwidth: 65", "instance.commonBitwidth of W is 65"),
        ("stride: 2", "stride: 2, bitwidths: {V: 4}", "instance.bitwidths has 'V'"),
        ("stride: 2", "stride: 2, bitwidths: 4", "instance.bitwidths is 4; allowed: bits by data"),
        ("problem:", "prob:", "has no field 'problem'"),
        ("name: W", "name: 1x", "data space is '1x'; allowed: letters, digits and underscores"),
    ],
)
def test_problems_are_refused_by_path(tmp_path, old, new, message):
    assert old in PROBLEM
    with pytest.raises(InputError) as refused:
        read_problem(saved(tmp_path, PROBLEM.replace(old, new, 1)))
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path))


def test_a_folder_without_an_architecture_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no architecture; allowed: a folder with arch\.yaml"):
        read_architecture(tmp_path)
