"""Files as Timeloop's front ends take them: templates, references, nodes in parallel, expressions,
defaults of flattened files, the first format; and what is said of what nobody reads."""

from fractions import Fraction

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.constraint_files import read_constraints
from ithaca.plugins.hierarchies.formulations.library import fitted
from ithaca.workloads.problem_files import read_problem
from tests.command_line import ithaca as command
from tests.command_line import succeed
from tests.refusals import refusals

BASE = """
base_ignore: &base
  version: 0.4
  instance: {N: 1, C: 1, H: 1, M: 1, P: 1, Q: 1, R: 1, S: 1, Wstride: 1, densities: {Inputs: 0.5}}
  shape:
    coefficients: [{name: Wstride, default: 1}, {name: Hstride, default: 1}]
    dimensions: [C, M, R, S, N, P, Q]
    data_spaces:
    - {name: Weights, projection: [C, M, [[R]], S]}
    - {name: Inputs, projection: [[[N]], [[C]], [[R], [P, Wstride]], [[S], [Q, Hstride]]]}
    - {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]]], read_write: True}
"""

PROBLEM = """
{{include_text('base.yaml')}}
problem:
  <<<: *base
  instance: {C: 4, M: {% for m in [2] %}{{ m * 4 }}{% endfor %}, P: 6, HStride: 2}
"""

NODES = """
variables: {version: 0.4, bits: 8, rows: 4}
architecture:
  version: 0.4
  nodes:
  - !Container
    name: system
    attributes: {technology: "45nm", datawidth: bits}
  - !Component
    name: DRAM
    class: DRAM
    attributes: {width: 64, type: LPDDR4}
  - !Component
    name: glb
    class: smartbuffer_SRAM
    attributes: {depth: 16 * rows, width: "max(bits, 16) * 2", n_banks: 2, update_fifo_depth: 2, dept: 3}
    constraints: {dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}}
  - !Container
    name: column
    spatial: {meshX: 3}
    constraints: {spatial: {permutation: [N, C, P, R, S, Q, M], factors: [C=1, P=1], split: 999}}
  - !Container
    name: PE
    spatial: {meshY: rows}
    constraints: {spatial: {split: 0, permutation: NPQRSCM, factors: P=1 Q=1}}
  - !Parallel
    nodes:
    - !Component
      name: inputs
      class: regfile
      attributes: {depth: 4, width: 8}
      constraints: {dataspace: {keep: [Inputs]}, temporal: {factors_only: [R = 1]}}
    - !Component
      name: weights
      class: storage
      subclass: aladdin_register
      attributes: {depth: 8, width: 8}
      constraints: {dataspace: {keep_only: [Weights]}}
    - !Nothing {constraints: {dataspace: {keep: [Outputs]}}}
  - !Component
    name: mac
    class: intmac
    attributes: {multiplier_width: bits, adder_width: 16}
"""

#: The same machine as the front end flattens it.
FLAT = """
dumped_by_timeloop_front_end: true
mapper: {version: 0.4}
mapspace: {version: '0.4', template: uber}
architecture:
  version: '0.4'
  subtree:
  - name: system_top_level
    attributes: {version: '0.4', technology: "SET ME", has_power_gating: false, power_gated_at: null}
    local:
    - {name: 'mac[1..12]', class: intmac, attributes: {multiplier_width: 8, meshX: 3, meshY: 4, datawidth: 8}}
    - name: DRAM[1..1]
      class: DRAM
      required_actions: [leak, read]
      enabled: true
      attributes: {width: 64, datawidth: 8, cluster_size: 1, reduction_supported: true, min_utilization: 0,
        multiple_buffering: 1, allow_overbooking: false, meshX: 1, meshY: 1, power_gated_at: null}
    - {name: 'glb[1..1]', class: smartbuffer_SRAM, attributes: {depth: 64, width: 32, datawidth: 8, cluster_size: 1, meshX: 1, meshY: 1}}
    - {name: 'inter_PE_spatial[1..3]', class: dummy_storage, attributes: {width: 1, depth: 1, datawidth: 1, cluster_size: 1, technology: -1, meshX: 3, meshY: 1}}
    - {name: 'inputs[1..12]', class: regfile, attributes: {depth: 4, width: 8, datawidth: 8, cluster_size: 1, meshX: 3, meshY: 4}}
    - {name: 'weights[1..12]', class: storage, subclass: aladdin_register, attributes: {depth: 8, width: 8, datawidth: 8, cluster_size: 1, meshX: 3, meshY: 4}}
architecture_constraints:
  targets:
  - {target: glb, type: bypass, keep: [Inputs, Outputs], bypass: [Weights]}
  - {target: glb, type: spatial, permutation: NCPRSQM, factors: 'C=1,P=1', split: 999}
  - {target: inter_PE_spatial, type: bypass, bypass: [Inputs, Outputs, Weights]}
  - {target: inter_PE_spatial, type: temporal, factors: 'C=1,M=1,R=1,S=1,N=1,P=1,Q=1', permutation: CMRSNPQ}
  - {target: inter_PE_spatial, type: spatial, permutation: NPQRS CM, factors: 'P=1,Q=1', split: 0}
  - {target: inputs, type: bypass, keep: [Inputs], bypass: [Weights, Outputs]}
  - {target: inputs, type: temporal, factors: 'C=1,M=1,R=1,S=1,N=1,P=1,Q=1'}
  - {target: weights, type: bypass, keep: [Weights], bypass: [Inputs, Outputs]}
"""

