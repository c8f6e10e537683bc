"""SCALE-Sim's files, against the published format, and by its own parser where it is installed."""

import configparser
import csv
from io import StringIO
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

import ithaca
from ithaca.commands.api.exporting import export as export_result
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.tables.exports.scalesim.folder import SCALESIM
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.exports.test_export_command import result_file

# -- the published format (scalesim-project/SCALE-Sim, configs/scale.cfg and topologies/)
# ----------------

Positive = Annotated[int, Field(ge=1)]
Switch = Literal["True", "False"]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid")


class General(Section):
    run_name: str


class Architecture(Section):
    arrayheight: Positive
    arraywidth: Positive
    ifmapsramszkb: Positive
    filtersramszkb: Positive
    ofmapsramszkb: Positive
    ifmapoffset: int
    filteroffset: int
    ofmapoffset: int
    bandwidth: Positive
    dataflow: Literal["os", "ws", "is"]
    memorybanks: Positive
    readrequestbuffer: Positive
    writerequestbuffer: Positive


class Layout(Section):
    ifmapcustomlayout: Switch
    ifmapsrambankbandwidth: Positive
    ifmapsrambanknum: Positive
    ifmapsrambankport: Positive
    filtercustomlayout: Switch
    filtersrambankbandwidth: Positive
    filtersrambanknum: Positive
    filtersrambankport: Positive


class Sparsity(Section):
    sparsitysupport: Literal["true", "false"]
    sparserep: str
    optimizedmapping: Literal["true", "false"]
    blocksize: Positive
    randomnumbergeneratorseed: int


class Run(Section):
    interfacebandwidth: Literal["USER", "CALC"]
    useramulatortrace: Switch


class Configurations(Section):
    general: General
    architecture_presets: Architecture
    layout: Layout
    sparsity: Sparsity
    run_presets: Run


class Convolution(BaseModel):
    ifmap_height: Positive
    ifmap_width: Positive
    filter_height: Positive
    filter_width: Positive
    channels: Positive
    num_filter: Positive
    strides: Positive


CONV_HEADER = [
    "Layer name",
    "IFMAP Height",
    "IFMAP Width",
    "Filter Height",
    "Filter Width",
    "Channels",
    "Num Filter",
    "Strides",
    "",
]


def read_configuration(files):
    parser = configparser.ConfigParser()
    parser.read_string(files["scale.cfg"])
    return Configurations.model_validate({name: dict(parser[name]) for name in parser.sections()})


def read_topology(files):
    """Header, and the numbers of the only layer; every line ends with a comma."""
    header, row, *more = list(csv.reader(StringIO(files["topology.csv"])))
    assert more == []
    assert header[-1] == row[-1] == ""
    assert row[0] != ""
    assert "DP" not in row[0]
    return header, [int(cell) for cell in row[1:-1]]


# -- configurations ----------------------------------------------------------------------


def configuration(name, dataflow, sizes, simd=2, dtype="fp32"):
    nest = workload(name, sizes)
    array = derive(nest, tuple(dataflow), nest.output.tensor)
    parts = {loop: 4 + 4 * at for at, loop in enumerate(nest.band)}
    t2 = dict.fromkeys(array.latency_hiding_loops, 2)
    packs = {group.name: 1 for group in array.packed_groups}
    return ArrayConfiguration(nest, array, data_type(dtype), Tiling(parts, t2, simd, packs))


MM = {"i": 24, "j": 40, "k": 72}
CONV = {"o": 8, "r": 6, "c": 5, "i": 16, "p": 3, "q": 2}

#: Dataflow, rows and columns. Lanes are (4, 8, 12)/2 of i, j, k, and (4, 8, 12, 16)/2 of o, r, c,
#: i.
EXPECTED = [
    ("mm", "ij", "os", 2, 4),
    ("mm", "i", "os", 2, 1),
    ("mm", "j", "os", 1, 4),
    ("mm", "ik", "is", 6 * 2, 2),
    ("mm", "jk", "ws", 6 * 2, 4),
    ("conv2d", "o", "os", 1, 2),
    ("conv2d", "r", "os", 4, 1),
    ("conv2d", "c", "os", 6, 1),
    ("conv2d", "or", "os", 4, 2),
    ("conv2d", "oc", "os", 6, 2),
    ("conv2d", "oi", "ws", 8 * 2, 2),
    ("conv2d", "ri", "is", 8 * 2, 4),
    ("conv2d", "ci", "is", 8 * 2, 6),
]


