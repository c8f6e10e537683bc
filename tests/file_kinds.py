"""Files of every kind that Ithaca reads.

Seeds are what the guide shows, what comes with Ithaca, and small answers.
"""

import io
import json
import re
import shutil
import tempfile
import zipfile
from fractions import Fraction
from functools import cache
from pathlib import Path

from ithaca.commands.api.opening import read_answer
from ithaca.exports.programs.solutions import configurations_of
from ithaca.files.reading import read_document
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.platform_files import read_platform
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.points import evaluate_points, load_points
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.descriptors.formulations.arrays import load_descriptor
from ithaca.plugins.flow.formulations.graph import find_graph
from ithaca.plugins.hierarchies.formulations.architecture_files import (
    architecture_document,
    read_architecture,
    read_tree,
)
from ithaca.plugins.hierarchies.formulations.compound_components import (
    compound_classes,
)
from ithaca.plugins.hierarchies.formulations.constraint_files import read_constraints
from ithaca.plugins.hierarchies.formulations.energy_estimates import estimated_table
from ithaca.plugins.hierarchies.formulations.library import fitted
from ithaca.plugins.hierarchies.formulations.mapper_files import read_mapper_files
from ithaca.plugins.hierarchies.formulations.points import load_points as load_mappings
from ithaca.plugins.hierarchies.formulations.statistics_files import read_statistics
from ithaca.plugins.keras.workloads.source import CONFIG, HDF5
from ithaca.plugins.recurrences.workloads.kind import find_recurrence
from ithaca.plugins.rtl.commands.building import _stated
from ithaca.workloads.layer_files import read_layers
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.problem_files import read_problem
from tests import other_kinds
from tests.mutants import Kind, mutated_bytes
from tests.plugins.hierarchies.formulations import test_energy_estimates as estimates
from tests.plugins.hierarchies.formulations import test_front_ends as front_ends
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.results.forgeries import QUICK, written

ROOT = Path(__file__).parents[1]

PROBLEM = """
problem:
  version: 0.4
  shape:
    name: conv
    dimensions: [M, C, P, R]
    coefficients: [{name: stride, default: 1}]
    data_spaces:
    - {name: Weights, projection: [[[M]], [[C]], [[R]]]}
    - {name: Inputs, projection: [[[C]], [[P, stride], [R]]]}
    - {name: Outputs, projection: [[[M]], [[P]]], read_write: true}
  instance: {M: 8, C: 4, P: 8, R: 3, stride: 2, densities: {Inputs: {distribution: hypergeometric, density: 0.5}}}
"""

MAPPER = (
    """
architecture:
  version: 0.4
  subtree:
  - name: system
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 16, width: 64, read_bandwidth: 4}}
    - {name: "RF[0..3]", class: regfile, attributes: {depth: 16, width: 16, meshX: 2}}
    - {name: "MAC[0..3]", class: intmac, attributes: {energy: 1, meshX: 2}}
ERT:
  version: 0.4
  tables:
  - {name: "system.DRAM", actions: [{name: read, energy: 5}, {name: write, energy: 6}]}
  - {name: "system.RF[0..3]", actions: [{name: read, energy: 1}, {name: write, energy: 2}]}
mapper:
  version: 0.4
  optimization_metrics: [delay, energy]
  search_size: 100
  num_threads: 8
architecture_constraints:
  targets: [{target: RF, type: temporal, factors: R=1}]
"""
    + PROBLEM
)

#: What a folder of hardware states.
BUILT = json.dumps(
    {
        "rtl": {
            "design": "[i,j] C",
            "machine": {"swap": 1, "entry": 0},
            "elements": 4,
            "macs": 64,
            "cycle": 33.5,
            "simulated": 34,
            "hangs": False,
            "proven": True,
            "vectors": True,
            "dsp": 5,
            "bram18k": 2.5,
            "memory": {"latency": 100},
        }
    }
)

KERAS = json.dumps(
    {
        "class_name": "Functional",
        "config": {
            "layers": [
                {"class_name": "InputLayer", "name": "x", "config": {"batch_shape": [None, 6, 3]}}
                | {"inbound_nodes": []},
                {"class_name": "Conv1D", "name": "c", "config": {"filters": 4, "kernel_size": [3]}}
                | {"inbound_nodes": [[["x", 0, 0, {}]]]},
                {"class_name": "GRU", "name": "g", "config": {"units": 2, "return_sequences": True}}
                | {"inbound_nodes": [[["c", 0, 0, {}]]]},
                {"class_name": "Reshape", "name": "r", "config": {"target_shape": [2, -1]}}
                | {"inbound_nodes": [[["g", 0, 0, {}]]]},
            ],
            "input_layers": [["x", 0, 0]],
            "output_layers": [["r", 0, 0]],
        },
    }
)

