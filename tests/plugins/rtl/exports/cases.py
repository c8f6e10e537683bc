"""Random configurations to be built, and folders of them."""

import random
import subprocess
from dataclasses import replace
from fractions import Fraction
from math import gcd

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.writing import write_folder
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES, data_type
from ithaca.formulations.machine import Machine, Sums
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.buffering import choosable, single_buffered
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.quantities import extent
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import Technology
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.tools import find_verilator
from ithaca.workloads.library import workload, workload_names
from ithaca.workloads.sparsity import BLOCKS, BlockSparsity
from tests.plugins.rtl.formulations.test_two_level import two_level
from tests.whole_spaces import small_arrays

#: Turns of all PEs up to which arrays are small.
MOST_TURNS = 30_000

#: Kernels whose SIMD loop reduces, and is the last subscript of a tensor that is read.
SPARSE = tuple(
    name
    for name in workload_names()
    if (nest := workload(name)).simd in nest.reduction_loops
    and any(access.subscripts[-1].terms == ((nest.simd, 1),) for access in nest.inputs)
)

#: The machine of the platform rtl-open.
MACHINE = load_platform("rtl-open").technology.machine


def random_nest(name, draw):
    """A library kernel of random sizes."""
    nest = workload(name)
    sizes = {
        loop: draw.choice([1, 2, 3] if loop in nest.untiled else [2, 4, 6, 7, 8, 12, 16])
        for loop in nest.loops
    }
    strides = {name: draw.choice([1, 1, 2]) for name, _ in nest.parameters}
    return nest.with_sizes(sizes | strides)


def in_blocks(nest, draw):
    """A kernel with a tensor of random blocks along its SIMD loop."""
    tensors = [a.tensor for a in nest.inputs if a.subscripts[-1].terms == ((nest.simd, 1),)]
    block = draw.choice(BLOCKS)
    sized = nest.with_sizes({nest.simd: block * draw.choice([1, 2, 3])})
    sparse = BlockSparsity(draw.choice(tensors), draw.randint(1, block - 1), block)
    return replace(sized, sparse=sparse)


def buildable(nest):
    """The designs of a kernel that can be built."""
    return [array for array in designs(nest) if array.buildable]


def random_machine(draw):
    """A machine that can be built."""
    machine = Machine(
        hop=draw.choice([2, 2, 3]),
        mac=draw.choice([2, 3, 4, 8]),
        fifo_depth=draw.choice([1, 2, 2, 4]),
        sums=draw.choice(list(Sums)),
    )
    return replace(machine, fitted_fifos=machine.mac in (3, 4))


def random_case(
    seed,
    name=None,
    number=None,
    most_turns=MOST_TURNS,
    *,
    blocks=False,
    single=False,
):
    """A configuration of any buildable design of a kernel, or that of a number, on any machine that
    can be built, and bits of its sums; of a block-sparse tensor, or with some single buffers, if that
    is asked for."""
    draw = random.Random(seed)
    machine = random_machine(draw)
    name = name or draw.choice(workload_names())
    while True:
        nest = random_nest(name, draw)
        nest = in_blocks(nest, draw) if blocks else nest
        array = draw.choice(buildable(nest)) if number is None else buildable(nest)[number]
        array = some_single(array, draw) if single else array
        technology = Technology(machine=machine)
        data = data_type(draw.choice(list(DATA_TYPES)))
        design = SystolicDesign(nest, array, data, technology=technology)
        (values,) = small_arrays(design, 1, draw.randrange(10**6))
        quantities = {n: Fraction(v) for n, v in {**design.extents, **values}.items()}
        pe = array.pe
        turns = (pe.count * pe.trips * pe.tiles).evaluate(quantities, FRACTION)
        if turns <= most_turns:
            break
    chosen = ArrayConfiguration(nest, array, data, design.tiling(values), technology)
    return chosen, 32 if data.bits == 32 else draw.choice([16, 32])