FIRST = """
arch:
  arithmetic: {instances: 16, word-bits: 8, meshX: 4}
  storage:
  - {name: RF, entries: 8, instances: 16, meshX: 4, word-bits: 8, num-ports: 2}
  - {name: Dummy, entries: 0, instances: 4, meshX: 4, word-bits: 8}
  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, block-size: 4, bandwidth: 6.0}
mapspace:
  constraints_rows:
  - {target: 0, type: temporal, factors: P0 K1, permutation: RSP CKNQ}
  - name: DRAM
    constraints: [{type: spatial, attributes: {factors: Q4}}]
  constraints: rows
problem: {R: 3, S: 1, P: 4, Q: 4, C: 2, K: 2, N: 1}
"""

ENERGIES = """
ERT:
  version: 0.4
  tables:
  - {name: system.DRAM, actions: [{name: read, energy: 100}, {name: write, energy: 100}]}
  - {name: 'system.glb[1..1]', actions: [{name: read, energy: 5}, {name: write, energy: 6}]}
  - {name: inputs, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}
  - {name: weights, actions: [{name: read, energy: 0.5}, {name: write, energy: 0.5}]}
  - {name: mac, actions: [{name: compute, energy: 2}]}
"""


@pytest.fixture
def folder(tmp_path):
    texts = {"base": BASE, "problem": PROBLEM, "nodes": NODES, "flat": FLAT, "first": FIRST}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def test_templates_take_in_other_files_and_mappings_each_other(folder):
    nest = read_problem(folder / "problem.yaml")
    assert nest.settings == {"C": 4, "M": 8, "R": 1, "S": 1, "N": 1, "P": 6, "Q": 1} | {
        "Wstride": 1,
        "Hstride": 1,
    }
    assert [str(access) for access in nest.accesses][-1].startswith("Outputs[N][M][Q][P]")
    assert [path.rpartition(": ")[2] for path in nest.unread] == [
        "problem.instance.H",
        "problem.instance.densities",
        "problem.instance.HStride; did you mean Hstride?",
    ]


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("a: &x {k: 1}\nb: {<<: *x, m: 2}", {"a": {"k": 1}, "b": {"k": 1, "m": 2}}),
        ("a: &x {k: 1}\nb: {<<: *x, k: 2}", {"a": {"k": 1}, "b": {"k": 2}}),
        (
            "a: &x {k: {p: 1, q: 1}, l: [1], n: [1]}\nb: {<<<: *x, k: {q: 2}, l: [2], n: !nomerge [2]}",
            {
                "a": {"k": {"p": 1, "q": 1}, "l": [1], "n": [1]},
                "b": {"k": {"p": 1, "q": 2}, "l": [2, 1], "n": [2]},
            },
        ),
        ("a: &x {k: 1}\nc: &y {k: 2, m: 3}\nb: {<<: [*x, *y]}", {"a": {"k": 1}, "c": {"k": 2, "m": 3}, "b": {"k": 1, "m": 3}}),
        ("{% set n = 3 %}a: {{ [n, 2] | max }}", {"a": 3}),
    ],
)  # fmt: skip
def test_references_are_written_out(tmp_path, text, document):
    (tmp_path / "file.yaml").write_text(text)
    assert load_timeloop(tmp_path / "file.yaml") == document