@pytest.mark.parametrize(("name", "dataflow", "expected", "rows", "columns"), EXPECTED)
def test_dataflows_and_arrays(name, dataflow, expected, rows, columns):
    chosen = configuration(name, dataflow, MM if name == "mm" else CONV)
    files = SCALESIM.export(chosen)
    assert sorted(files) == ["README.md", "layout.csv", "scale.cfg", "topology.csv"]
    preset = read_configuration(files).architecture_presets
    assert (preset.dataflow, preset.arrayheight, preset.arraywidth) == (expected, rows, columns)
    assert preset.bandwidth == 16
    # multipliers: all of them where SIMD lanes are rows, one per PE otherwise
    costs = evaluate(
        chosen.design,
        chosen.tiling.quantities(chosen.design, chosen.nest.sizes),
        chosen.data,
        FRACTION,
    )
    lanes = metric_values(costs)["dsp"] / chosen.data.dsp(2)
    assert rows * columns == lanes / (2 if expected == "os" else 1)
    assert ("2 SIMD lanes of each PE are left out" in files["README.md"]) == (expected == "os")


@pytest.mark.parametrize(
    ("name", "dataflow", "reason"),
    [
        ("mm", "k", "dataflow (k) keeps nothing in place"),
        ("conv2d", "i", "dataflow (i) keeps nothing in place"),
        (
            "conv2d",
            "rc",
            "dataflow (r,c) has two loops over pixels in space; SCALE-Sim has rows or columns for pixels",
        ),
        ("batched_mm", "ij", "loop b indexes all three tensors"),
        ("depthwise_conv2d", "or", "loop o indexes all three tensors"),
        ("mttkrp", "ij", "the nest multiplies 3 tensors"),
    ],
)
def test_the_others_are_refused_with_the_reason(name, dataflow, reason):
    chosen = configuration(name, dataflow, {})
    (found,) = SCALESIM.obstacles(chosen)
    assert reason in found
    with pytest.raises(InputError, match=r"^SCALE-Sim cannot express .*: ") as error:
        SCALESIM.export(chosen)
    assert "\n" not in str(error.value)


def test_matrix_multiplications():
    header, numbers = read_topology(SCALESIM.export(configuration("mm", "ij", MM)))
    assert header == ["Layer", "M", "N", "K", ""]
    assert numbers == [24, 40, 72]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ttm", [3 * 4, 5, 6]),  # C[i][j][k] += A[i][j][l] * B[k][l]: loops of a side multiply
        ("mv", [3, 1, 4]),
        ("pointwise_conv2d", [4 * 5, 3, 6]),
    ],
)
def test_other_nests_are_matrix_multiplications_too(name, expected):
    nest = workload(name, {loop: 3 + at for at, loop in enumerate(workload(name).loops)})
    chosen = configuration(name, nest.parallel_loops[0], nest.sizes)
    assert read_topology(SCALESIM.export(chosen)) == (["Layer", "M", "N", "K", ""], expected)


@pytest.mark.parametrize("sizes", [{}, {"s": 2}, {"p": 1, "q": 1, "s": 3}])
def test_convolutions(sizes):
    chosen = configuration("conv2d", "oi", {**CONV, **sizes})
    header, numbers = read_topology(SCALESIM.export(chosen))
    assert header == CONV_HEADER
    layer = Convolution(**dict(zip(Convolution.model_fields, numbers, strict=True)))
    n, stride = chosen.nest.sizes, sizes.get("s", 1)
    assert (layer.ifmap_height, layer.ifmap_width) == (stride * 5 + n["p"], stride * 4 + n["q"])
    assert (layer.filter_height, layer.filter_width) == (n["p"], n["q"])
    assert (layer.channels, layer.num_filter, layer.strides) == (16, 8, stride)


