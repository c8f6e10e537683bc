"""Timeloop's files, read back against a schema of the published format and the meaning of its
keys."""

from dataclasses import replace
from math import prod
from typing import Annotated, Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import Technology
from ithaca.plugins.hierarchies.exports.timeloop.folder import TIMELOOP
from ithaca.workloads.library import workload, workload_names
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.plugins.hierarchies.exports.timeloop_rules import count, read_export

# -- the published format (Accelergy-Project/timeloopfe, v4/problem.py, arch.py, constraints.py)
# --------


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


Positive = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(gt=0)]


class Coefficient(Strict):
    name: str
    default: Positive


class DataSpace(Strict):
    name: str
    projection: list[list[list[str]]]
    read_write: bool = False


class Shape(Strict):
    name: str
    dimensions: list[Annotated[str, Field(pattern="^[A-Za-z]$")]]
    coefficients: list[Coefficient]
    data_spaces: list[DataSpace]


class Problem(Strict):
    version: Literal[0.4]
    shape: Shape
    instance: dict[str, Positive]


class Spatial(Strict):
    meshX: Positive = 1  # noqa: N815 - the published key
    meshY: Positive = 1  # noqa: N815


class StorageAttributes(Strict):
    datawidth: Positive
    width: Positive
    depth: Positive | None = None
    multiple_buffering: Positive = 1
    read_bandwidth: Rate | None = None
    write_bandwidth: Rate | None = None
    shared_bandwidth: Rate | None = None


class ComputeAttributes(Strict):
    datawidth: Positive


class Container(Strict):
    tag: Literal["!Container"]
    name: str
    attributes: dict[str, float] = {}
    spatial: Spatial = Spatial()


class Storage(Strict):
    tag: Literal["!Component"]
    name: str
    class_: Annotated[Literal["DRAM", "SRAM", "regfile", "dummy_storage"], Field(alias="class")]
    attributes: StorageAttributes


class Compute(Strict):
    tag: Literal["!Component"]
    name: str
    class_: Annotated[Literal["intmac", "fpmac"], Field(alias="class")]
    attributes: ComputeAttributes


class Architecture(Strict):
    version: Literal[0.4]
    nodes: list[Container | Storage | Compute]


class Keep(Strict):
    target: str
    type: Literal["dataspace"]
    keep: list[str] = []
    bypass: list[str] = []


class Loops(Strict):
    target: str
    type: Literal["temporal", "spatial"]
    factors: list[Annotated[str, Field(pattern="^[A-Za-z]=[1-9][0-9]*$")]]
    permutation: list[str]
    no_reuse: list[str] = []
    no_link_transfer: list[str] = []

    @property
    def trips(self):
        return {factor[0]: int(factor[2:]) for factor in self.factors}


class Files(BaseModel):
    problem: Problem
    architecture: Architecture
    mapping: list[Keep | Loops]


class Loader(yaml.SafeLoader):
    """Reads tagged nodes as mappings with a key ``tag``."""


Loader.add_multi_constructor(
    "!",
    lambda loader, suffix, node: {"tag": f"!{suffix}", **loader.construct_mapping(node, deep=True)},
)


def load(files):
    parts = {}
    for name in ("problem.yaml", "architecture.yaml", "mapping.yaml"):
        document = yaml.load(files[name], Loader)
        assert not set(document) & set(parts)
        parts |= document
    assert sorted(parts) == ["architecture", "mapping", "problem"]
    return Files.model_validate(parts, strict=True)


# -- configurations ----------------------------------------------------------------------


def configuration(name, dataflow, sizes, permutation="", simd=2):
    nest = workload(name, sizes)
    array = derive(nest, tuple(dataflow), permutation or nest.output.tensor)
    t2 = dict.fromkeys(array.latency_hiding_loops, 2)
    packs = {group.name: simd for group in array.packed_groups}
    return ArrayConfiguration(
        nest, array, data_type("int16"), Tiling(dict.fromkeys(nest.band, 4), t2, simd, packs)
    )


CONV = {"o": 6, "r": 5, "c": 7, "i": 9, "p": 3, "q": 2}
CONFIGURATIONS = [
    *(
        configuration("mm", dataflow, {"i": 5, "j": 7, "k": 9})
        for dataflow in ("i", "j", "k", "ij", "ik", "jk")
    ),
    *(
        configuration("conv2d", dataflow, CONV)
        for dataflow in ("o", "r", "i", "or", "oi", "rc", "ci")
    ),
    configuration("conv2d", "or", {**CONV, "s": 2}),
    configuration("conv2d", "oi", {**CONV, "s": 3, "d": 2}),
    configuration("mm", "ij", {"i": 5, "j": 7, "k": 9}, permutation="A"),
    configuration("depthwise_conv2d", "or", {"o": 6, "r": 5, "c": 7, "p": 3, "q": 3}),
    configuration("mttkrp", "ij", {"i": 5, "j": 6, "k": 7, "l": 8}),
    configuration("batched_mm", "bi", {"b": 3, "i": 5, "j": 6, "k": 7}),
    configuration("mv", "i", {"i": 9, "j": 10}),
]

everything = pytest.mark.parametrize(
    "chosen", CONFIGURATIONS, ids=lambda c: f"{c.nest.name} {c.design.name}"
)