@pytest.mark.parametrize(
    ("text", "message"),
    refusals("formulations-spatial-front_ends", "templates_and_references_have_limits"),
)  # fmt: skip
def test_templates_and_references_have_limits(tmp_path, text, message):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        load_timeloop(path)
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(path))


def test_nodes_have_the_levels_of_the_flattened_file(folder):
    nodes, flat = (read_architecture(folder / f"{name}.yaml") for name in ("nodes", "flat"))
    assert [level.name for level in nodes.levels] == ["DRAM", "glb", "inter_PE_spatial", "inputs", "weights"]  # fmt: skip
    for ours, theirs in zip(nodes.levels, flat.levels, strict=True):
        if ours.name != "inter_PE_spatial":
            assert (ours.words, ours.block, ours.cluster, ours.word_bits) == (theirs.words, theirs.block, theirs.cluster, theirs.word_bits)  # fmt: skip
        assert (ours.mesh_x, ours.mesh_y) == (theirs.mesh_x, theirs.mesh_y)
    assert nodes.levels[1].words == 256
    assert nodes.levels[4].keeps == {"Weights"}
    assert nodes.compute.instances == flat.compute.instances == 12
    assert nodes.unpriced == flat.unpriced == ("DRAM", "glb", "inputs", "weights", "mac")
    assert [path.rpartition(": ")[2] for path in nodes.unread] == [
        "architecture.nodes[2].attributes.dept; did you mean depth?"
    ]


def test_nodes_restrict_mappings_as_the_flattened_file_does(folder):
    nest = read_problem(folder / "problem.yaml")
    asked = []
    for name in ("nodes", "flat"):
        machine = fitted(read_architecture(folder / f"{name}.yaml"), nest)
        constraints = read_constraints(None, machine, nest)
        asked.append(
            {
                (level.name, loop): (
                    [
                        constraints.factor(level.name, kind, loop)
                        for kind in ("temporal", "spatial")
                    ],
                    [constraints.lies_along(level.name, loop, along) for along in "xy"],
                )
                for level in machine.levels
                for loop in nest.loops
            }
        )
        kept = machine.levels[1].kept([access.tensor for access in nest.accesses])
        assert kept - constraints.bypassed("glb") == {"Inputs", "Outputs"}
    assert asked[0] == asked[1]


@pytest.mark.parametrize("objective", ["latency", "energy"])
def test_both_forms_have_the_same_optimum(folder, objective):
    values = []
    for name in ("nodes", "flat"):
        path = folder / f"{name}.yaml"
        path.write_text(path.read_text() + ENERGIES)
        result = ithaca.map(folder / "problem.yaml", arch=path, objective=objective)
        assert result.status == "optimal"
        values.append(result.value)
    assert values[0] == values[1]


def test_the_first_format_is_read_from_the_inside(folder):
    machine = read_architecture(folder / "first.yaml")
    dram, dummy, registers = machine.levels
    assert (dram.name, dram.block, dram.read_bandwidth) == ("DRAM", 4, Fraction(3))
    assert (dummy.words, dummy.keeps, registers.words) == (None, frozenset(), 8)
    assert (machine.compute.name, machine.compute.instances, machine.compute.mesh_y) == (
        "MACs",
        16,
        4,
    )
    assert machine.unpriced == ("DRAM", "RF", "MACs")
    nest = read_problem(folder / "first.yaml")
    assert nest.loops == ("R", "S", "P", "Q", "C", "K", "N")
    constraints = read_constraints(None, machine, nest)
    assert constraints.factor("RF", "temporal", "P").low == 4
    assert constraints.innermost("RF") == ("Q", "N", "K", "C", "P", "S", "R")
    assert constraints.factor("DRAM", "spatial", "Q").high == 4