def test_a_strided_window_of_one_element_is_a_convolution():
    sizes = {"o": 3, "r": 4, "c": 5, "i": 6, "s": 2}
    assert read_topology(SCALESIM.export(configuration("pointwise_conv2d", "or", sizes)))[1] == [
        7,
        9,
        1,
        1,
        6,
        3,
        2,
    ]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (
            "O[r][c][o] += X[r+2*p][c+q][i] * W[o][p][q][i]",
            "subscript r+2*p of X[r+2*p][c+q][i] is dilated",
        ),
        (
            "O[r][c][o] += X[2*r+p][c+q][i] * W[o][p][q][i]",
            "has strides 1, 2; the topology files of SCALE-Sim have one",
        ),
        ("O[r][o] += X[r+p][i] * W[o][p][i]", "has 1 spatial dimensions"),
        ("O[r][c][o] += X[r+p][c+q][i] * W[2*o][p][q][i]", "both inputs"),
        (
            "O[r][c][o] += X[r+p+q][c][i] * W[o][p][q][i]",
            "is not one output loop and one window loop",
        ),
        ("C[i][j] += A[i+1][k] * B[j][k]", "subscript i+1 of A[i+1][k] has a constant"),
    ],
)
def test_layers_that_scalesim_lacks(statement, reason):
    output, inputs = parse_statement(statement)
    loops = dict.fromkeys([x for access in (output, *inputs) for s in access for x in s.loops], 4)
    nest = LoopNest(
        "mine", tuple(loops.items()), output, inputs, next(iter(set(loops) - output.loops))
    )
    (found,) = SCALESIM.nest_obstacles(nest)
    assert reason in found


def test_buffers_hold_what_the_designs_do():
    nest = workload("mm", {"i": 1024, "j": 1024, "k": 1024})
    array = derive(nest, ("i", "j"), "C")
    tiling = Tiling(
        {"i": 205, "j": 172, "k": 64}, {"i": 41, "j": 4}, 8, {"A": 16, "B": 16, "C_drain": 4}
    )
    preset = read_configuration(
        SCALESIM.export(ArrayConfiguration(nest, array, data_type("fp32"), tiling))
    ).architecture_presets
    # two halves of 205 × 64 and of 172 × 64 words; one output tile, 205 × 172
    assert preset.ifmapsramszkb == -(-2 * 205 * 64 // 1024)
    assert preset.filtersramszkb == -(-2 * 172 * 64 // 1024)
    assert preset.ofmapsramszkb == -(-205 * 172 // 1024)
    assert (preset.arrayheight, preset.arraywidth) == (5, 43)


def test_addresses_do_not_overlap():
    sizes = {"i": 8192, "j": 64, "k": 4096}
    preset = read_configuration(
        SCALESIM.export(configuration("mm", "ij", sizes))
    ).architecture_presets
    assert preset.filteroffset >= 8192 * 4096
    assert preset.ofmapoffset >= preset.filteroffset + 64 * 4096


@pytest.mark.parametrize(("dtype", "words"), [("fp32", 16), ("int16", 32), ("int8", 64)])
def test_the_bandwidth_is_that_of_a_port(dtype, words):
    read = read_configuration(SCALESIM.export(configuration("mm", "ij", MM, dtype=dtype)))
    assert read.architecture_presets.bandwidth == read.layout.ifmapsrambankbandwidth == words
    assert read.run_presets.interfacebandwidth == "USER"


# -- the command


def test_a_design_that_scalesim_lacks_is_refused_and_the_nearest_is_the_best_that_it_has(tmp_path):
    path = result_file(tmp_path, "conv2d", CONV, "rc", "o")
    with pytest.raises(
        InputError,
        match=r"SCALE-Sim cannot express the best .*two loops over pixels.* \(see nearest\)",
    ):
        export_result(path, "scalesim", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    line = export_result(path, "scalesim", tmp_path / "out", nearest=True)
    values = {
        s.design: s.value for s in ithaca.load(path).solutions if not s.design.startswith("[r,c]")
    }
    assert (
        f"design {min(values, key=values.__getitem__)}, the best of the result's that can be expressed"
        in line
    )


def test_results_without_a_suitable_design_are_refused(tmp_path):
    path = result_file(tmp_path, "mm", {"i": 9, "j": 9, "k": 9}, "k")
    with pytest.raises(
        InputError,
        match=r"any design of this result: \[k\] C: dataflow \(k\) keeps nothing in place",
    ):
        export_result(path, "scalesim", tmp_path / "out", nearest=True)


def test_a_workload_that_scalesim_lacks_is_refused_in_one_line(tmp_path):
    path = result_file(tmp_path, "depthwise_conv2d", {"o": 8, "r": 5, "c": 7, "p": 3, "q": 3}, "or")
    with pytest.raises(
        InputError, match=r"cannot \w+ this workload: .*loop o indexes all three tensors"
    ) as error:
        export_result(path, "scalesim", tmp_path / "out", nearest=True)
    assert "\n" not in str(error.value)
