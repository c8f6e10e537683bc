"""Files of kinds that are no documents of their own: models, grids, tables beside what names them,
records of hardware, kept results."""

import tempfile
from functools import cache
from pathlib import Path

from google.protobuf.message import Message

from ithaca.commands.api.solving import solve
from ithaca.files.errors import InputError
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.codesign.studies.workloads import _nest
from ithaca.plugins.flow.commands import _rows
from ithaca.plugins.flow.formulations.graph import find_graph
from ithaca.plugins.hierarchies.commands.estimating import estimate
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.recurrences.workloads.c.nests import c_nests
from ithaca.plugins.rtl.exports.again import folders_of, read_index
from ithaca.plugins.rtl.exports.record import RECORD, read_record
from ithaca.plugins.seeds.exports.parameters import result_space
from ithaca.plugins.unrolling.formulations.files import read_folding
from ithaca.plugins.unrolling.formulations.layers import WeightLayer
from ithaca.refine.grid import exact_grid, load_grid, save_grid
from ithaca.refine.window import window_around
from ithaca.solver.options import SolveOptions
from ithaca.studies.store import Store, Trust
from ithaca.workloads.networks.find import find_network
from tests.layer_tables import COLUMNS, MAESTRO, PRODUCTS, SCOP, TOPOLOGY
from tests.mutants import STRANGE, Kind, mutated_bytes
from tests.plugins.codesign.formulations.test_space_files import tabled
from tests.plugins.hierarchies.formulations import test_energy_estimates as estimates
from tests.plugins.onnx.graphs import Graph

#: Energies and areas beside an architecture.
ENERGIES = """
ERT:
  version: 0.4
  tables:
  - {name: "chip.DRAM", actions: [{name: read, energy: 5}, {name: write, energy: 6}]}
  - {name: "chip.Buffer", actions: [{name: read, arguments: {a: 1}, energy: 1}, {name: write, energy: 2}]}
  - {name: "chip.mac", actions: [{name: compute, energy: 0.5}]}
"""

ARCHITECTURE = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {word_bits: 16}}
  - !Component {name: Buffer, class: SRAM, attributes: {word_bits: 16, entries: 64}}
  - !Component {name: mac, class: intmac}
"""

PARAMETERS = "rows,columns,density\n64,512,0.5\n3072,,0.08\n"

PRODUCT = """
statement: "C[i,j] += A[i,k] * B[k,j]"
extents: {i: 4, j: 6, k: 8}
name: product
"""

#: Layers, and foldings of them.
FOLDED = (WeightLayer("conv", 27, 64, 900), WeightLayer("fc", 64, 10, 1))
FINN = '{"Defaults": {"PE": [2, ["all"]]}, "MVAU_hls_0": {"SIMD": 3}, "MVAU_rtl_0": {"PE": 5}}'
HLS4ML = """
HLSConfig:
  Model: {Precision: "fixed<16,6>", ReuseFactor: 9, Strategy: Resource}
  LayerName: {fc: {ReuseFactor: 4, Strategy: Latency}}
"""

NETWORK = """
{"schema": "ithaca/2", "counted": "all 8 multiply-accumulates", "edition": "cycle",
 "layers": [{"layer": "first", "runs": 2, "folder": "first", "of": "", "design": "[i,j] C",
             "figures": {"latency": "12", "dsp": "4"}}],
 "records": {"first": "0a"}}