MAPPING = """
mapping:
- {target: DRAM, type: temporal, factors: M=2 C=1 P=1 R=1, permutation: RPCM}
- {target: Buffer, type: temporal, factors: M=1 C=4 P=8 R=3, permutation: RPCM}
- {target: Buffer, type: spatial, factors: M=4 C=1 P=1 R=1, permutation: RPCM, split: 1}
- {target: RF, type: temporal, factors: M=1 C=1 P=1 R=1, permutation: RPCM}
- {target: DRAM, type: datatype, keep: [Weights, Inputs, Outputs], bypass: []}
"""

#: The same as Timeloop prints it.
PRINTED_MAPPING = """
DRAM [ Weights:96 (96) Inputs:40 (40) Outputs:64 (64) ]
-------------------------------------------------------
| for M in [0:2)

Buffer [ Weights:48 (48) Inputs:40 (40) Outputs:32 (32) ]
---------------------------------------------------------
|   for C in [0:4)
|     for P in [0:8)
|       for R in [0:3)
|         for M in [0:4) (Spatial-X)

RF [ Weights:1 (1) Inputs:1 (1) Outputs:1 (1) ]
-----------------------------------------------
|           << Compute >>
"""

#: A configuration of a product of 8 by 8 by 8, as three solvers write it.
SOLVED = {
    **{"t2_i": 4, "lanes_i": 2, "t1_i": 8, "tiles_i": 1, "t2_j": 8, "lanes_j": 1, "t1_j": 8},
    **{"tiles_j": 1, "t2_k": 4, "lanes_k": 1, "t1_k": 4, "tiles_k": 2},
    **{"pack_C_drain": 4, "pack_A": 4, "pack_B": 4},
}
SOLUTIONS = (
    "# Solution\n" + "".join(f"{name} {value}\n" for name, value in SOLVED.items()),
    "objective value:   97\n" + "".join(f"{n}   {v}.00001 (obj:0)\n" for n, v in SOLVED.items()),
    "".join(f'<variable name="{n}" index="0" value="{v}"/>' for n, v in SOLVED.items()),
)


STATISTICS = """
Buffer and Arithmetic Levels
----------------------------
Level 1
-------
=== Buffer ===
    STATS
    -----
    Cycles               : 36
    Weights:
        Scalar reads (per-instance)              : 72
        Energy (total)                           : 5.50 pJ

Summary Stats
-------------
Utilization: 75.00%
Cycles: 36
EDP(J*cycle): 2.36e-07

Computes = 144
fJ/Compute
    Buffer                                          = 250.00
"""


def titled(*pages):
    """The files that pages of the guide show, by name."""
    text = "".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.DOTALL | re.MULTILINE)
    return dict(blocks)