@everything
def test_files_load_and_fit_each_other(chosen):
    files = load(TIMELOOP.export(chosen))
    dimensions = files.problem.shape.dimensions
    spaces = [space.name for space in files.problem.shape.data_spaces]
    names = [node.name for node in files.architecture.nodes]
    assert len(set(names)) == len(names)
    assert isinstance(files.architecture.nodes[-1], Compute)
    for node in files.architecture.nodes[1:-1]:  # all but the system and the multipliers have loops
        loops = [
            entry
            for entry in files.mapping
            if isinstance(entry, Loops) and entry.target == node.name
        ]
        keeps = [
            entry
            for entry in files.mapping
            if isinstance(entry, Keep) and entry.target == node.name
        ]
        assert [entry.type for entry in loops] == [
            "spatial" if isinstance(node, Container) else "temporal"
        ]
        assert len(keeps) == isinstance(node, Storage)
        for keep in keeps:
            assert sorted(keep.keep + keep.bypass) == sorted(spaces)
            assert bool(keep.keep) == (node.class_ != "dummy_storage")
    for entry in files.mapping:
        assert entry.target in names
        if isinstance(entry, Loops):
            assert sorted(entry.permutation) == sorted(dimensions)
            assert list(entry.trips) == dimensions
    # targets follow the architecture, outermost first
    assert list(dict.fromkeys(entry.target for entry in files.mapping)) == names[1:-1]


@everything
def test_loops_are_the_padded_ones_lanes_the_designs_and_tiles_fit(chosen):
    """Read by rules written anew, which ask that factors multiply to the extents."""
    counts = count(read_export(TIMELOOP.export(chosen)))
    costs = evaluate(chosen.design, chosen.quantities, chosen.data, FRACTION)
    assert counts.macs == prod(chosen.padded[loop] for loop in chosen.nest.loops)
    assert counts.multipliers == costs.comp
    assert counts.overfull == {}


@everything
def test_projections_are_the_statement(chosen):
    problem = load(TIMELOOP.export(chosen)).problem
    numbers = {coefficient.name: coefficient.default for coefficient in problem.shape.coefficients}
    assert {name: problem.instance[name] for name in numbers} == numbers
    assert set(problem.instance) == set(problem.shape.dimensions) | set(numbers)

    def text(space):
        terms = [
            ["*".join([*(str(numbers[f]) for f in product[1:]), product[0]]) for product in dim]
            for dim in space.projection
        ]
        return space.name + "".join(f"[{'+'.join(dim)}]" for dim in terms)

    assert [text(space) for space in problem.shape.data_spaces] == [
        str(access) for access in chosen.nest.accesses
    ]
    assert [s.name for s in problem.shape.data_spaces if s.read_write] == [
        chosen.nest.output.tensor
    ]


def test_the_clock_is_the_platforms_and_words_are_the_types():
    chosen = configuration("mm", "ij", {"i": 5, "j": 7, "k": 9})
    files = load(TIMELOOP.export(replace(chosen, technology=Technology(clock_mhz=200))))
    assert files.architecture.nodes[0].attributes == {
        "technology": -1,
        "global_cycle_seconds": 5e-9,
    }
    buffers = {n.name: n.attributes for n in files.architecture.nodes if isinstance(n, Storage)}
    assert (buffers["DRAM"].width, buffers["DRAM"].datawidth) == (512, 16)
    # two lanes × (2 × 4) words, doubled, two words wide
    assert buffers["A_IO_L2_in"] == StorageAttributes(
        datawidth=16, width=32, depth=16, multiple_buffering=2, write_bandwidth=2.0
    )
    assert files.architecture.nodes[-1].class_ == "intmac"


@pytest.mark.parametrize(
    "edition",
    [
        pytest.param(Edition.EXACT, marks=pytest.mark.slow),
        pytest.param(Edition.ODYSSEY, marks=pytest.mark.slow),
        None,
    ],
)
def test_every_design_of_every_kernel_exports(edition):
    for name in workload_names():
        nest = workload(name, dict.fromkeys(workload(name).loops, 6))
        assert TIMELOOP.nest_obstacles(nest) == ()
        for array in designs(nest, edition) if edition else designs(nest)[-1:]:
            packs = {group.name: 1 for group in array.packed_groups}
            tiling = Tiling(
                dict.fromkeys(nest.band, 4), dict.fromkeys(array.latency_hiding_loops, 2), 1, packs
            )
            load(TIMELOOP.export(ArrayConfiguration(nest, array, data_type("fp32"), tiling)))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "C[i][j] += A[i+1][k] * B[j][k]",
            "subscript i+1 of A[i+1][k]: projections have no constants",
        ),
        (
            "C[i][j] += A[i][0][k] * B[j][k]",
            "subscript 0 of A[i][0][k]: projections have no constants",
        ),
        (
            "C[i][j] += A[i-k][k] * B[j][k]",
            "subscript i+-1*k of A[i+-1*k][k]: projections have no negative",
        ),
        ("C[row][j] += A[row][k] * B[j][k]", "loop 'row': dimensions are single letters"),
    ],
)
def test_what_the_format_cannot_state_is_refused(statement, expected):
    output, inputs = parse_statement(statement)
    loops = dict.fromkeys([*output.loops, "k"], 8)
    nest = LoopNest("mine", tuple(loops.items()), output, inputs, "k")
    (reason,) = TIMELOOP.nest_obstacles(nest)
    assert reason.startswith(expected.replace("+-", "-"))
    array = derive(nest, nest.band[:1], "C")
    tiling = Tiling(
        dict.fromkeys(nest.band, 4), dict.fromkeys(array.latency_hiding_loops, 1), 1, {}
    )
    with pytest.raises(InputError, match=r"^Timeloop cannot express"):
        TIMELOOP.export(ArrayConfiguration(nest, array, data_type("fp32"), tiling))
