"""Files of every kind that Ithaca reads, and mutants of them.

Seeds are what the guide shows, what comes with Ithaca, and answers of earlier versions.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from ithaca.commands.api.opening import read_answer, read_document
from ithaca.files.timeloop_files import MAX_DEPTH, TAGS
from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.hardware.files import find_space
from ithaca.formulations.platform_files import read_platform
from ithaca.formulations.systolic.descriptors import load_descriptor
from ithaca.formulations.systolic.points import load_points
from ithaca.plugins.flow.formulations.graph import find_graph
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
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
from ithaca.plugins.recurrences.workloads.kind import find_recurrence
from ithaca.plugins.rtl.commands.building import _stated
from ithaca.workloads.layer_files import read_layers
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.problem_files import read_problem
from tests.plugins.hierarchies.formulations import test_energy_estimates as estimates
from tests.plugins.hierarchies.formulations import test_front_ends as front_ends
from tests.reference import unpack

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

MAPPING = """
mapping:
- {target: DRAM, type: temporal, factors: M=2 C=1 P=1 R=1, permutation: RPCM}
- {target: Buffer, type: temporal, factors: M=1 C=4 P=8 R=3, permutation: RPCM}
- {target: Buffer, type: spatial, factors: M=4 C=1 P=1 R=1, permutation: RPCM, split: 1}
- {target: RF, type: temporal, factors: M=1 C=1 P=1 R=1, permutation: RPCM}
- {target: DRAM, type: datatype, keep: [Weights, Inputs, Outputs], bypass: []}
"""


@dataclass(frozen=True)
class Kind:
    """A kind of files."""

    name: str
    ending: str
    seeds: tuple[str, ...]
    """Texts of files that are read."""
    read: Callable[[Path], object]


def titled(page: str) -> dict[str, str]:
    """The files that a page of the guide shows, by name."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.DOTALL | re.MULTILINE)
    return dict(blocks)


def packaged(folder: str) -> list[str]:
    """The documents that come with Ithaca in a folder."""
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).glob("*.yaml"))]


@cache
def _problem() -> LoopNest:
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "problem.yaml").write_text(PROBLEM)
        return read_problem(folder / "problem.yaml")
    finally:
        shutil.rmtree(folder)


@cache
def _machine() -> Architecture:
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "nodes.yaml").write_text(titled("input-files")["nodes.yaml"])
        return read_architecture(folder / "nodes.yaml")
    finally:
        shutil.rmtree(folder)


def _architecture(path: Path) -> object:
    """Read an architecture, and the energies of its components, of which every one is known."""
    fitted(read_architecture(path), _problem(), dense=False)
    file, document = architecture_document(path)
    classes = compound_classes(document, file)
    if not document.get("ERT"):
        estimated_table(read_tree(document, file)[1].elements, classes, lambda part: (1, ""), {})
    return None


def _hardware(path: Path) -> object:
    folder = path.parent
    (folder / "vectors").mkdir(exist_ok=True)
    path.rename(folder / "expected.json")
    return _stated(folder)


def _mapper(path: Path) -> object:
    return read_mapper_files([path])


def _answer(path: Path) -> object:
    return read_answer(read_document(path), path)


@cache
def kinds() -> dict[str, Kind]:
    shown = titled("input-files")
    spatial = titled("memory-hierarchies")
    fused, recipes = titled("fusing"), titled("recipes")
    graphs = titled("flow-graphs")
    archive = Path(tempfile.mkdtemp())
    try:
        unpack(ROOT / "tests" / "results" / "data" / "older.tar.xz", archive)
        answers = tuple(path.read_text() for path in sorted(archive.rglob("*.json")))
    finally:
        shutil.rmtree(archive)
    compounds = estimates.ARCHITECTURE + estimates.CLASSES
    architectures = [
        shown["nodes.yaml"],
        shown["subtree.yaml"],
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
                    shown["layer.yaml"],
                    shown["tensors.yaml"],
                    recipes["layer.yaml"],
                    *packaged("workloads/kernels"),
                ),
                lambda path: workload(str(path)),
            ),
            Kind(
                "recurrence",
                ".yaml",
                (
                    shown["sums.yaml"],
                    recipes["band.yaml"],
                    *packaged("plugins/recurrences/workloads/data"),
                ),
                lambda path: find_recurrence(str(path), {}),
            ),
            Kind(
                "network",
                ".yaml",
                (
                    shown["tiny.yaml"],
                    fused["attention.yaml"],
                    *packaged("workloads/networks/data")[:6],
                ),
                lambda path: find_network(str(path)),
            ),
            Kind(
                "platform",
                ".yaml",
                (
                    shown["board.yaml"],
                    shown["chip.yaml"],
                    recipes["my_board.yaml"],
                    *packaged("formulations/platforms"),
                ),
                lambda path: read_platform(str(path)),
            ),
            Kind(
                "problem",
                ".yaml",
                (shown["problem.yaml"], spatial["product.yaml"], PROBLEM),
                read_problem,
            ),
            Kind("architecture", ".yaml", tuple(architectures), _architecture),
            Kind(
                "constraints",
                ".yaml",
                (shown["constraints.yaml"],),
                lambda path: read_constraints(path, _machine(), _problem()),
            ),
            Kind("mapper", ".yaml", (MAPPER,), _mapper),
            Kind(
                "space",
                ".yaml",
                (
                    shown["space.yaml"],
                    shown["arrays.yaml"],
                    shown["stated.yaml"],
                    *packaged("formulations/hardware/spaces"),
                ),
                lambda path: find_space(str(path)),
            ),
            Kind(
                "graph",
                ".yaml",
                (
                    shown["graph.yaml"],
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
                (titled("cost-model")["anchors.csv"],),
                lambda path: load_points(path, workload("mm"), DATA_TYPES["fp32"]),
            ),
            Kind(
                "mappings",
                ".csv",
                (spatial["mappings.csv"].replace("conv,", ",").replace("workload,", "sizes,"),),
                lambda path: load_mappings(path, _machine(), _problem()),
            ),
            Kind("layers", ".csv", (spatial["layers.csv"],), read_layers),
            Kind("answer", ".json", answers, _answer),
            Kind(
                "descriptor",
                ".json",
                tuple(
                    path.read_text()
                    for path in sorted((ROOT / "tests/formulations/data").glob("*.json"))
                ),
                lambda path: load_descriptor(path, workload("mm")),
            ),
            Kind("hardware", ".json", (BUILT,), _hardware),
        )
    }