def packaged(folder):
    """The documents that come with Ithaca in a folder."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).glob("*.yaml"))]
    assert texts, folder
    return texts


@cache
def _problem():
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "problem.yaml").write_text(PROBLEM)
        return read_problem(folder / "problem.yaml")
    finally:
        shutil.rmtree(folder)


@cache
def _machine():
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "nodes.yaml").write_text(
            titled("input-files", "hardware-files", "space-files")["nodes.yaml"]
        )
        return read_architecture(folder / "nodes.yaml")
    finally:
        shutil.rmtree(folder)


def _architecture(path):
    """Read an architecture, and the energies of its components, of which every one is known."""
    fitted(read_architecture(path), _problem(), dense=False)
    file, document = architecture_document(path)
    classes = compound_classes(document, file)
    if not document.get("ERT"):
        estimated_table(read_tree(document, file)[1].elements, classes, lambda part: (1, ""), {})
    return


def _hardware(path):
    folder = path.parent
    (folder / "vectors").mkdir(exist_ok=True)
    path.rename(folder / "expected.json")
    return _stated(folder)


def _mapper(path):
    return read_mapper_files([path])


def _workload(path):
    nest = workload(str(path))
    assert nest.band
    assert str(nest).isprintable()
    return nest


def _platform(path):
    """A platform, of which no more can be used than there is."""
    platform = read_platform(str(path))
    assert all(0 < resource.usable <= 1 for resource in platform.resources.values())
    assert platform.name.isprintable()
    return platform


def _descriptor(path):
    """An array, which takes time in any tiles."""
    array = load_descriptor(path, workload("mm"))
    values = {f"pack.{group.name}": Fraction(2) for group in array.groups}
    for name, value in (("t1", 4), ("t2", 2), ("lanes", 2), ("tiles", 3), ("extent", 12)):
        values |= {f"{name}.{loop}": Fraction(value) for loop in "ijk"}
    assert evaluate(array, values, DATA_TYPES["fp32"], FRACTION).latency > 0
    return array


def _answers():
    return tuple(map(written, QUICK))


def _answer(path):
    return read_answer(read_document(path), path)


@cache
def kinds():
    pages = titled("input-files", "hardware-files", "space-files")
    spatial = titled(
        "memory-hierarchies", "best-mapping", "evaluating-mappings", "published-models"
    )
    fused, recipes = (
        titled("fusing", "fused-tiles"),
        titled("recipes", "fronts", "own-problems", "networks", "using-results"),
    )
    graphs = titled("flow-graphs")
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w") as archive:
        archive.writestr(CONFIG, KERAS)
    compounds = estimates.ARCHITECTURE + estimates.CLASSES
    architectures = [
        pages["nodes.yaml"],
        pages["subtree.yaml"],
        *(spatial[name] for name in ("arch.yaml", "nested.yaml", "sparse.yaml")),
        *packaged("plugins/hierarchies/formulations/architectures"),
        compounds,
        front_ends.FIRST,
    ]
    return {
        kind.name: kind
        for kind in (
            Kind(
                "workload",
                ".yaml",
                (
                    pages["layer.yaml"],
                    pages["tensors.yaml"],
                    recipes["layer.yaml"],
                    *packaged("workloads/kernels"),
                ),
                _workload,
            ),
            Kind(
                "recurrence",
                ".yaml",
                (
                    pages["sums.yaml"],
                    recipes["band.yaml"],
                    *packaged("plugins/recurrences/workloads/data"),
                ),
                lambda path: find_recurrence(str(path), {}),
            ),
            Kind(
                "network",
                ".yaml",
                (
                    pages["tiny.yaml"],
                    fused["attention.yaml"],
                    *packaged("workloads/networks/data")[:6],
                ),
                lambda path: find_network(str(path)),
            ),
            Kind("Keras model", ".json", (KERAS,), lambda path: find_network(str(path))),
            *(
                Kind(
                    f"Keras {ending}",
                    ending,
                    (),
                    lambda path: find_network(str(path)),
                    mutated_bytes,
                    (content,),
                )
                for ending, content in (
                    (".keras", archived.getvalue()),
                    (".h5", HDF5 + KERAS.encode()),
                )
            ),
            Kind(
                "configuration",
                ".yaml",
                tuple(packaged("plugins/hub/workloads/data")),
                lambda path: find_network(str(path)),
            ),
            Kind(
                "platform",
                ".yaml",
                (
                    pages["board.yaml"],
                    pages["chip.yaml"],
                    recipes["my_board.yaml"],
                    *packaged("formulations/platforms"),
                ),
                _platform,
            ),
            Kind(
                "problem",
                ".yaml",
                (pages["problem.yaml"], spatial["product.yaml"], PROBLEM),
                read_problem,
            ),
            Kind("architecture", ".yaml", tuple(architectures), _architecture),
            Kind(
                "constraints",
                ".yaml",
                (pages["constraints.yaml"],),
                lambda path: read_constraints(path, _machine(), _problem()),
            ),
            Kind("mapper", ".yaml", (MAPPER,), _mapper),
            Kind(
                "space",
                ".yaml",
                (
                    pages["space.yaml"],
                    pages["arrays.yaml"],
                    pages["stated.yaml"],
                    *packaged("plugins/codesign/formulations/spaces"),
                ),
                lambda path: find_space(str(path)),
            ),
            Kind(
                "graph",
                ".yaml",
                (
                    pages["graph.yaml"],
                    graphs["pruned.yaml"],
                    graphs["pooled.yaml"],
                    *packaged("plugins/flow/formulations/graphs"),
                ),
                lambda path: find_graph(str(path)),
            ),
            Kind(
                "mapping",
                ".yaml",
                (MAPPING,),
                lambda path: load_mappings(path, _machine(), _problem()),
            ),
            Kind(
                "points",
                ".csv",
                (titled("cost-model", "cycles-and-energy")["anchors.csv"],),
                lambda path: evaluate_points(load_points(path, workload("mm"), DATA_TYPES["fp32"])),
            ),
            Kind(
                "mappings",
                ".csv",
                (spatial["mappings.csv"].replace("conv,", ",").replace("workload,", "sizes,"),),
                lambda path: load_mappings(path, _machine(), _problem()),
            ),
            Kind(
                "printed mapping",
                ".txt",
                (),
                lambda path: load_mappings(path, _machine(), _problem()),
                mutated_bytes,
                (PRINTED_MAPPING.encode(),),
            ),
            Kind(
                "solution",
                ".sol",
                (),
                lambda path: configurations_of(path, [mm_problem((8, 8, 8), MM_DATAFLOWS[0])]),
                mutated_bytes,
                tuple(text.encode() for text in SOLUTIONS),
            ),
            Kind("statistics", ".txt", (), read_statistics, mutated_bytes, (STATISTICS.encode(),)),
            Kind("layers", ".csv", (spatial["layers.csv"],), read_layers),
            Kind("answer", ".json", _answers, _answer),
            Kind(
                "descriptor",
                ".json",
                tuple(
                    path.read_text()
                    for path in sorted((ROOT / "tests/plugins/descriptors/data").glob("*.json"))
                ),
                _descriptor,
            ),
            Kind("hardware", ".json", (BUILT,), _hardware),
            *other_kinds.kinds(),
        )
    }