def configuration(
    name,
    dataflow,
    seed,
    data="int8",
    machine=MACHINE,
    *,
    least=13,
    growth=2,
    lanes=4,
    inside=2,
    stride=1,
):
    """A configuration of so many lanes in each space loop, with so many iterations inside of each,
    of strides, and of extents that tiles do not divide: the least, and from loop to loop larger."""
    nest = workload(name)
    nest = nest.with_sizes(
        {loop: least + growth * number for number, loop in enumerate(nest.loops)}
        | {name: stride for name, _ in nest.parameters}
    )
    array = derive(nest, tuple(dataflow), nest.output.tensor)
    parts, inner = {}, {}
    for loop in nest.band:
        simd, space = loop == nest.simd, loop in dataflow
        inner[loop] = 4 if simd else 1 if loop in array.sequential else inside
        parts[loop] = inner[loop] * (lanes if space else 2)
    hiding = {loop: inner[loop] for loop in array.latency_hiding_loops}
    bare = Tiling(parts, hiding, inner[nest.simd], {})
    values = {extent(x).name: Fraction(n) for x, n in nest.extents} | bare.factors(
        array, nest.sizes
    )
    packs = {
        group.name: gcd(int(group.last.evaluate(values, FRACTION)), 4)
        for group in array.packed_groups
    }
    tiling = replace(bare, pack=packs)
    technology = Technology(machine=machine)
    return ArrayConfiguration(nest, array, data_type(data), tiling, technology), 32


def layers_of(name, dataflow, data="int8", machine=MACHINE):
    """Layers of a kernel on 2 lanes in each space loop, of other extents, strides, tiles and buffers."""
    sizes = {"first": (1, 2, 3), "second": (3, 4, 2), "third": (7, 6, 1), "last": (5, 2, 1)}
    layers = {
        layer: configuration(
            name,
            dataflow,
            1,
            data,
            machine,
            least=least,
            growth=0,
            lanes=2,
            inside=inside,
            stride=stride,
        )[0]
        for layer, (least, inside, stride) in sizes.items()
    }
    packs = [layer.tiling.pack for layer in layers.values()]
    pack = {group: gcd(*(each[group] for each in packs)) for group in packs[0]}
    return {
        layer: replace(own, tiling=replace(own.tiling, pack=pack)) for layer, own in layers.items()
    }


def some_single(array, draw):
    """An array with single buffers of some tensors."""
    tensors = choosable(array)
    return single_buffered(array, draw.sample(tensors, draw.randint(1, len(tensors))))


def two_level_case(seed, name, dataflow, *, single=False):
    """An array with two levels of tiles, of random extents that tiles need not divide, strides,
    words and machine, and bits of its sums; with some single buffers if that is asked for."""
    draw = random.Random(seed)
    (case,) = two_level(name, dataflow, 1, seed, 2)
    design, values = case
    nest, tiling = design.nest, design.tiling(values)
    short = {
        x: nest.sizes[x] - draw.randrange(min(part, nest.sizes[x]))
        for x, part in tiling.array_part.items()
    }
    strides = {parameter: draw.choice([1, 1, 2]) for parameter, _ in nest.parameters}
    data = data_type(draw.choice(list(DATA_TYPES)))
    machine = random_machine(draw)
    chosen = ArrayConfiguration(
        nest.with_sizes(nest.sizes | short | strides),
        some_single(design.array, draw) if single else design.array,
        data,
        tiling,
        Technology(machine=machine),
    )
    return chosen, 32 if data.bits == 32 else draw.choice([16, 32])


def write_case(folder, case):
    """Write the hardware of a case; its files."""
    configuration, sum_bits = case
    files = rtl_tool(sum_bits).export(configuration)
    write_folder(folder, files)
    return files


def lint(folder, *arrays):
    """Hold Verilator to have nothing to say of a folder's modules, and of those of its array."""
    root, binary = find_verilator() or ("", "")
    library = sorted(str(path.relative_to(folder)) for path in folder.glob("*/*.sv"))
    words = ["--lint-only", "--timing", "-Wall", "--top-module", "bench", "bench.sv"]
    done = subprocess.run(
        [binary, *words, *arrays, *library],
        cwd=folder, env={"VERILATOR_ROOT": root}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    assert "Warning" not in done.stderr