"""
LAYERS = "layer,folder,cycles\nfirst,first,100\nsecond,second,200\n"


@cache
def _result():
    return solve(
        "mm", i=2, j=2, k=2, dtype="int8", platform="rtl-open", limit={"dsp": 4}, dataflow="i"
    )


@cache
def _written():
    """A result, the record of its hardware, and the file of one that is kept."""
    result = _result()
    solution = result.best
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result.save(folder / "result.json")
        result.export("rtl", folder / "rtl")
        store = Store(folder / "kept")
        store.save([solution.problem], solution, SolveOptions())
        files = (folder / "result.json", folder / "rtl" / RECORD, store.path([solution.problem]))
        first, second, third = (path.read_text(encoding="utf-8") for path in files)
    return first, second, third


@cache
def _models():
    """Models of a few layers, with weights, shapes that are computed, and a body."""
    image, text = Graph(image=["batch", 3, 16, 16]), Graph(words=[2, 4, 8])
    one = image.add("Conv", "image", image.weight(8, 3, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    two = image.add("Conv", image.add("Relu", one), image.weight(8, 1, 3, 3), group=8)
    flat = image.add("Flatten", image.add("MaxPool", two, kernel_shape=[2, 2]))
    image.add("Gemm", flat, image.weight(10, 72), transB=1)
    heads = text.add("Reshape", "words", text.integers(0, -1, 2, 4))
    turned = text.add("Transpose", heads, perm=[0, 2, 1, 3])
    scores = text.add("MatMul", turned, text.add("Transpose", turned, perm=[0, 1, 3, 2]))
    text.add("MatMul", text.add("Softmax", scores), turned)
    return tuple(graph.model().SerializeToString() for graph in (image, text))


@cache
def _grids():
    solution = _result().best
    assert solution.configuration is not None
    window = window_around(solution.problem, solution.configuration, 1, ["i"])
    with tempfile.TemporaryDirectory() as name:
        save_grid(exact_grid(window), Path(name) / "grid.nc")
        return ((Path(name) / "grid.nc").read_bytes(),)


def _messages(message):
    """A message, and all inside it."""
    inside = [message]
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if not isinstance(value, Message) else (value,):
                inside += _messages(each)
    return inside


#: Numbers of fields.
NUMBERS = (0, 1, -1, 2, 7, 300, 2**31 - 1, -(2**31), 10**12, 2**62, 2**63 - 1, -(2**63), 0.5, 1e300)


def _mutated_model(content, draw):
    """A model with one to three changes of its messages, or of bytes."""
    from onnx import ModelProto

    if draw.random() < 0.25:
        return mutated_bytes(content, draw)
    model = ModelProto.FromString(content)
    for _ in range(draw.choice((1, 1, 2, 3))):
        message = draw.choice(_messages(model))
        field = draw.choice(message.DESCRIPTOR.fields)
        texts = [text for text in STRANGE if isinstance(text, str)]
        value = draw.choice((*NUMBERS, *texts, b"", b"\0" * 3000, b"\xff"))
        try:
            own = getattr(message, field.name)
            if draw.random() < 0.2:
                message.ClearField(field.name)
            elif hasattr(own, "extend") and field.message_type is not None:
                own.extend(list(own)[-1:] * draw.choice((1, 2, 300)) or [own.add()])
            elif hasattr(own, "extend"):
                own.extend([*list(own)[-1:], value][-1:] * draw.choice((1, 2, 300)))
            elif field.message_type is None:
                setattr(message, field.name, value)
        except (TypeError, ValueError):
            pass  # of another type
    return model.SerializeToString()


def _mutated_grid(content, draw):
    """A grid with other attributes, variables and dimensions, or other bytes."""
    from netCDF4 import Dataset

    if draw.random() < 0.25:
        return mutated_bytes(content, draw)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "grid.nc"
        path.write_bytes(content)
        with Dataset(path, "r+") as file:
            for _ in range(draw.choice((1, 1, 2, 3))):
                _change(file, draw)
        return path.read_bytes()


#: Attributes that say what numbers of a variable mean.
MEANINGS = (
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "dtype",
    "coordinates",
    "bounds",
    "_Encoding",
)


def _change(file, draw):
    """Change something of an open grid, if that can be."""
    place = draw.choice((file, *file.variables.values()))
    known = [*place.ncattrs(), *MEANINGS, "title", "missing_value", "grid_mapping"]
    name, scalars = draw.choice(known), [v for v in STRANGE if isinstance(v, str | float)]
    try:
        match draw.randrange(4):
            case 0 if name in place.ncattrs():
                place.delncattr(name)
            case 1:
                old = draw.choice((*file.variables, *file.dimensions))
                rename = file.renameVariable if old in file.variables else file.renameDimension
                rename(old, draw.choice(("x", "time", "é", *file.variables)))
            case 2:
                size = draw.choice((0, 1, 10**3, 10**12, None))
                file.createDimension("more", size)
                file.createVariable("more", draw.choice(("f8", "i1", str)), ("more",))
            case _:
                place.setncattr(
                    name, draw.choice((*scalars, [1, 2, 3], ["a", "b"], "days since x"))
                )
    except (AttributeError, OSError, RuntimeError, TypeError, ValueError):
        pass  # this cannot be written


def _beside(path):
    (path.parent / "arch.yaml").write_text(ARCHITECTURE)
    path.rename(path.parent / "ert.yaml")
    return read_architecture(path.parent / "arch.yaml")


def _of_space(path, table):
    with tempfile.TemporaryDirectory() as name:
        space = tabled(Path(name))
        path.rename(Path(name) / "small" / table)
        return find_space(space)


def _components(path):
    architecture = path.parent / "arch.yaml"
    architecture.write_text(estimates.ARCHITECTURE)
    try:
        return estimate(architecture, output=path.parent / "none" / "ert.yaml", components=[path])
    except InputError as error:
        if "hwcomponents" in str(error):  # it comes after all that is read
            return None
        raise


def _record(path):
    path.rename(path.parent / RECORD)
    return read_record(path.parent)


def _listed(path):
    """The network of a list of names, of which the file is the only one."""
    names = path.with_name("names.yaml")
    names.write_text(f"['{path.stem}']")
    return find_network(str(names))


def _kept(path):
    problem = _result().best.problem
    store = Store(path.parent / "kept", trust=Trust(foreign=True))
    path.rename(store.path([problem]))
    return store.load([problem])


def kinds():
    """Kinds of files that are no documents of their own."""
    result, record, kept = _written()
    with tempfile.TemporaryDirectory() as name:
        tabled(Path(name))
        energies, areas = ((Path(name) / "small" / f"{t}.yaml").read_text() for t in ("ERT", "ART"))
    return [
        Kind("model", ".onnx", (), lambda path: find_network(str(path)), _mutated_model, _models()),
        Kind(
            "topology", ".csv", (TOPOLOGY, PRODUCTS, COLUMNS), lambda path: find_network(str(path))
        ),
        Kind(
            "maestro",
            ".m",
            (),
            lambda path: find_network(str(path)),
            mutated_bytes,
            (MAESTRO.encode(),),
        ),
        *(
            Kind(tool, ending, (text,), lambda path: read_folding(path, FOLDED))
            for tool, ending, text in (("finn", ".json", FINN), ("hls4ml", ".yml", HLS4ML))
        ),
        Kind("c", ".c", (), c_nests, mutated_bytes, (SCOP.encode(),)),
        Kind("grid", ".nc", (), load_grid, _mutated_grid, _grids()),
        Kind("beside", ".yaml", (ENERGIES,), _beside),
        Kind("energies", ".yaml", (energies,), lambda path: _of_space(path, "ERT.yaml")),
        Kind("areas", ".yaml", (areas,), lambda path: _of_space(path, "ART.yaml")),
        Kind("components", ".yaml", (estimates.CLASSES,), _components),
        Kind("record", ".json", (record,), _record),
        Kind("hardware-layers", ".csv", (LAYERS,), folders_of),
        Kind("hardware-network", ".json", (NETWORK,), read_index),
        Kind(
            "parameters",
            ".csv",
            (PARAMETERS,),
            lambda path: [*_rows(path, find_graph("cambricon-x"))],
        ),
        Kind("kept", ".json", (kept,), _kept),
        Kind("result", ".json", (result,), result_space),
        Kind("layer", ".yaml", (PRODUCT,), lambda path: _nest(str(path))),
        Kind("listed", ".yaml", (PRODUCT,), _listed),
    ]