#: What a value is replaced by.
STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1e-300, 1e300),
    *(10**18, 10**40, 10**299, 2**63, -(2**63)),
    *("", " ", "x", "nan", "inf", "-1", "0", "1/0", "x/(x-x)", "ceil(1/0)", "9" * 30),
    *("é×≤\u202e\u2028", "\U0001f600", "\x1b[31m", "a" * 3000, "(" * 300, "{{ 1 }}"),
    *("../../../../etc/passwd", "/dev/zero", "__class__"),
    *([], [[]], [None], {}, {"": {}}, {"x": 1}, [1, 2, 3], ["x", "x"], {"a": {"b": {"c": {}}}}),
    list(range(300)),
    {f"key{n}": n for n in range(300)},
)


def items_of(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def places(value: Any, steps: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to everything inside a document."""
    return [
        path
        for key, own in items_of(value)
        for path in ((*steps, key), *places(own, (*steps, key)))
    ]


def mutated(document: Any, draw: random.Random) -> Any:
    """A copy of a document with one to three changes of structure."""
    document = deepcopy(document)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        every = places(document)
        if not every:
            return deepcopy(draw.choice(STRANGE))
        *steps, last = draw.choice(every)
        around: Any = reduce(getitem, steps, document)
        around[last], own = deepcopy(draw.choice(STRANGE)), around[last]
        match draw.randrange(10):
            case 4:
                del around[last]
            case 5 if isinstance(around, list):
                around[last : last + 1] = [own, deepcopy(own)]
            case 5:
                around[last] = own
                around[draw.choice(("x", f"{last}x", f"{last}".upper(), "name", "", "é"))] = own
            case 6:
                around[last] = draw.choice(([own], {"x": own}, {str(last): own}, [own, own]))
            case 7:
                around[last] = own
                around[last] = deepcopy(reduce(getitem, draw.choice(every), document))
            case 8 if isinstance(own, int | float):
                around[last] = draw.choice(
                    (-own, own + 1, own * 1000, own + 0.5, str(own), own - own)
                )
            case 8 if isinstance(own, str):
                changes = (own + own, own[1:], own.upper(), own + " + 1", f"({own})", own[::-1])
                around[last] = draw.choice(changes)
            case 9:
                for _ in range(draw.choice((2, 9, 50, 200))):
                    own = draw.choice(([own], {"x": own}))
                around[last] = own
    return document


#: What stands in texts.
PIECES = (
    *(b"", b"[", b"]", b"{", b"}", b":", b",", b'"', b"'", b"\\", b"\n", b"\t", b"- ", b"#", b"="),
    *(b"&a ", b"*a", b"!x ", b"|", b">", b"---\n", b"\0", b"\xff", b"{{", b"{%", b"<<: "),
    *(b"1e999", b"NaN", b"-Infinity", b"0x10", b"-1", b"0", b"99999999999999999999"),
)


def mutated_text(text: str, draw: random.Random) -> bytes:
    """A text with one to three changes of bytes."""
    raw = bytearray(text.encode())
    for _ in range(draw.choice((1, 1, 2, 3))):
        at, length = draw.randrange(len(raw) + 1), draw.choice((0, 1, 1, 2, 10, 100))
        noise = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 4)))
        again = bytes(raw[at : at + 20]) * draw.choice((1, 2, 50))
        raw[at : at + length] = draw.choice((draw.choice(PIECES), noise, again))
    return bytes(raw)


@cache
def document(text: str, ending: str) -> Any:
    if ending == ".json":
        return json.loads(text)
    return parse_yaml(text, "seed", (*TAGS, "!Arrays"), MAX_DEPTH, references=True)


def drawn(kind: Kind, draw: random.Random) -> tuple[str, bytes]:
    """A mutant of a kind: the ending of its name, and its content."""
    text = draw.choice(kind.seeds)
    if kind.ending == ".csv" or draw.random() < 0.25:
        return kind.ending, mutated_text(text, draw)
    ending = kind.ending if kind.name == "mapping" else ".json"
    return ending, json.dumps(mutated(document(text, kind.ending), draw)).encode()