def test_costs_without_energies_are_latency_and_words(folder):
    result = ithaca.map(folder / "problem.yaml", arch=folder / "nodes.yaml", objective="latency")
    assert result.status == "optimal"
    assert "energy" not in result.headline.lower()
    result.report(folder / "report.html")
    assert "No energy is stated" in (folder / "report.html").read_text()
    with pytest.raises(InputError, match="DRAM: nothing says its energies"):
        result.export("timeloop", folder / "out")
    front = ithaca.pareto(
        folder / "problem.yaml", arch=folder / "nodes.yaml", objectives=["latency", "pes"]
    )
    assert front.status == "optimal"
    words = "DRAM.Weights.reads + DRAM.Inputs.reads + DRAM.Outputs.updates"
    off_chip = ithaca.map(folder / "problem.yaml", arch=folder / "nodes.yaml", objective=words)
    assert off_chip.value == 4 * 8 + 4 * 6 + 8 * 6  # everything once
    for given in ({"objective": "edp"}, {"objective": "latency", "limit": ["energy=1e9"]}):
        with pytest.raises(
            InputError, match=r"nothing says the energies of DRAM, glb, inputs, .* ERT"
        ):
            ithaca.map(folder / "problem.yaml", arch=folder / "nodes.yaml", **given)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    refusals("formulations-spatial-front_ends", "what_is_not_supported_is_named"),
)  # fmt: skip
def test_what_is_not_supported_is_named(folder, old, new, message):
    assert old in NODES
    (folder / "nodes.yaml").write_text(NODES.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        ithaca.map(folder / "problem.yaml", arch=folder / "nodes.yaml", objective="latency")
    assert message in str(refused.value)
    assert "nodes" in str(refused.value).partition(" ")[0]
    assert "\n" not in str(refused.value)


def test_fields_that_nobody_reads_are_named_once_or_refused(folder):
    asked = ["map", "problem.yaml", "--arch", "nodes.yaml", "--objective", "latency"]
    run = command(*asked, "--explain-files", cwd=folder)
    assert run.returncode == 0
    said = " ".join(run.stderr.split()).replace("ithaca: ", "\n")
    assert "\nnodes.yaml: nothing here depends on architecture.nodes[2].attributes.dept; did you mean depth?" in said  # fmt: skip
    assert "problem.instance.HStride; did you mean Hstride?" in said
    assert "\nglb: 1 of 256 words of 8 bits (1·1), blocks of 4, clusters of 1; keeps Inputs, Outputs; any bandwidth; energies unknown" in said  # fmt: skip
    strict = command(*asked, "--strict", cwd=folder)
    assert strict.returncode == 2
    assert "architecture.nodes[2].attributes.dept" in strict.stderr


def test_networks_are_named_where_energies_count(tmp_path):
    path = tmp_path / "arch.yaml"
    path.write_text(
        FLAT.replace("    - name: DRAM[1..1]", "    - {name: noc, class: XY_NoC}\n    - {name: count, class: counter}\n    - name: DRAM[1..1]")
    )  # fmt: skip
    machine = read_architecture(path)
    assert machine.unpriced[-1] == "noc (a network, which is not counted)"
    assert machine.unread[-1].endswith("local[2] (count of class 'counter')")


def test_of_several_sizes_of_words_the_first_holds_as_in_the_tool(tmp_path):
    (tmp_path / "arch.yaml").write_text(
        """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8, word-bits: 16, width: 64}}
  - !Component {name: glb, class: SRAM, attributes: {datawidth: 8, word_width: 32, depth: 8}}
  - !Component {name: mac, class: intmac}
"""
    )
    dram, glb = read_architecture(tmp_path).levels
    assert (dram.word_bits, dram.block, glb.word_bits) == (16, 4, 32)


ACCESSED = """
architecture:
  version: 0.3
  subtree:
  - name: top
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8}}
    - {name: reg, class: regfile, attributes: {depth: 4, word-bits: 8}}
    - {name: mac, class: intmac, attributes: {datawidth: 8}}
ERT:
  version: 0.3
  tables:
  - {name: top.DRAM, actions: [{name: read, energy: 100}, {name: write, energy: 100}]}
  - {name: top.reg, actions: [{name: access, energy: 2}]}
  - {name: top.mac, actions: [{name: compute, energy: 3}]}
"""


#: The same in version 0.2 of energy tables.
ACCESSED_2 = (
    ACCESSED.partition("ERT:")[0]
    + """ERT:
  version: 0.2
  tables:
    top.DRAM: {read: [{arguments: {address_delta: 0}, energy: 90}, {energy: 100}], write: 100}
    top.reg: {access: {energy: 2}}
    top.mac: {compute: 3}
"""
)


@pytest.mark.parametrize("text", [ACCESSED, ACCESSED_2])
def test_an_access_is_a_read_and_a_write(tmp_path, text):
    """Energies of accesses counted by hand: a product of 2 × 2 matrices, Z alone in registers."""
    (tmp_path / "arch.yaml").write_text(text)
    row = {"T:DRAM.factors": "k=2", "T:reg.factors": "i=2 j=2", "K:reg": "C", "K:DRAM": "A B C"}
    options = {"points": [row], "arch": tmp_path / "arch.yaml"}
    nest = ithaca.nest("C[i,j] += A[i,k] * B[k,j]", i=2, j=2, k=2)
    (point,) = ithaca.evaluate(nest, **options).document["points"]
    counts = {name: n for name, n in point["metrics"].items() if name.endswith(("reads", "fills"))}
    inner = counts["reg.C.reads"] + counts["reg.C.fills"] + point["metrics"]["reg.C.updates"]
    outer = counts["DRAM.A.reads"] + counts["DRAM.B.reads"] + point["metrics"]["DRAM.C.updates"]
    assert point["metrics"]["energy"] == 8 * 3 + 2 * inner + 100 * outer


def test_actions_of_no_access_are_named(tmp_path):
    (tmp_path / "arch.yaml").write_text(ACCESSED.replace("name: access", "name: read_random"))
    table = "T:DRAM.factors,T:reg.factors,sizes\nk=2,i=2 j=2,i=2 j=2 k=2\n"
    (tmp_path / "p.csv").write_text(table)
    words = ("evaluate", "mm", "--arch", tmp_path / "arch.yaml", "--points", tmp_path / "p.csv")
    stderr = succeed(*words).stderr.replace("\n      ", " ")
    assert "no energies, as nothing says those of reg; not read: ERT.reg.read_random" in stderr
    done = succeed("map", "mm", "-s", "i=2,j=2,k=2", *words[2:4], "--objective", "latency")
    assert "nothing here depends on ERT.reg.read_random" in done.stderr.replace("\n      ", " ")


SPREAD = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8, width: 64}}
  - !Container {name: column, spatial: {meshX: 4}}
  - !Container {name: PE, spatial: {meshY: 2}}
  - !Component {name: reg, class: regfile, attributes: {depth: 4, datawidth: 8}}
  - !Component {name: mac, class: intmac}
"""


def test_spatial_loops_are_named_by_the_nodes_whose_instances_they_run_over(tmp_path):
    """In constraints and in mappings, as in public designs."""
    (tmp_path / "top.yaml.jinja2").write_text(
        SPREAD + "problem: {{ {'shape': 'gemm_ABZ', 'instance': {'M': 4, 'N': 2, 'K': 2}} }}\n"
        "extra_mapping_constraints:\n  targets:\n"
        "  - {target: column, type: spatial, factors: M=4}\n"
        "  - {target: PE, type: spatial, factors: N=2}\n"
    )
    found = ithaca.timeloop_mapper(
        tmp_path / "top.yaml.jinja2", objective="latency", output=tmp_path
    )
    assert found.value == 4 * 2 * 2 / 8
    named = (tmp_path / "timeloop-mapper.map.yaml").read_text()
    assert "target: inter_PE_spatial" in named
    (tmp_path / "m.yaml").write_text(
        """mapping:
- {target: DRAM, type: temporal, factors: K=2}
- {target: column, type: spatial, factors: M=4, permutation: M, split: 1}
- {target: PE, type: spatial, factors: N=2, permutation: N, split: 0}
"""
    )
    problem = ithaca.nest("Z[M,N] += A[M,K] * B[N,K]", M=4, N=2, K=2)
    point = ithaca.evaluate(problem, arch=tmp_path, points=tmp_path / "m.yaml").rows[0]
    assert point["metrics"]["pes"] == 8
    assert point["metrics"]["latency"] == 2
