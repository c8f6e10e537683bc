"""The exported folder: the program, AutoSA's options for a configuration, and a README.

What the options mean was established by running the compiler (public sources:
github.com/UCLA-VAST/AutoSA, README and docs).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ithaca.exports.autosa.program import block_options, c_program, pack_bytes
from ithaca.exports.autosa.requirements import obstacles
from ithaca.exports.autosa.scop import (
    listed_loops,
    numbered_dataflows,
    reuse_choices,
    simd_factors,
    touches_space,
)
from ithaca.exports.configuration import ArrayConfiguration, Tool
from ithaca.exports.templates import template
from ithaca.files.words import parse_choice
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.buffering import choosable
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.quantities import tiles
from ithaca.formulations.systolic.target import nest_obstacles, visible
from ithaca.formulations.target import Target
from ithaca.solver.result import Result

#: I/O levels for which AutoSA takes a data pack, whether a design has them or not.
IO_LEVELS = 3


#: AutoSA's back ends, as it calls them; the first is the default.
BACK_ENDS = {"hls": "autosa_hls_c", "tapa": "autosa_tapa"}


def _files(configuration: ArrayConfiguration, back_end: str) -> Mapping[str, str]:
    return folder_files(
        c_program(configuration),
        options(configuration),
        expected_design(configuration),
        _readme(configuration, back_end),
        simd_info(configuration),
        back_end,
    )


def folder_files(
    program: str,
    options: Sequence[str],
    expected: Mapping[str, Any],
    readme: str,
    simd: str,
    back_end: str = "hls",
) -> Mapping[str, str]:
    """The files of an exported folder, by name, with the scripts that compile and check it.

    Parameters
    ----------
    program : str
        The C program.
    options : sequence of str
        Options of AutoSA.
    expected : mapping of str to object
        What the array must do.
    readme : str
        Text for people.
    simd : str
        The document of SIMD loops.
    back_end : str, optional
        ``hls`` or ``tapa``.
    """
    return {
        "kernel.c": program,
        "simd_info.json": simd,
        "autosa_command.sh": template(
            "autosa/command.sh.txt", target=BACK_ENDS[back_end], options=" \\\n  ".join(options)
        ),
        "mend.py": template("autosa/mend.py.txt"),
        "check.py": template("autosa/check.py.txt"),
        "expected.json": json.dumps(expected, indent=1) + "\n",
        "README.md": readme,
    }


def _buildable(result: Result) -> list[Problem]:
    """The problems of what AutoSA builds, over the dataflows of a result."""
    known = systolic(result.problem)
    dataflows = [systolic(s.problem).array.dataflow for s in result.designs]
    space = replace(known.options, target=Target.AUTOSA)
    return [
        result.problem.with_design(array=array, options=space)
        for array in choose_designs(
            known.nest,
            known.array.edition,
            target=Target.AUTOSA,
            dram=space.dram,
            double_buffer=space.double_buffer,
        )
        if array.dataflow in dataflows
    ]


def autosa_tool(back_end: str = "hls") -> Tool:
    """The exporter for one of `BACK_ENDS`."""

    def chosen(options: Mapping[str, Any]) -> Tool:
        return autosa_tool(
            parse_choice("--target", options["target"] or back_end, tuple(BACK_ENDS))
        )

    return Tool(
        "AutoSA cannot build",
        nest_obstacles,
        partial(_obstacles, back_end=back_end),
        partial(_files, back_end=back_end),
        "every folder's `autosa_command.sh`",
        'sh "$here/$folder/autosa_command.sh" "$@"',
        builds_all=_buildable,
        options=("target",),
        with_options=chosen,
        again=f"--for {Target.AUTOSA.value}",
    )


def _obstacles(configuration: ArrayConfiguration, back_end: str) -> tuple[str, ...]:
    reasons = obstacles(configuration)
    if back_end == "hls":
        return reasons
    if configuration.nest.sparse is not None:
        blocks = f"block sparsity {configuration.nest.sparse} was never built for --target tapa"
        reasons = (*reasons, f"{blocks}; allowed: --target hls")
    if configuration.design.single:
        why = "single buffers were never built for --target tapa"
        reasons = (*reasons, f"{why}; allowed: --target hls")
    packs = configuration.tiling.pack
    sums = (g for g in configuration.design.packed_groups if g.locally_reducing)
    return reasons + tuple(
        f"{group.name} adds up {packs[group.name]} words at once in its buffers, which vectors of "
        "--target tapa do not"
        for group in sums
        if packs[group.name] > 1
    )


AUTOSA = autosa_tool()


def sa_sizes(configuration: ArrayConfiguration) -> str:
    """Value of ``--sa-sizes``: dataflow, array partitioning, latency hiding and SIMD factors, and
    memory ports where a tensor has several."""
    design, seen = configuration.design, visible(configuration.nest, configuration.padded)
    loops, inner = listed_loops(seen, design), configuration.tiling.array_part_l2
    outer = [inner.get(x) or configuration.whole(tiles(x)) for x in design.order if x in loops]
    values: dict[str, list[int]] = {
        "space_time": [numbered_dataflows(seen).index(design.dataflow)],
        "array_part": [configuration.tiling.array_part[loop] for loop in loops],
        **({"array_part_L2": outer} if inner else {}),
        "latency": [configuration.t2(loop) for loop in loops if loop in seen.parallel_loops],
        "simd": simd_factors(seen, configuration),
        **{f"hbm_{name}": [number] for name, number in port_numbers(configuration).items()},
    }
    return kernel_options(values)


def port_numbers(configuration: ArrayConfiguration) -> dict[str, int]:
    """Memory ports by I/O group where any tensor has several; empty where none has.

    The compiler asks for those of the output in every role, its partial sums' numbered or not, and
    makes no modules for what stays in the PEs.
    """
    if not configuration.spread:
        return {}
    ports, output = configuration.tiling.ports, configuration.nest.output.tensor
    roles = [output + role for role in ("", "_0", "_1", "_drain")]
    names = [access.tensor for access in configuration.nest.inputs]
    own = {name: ports.get(name, 1) for name in names}
    return own | dict.fromkeys(roles, ports.get(configuration.moved_group(output).name, 1))


def data_pack_sizes(configuration: ArrayConfiguration) -> str:
    """Value of ``--data-pack-sizes``: the pack of every tensor (bytes), the same at every level.

    It is never left out. By default AutoSA widens the DRAM port to 64 bytes, and loses the end
    of a tensor that is not a multiple of that, without a word.
    """
    names = [access.tensor for access in configuration.nest.accesses]
    packs = {
        name: configuration.tiling.pack[configuration.moved_group(name).name] for name in names
    }
    size = int(configuration.data.bytes)
    sizes = {name: [pack * size] * IO_LEVELS for name, pack in packs.items()}
    if (sparse := configuration.nest.sparse) is not None:
        sizes[sparse.tensor] = pack_bytes(configuration, sparse, packs[sparse.tensor])
    return kernel_options(sizes)


def simd_info(configuration: ArrayConfiguration) -> str:
    """Content of ``simd_info.json``: confirms that the design's reduction loops are reductions."""
    seen = visible(configuration.nest, configuration.padded)
    number = numbered_dataflows(seen).index(configuration.design.dataflow)
    return (
        json.dumps({f"kernel{number}": {"reduction": ["y" for _ in seen.reduction_loops]}}) + "\n"
    )


def expected_design(configuration: ArrayConfiguration) -> dict[str, Any]:
    """Content of ``expected.json``: what the cost model counted, and AutoSA must have built."""
    design, tiling, whole = configuration.design, configuration.tiling, configuration.whole
    modules: dict[str, dict[str, Any]] = {
        name: {"count": whole(count)} for name, count in design.helpers.items() if whole(count)
    }
    for group, module in design.modules:
        outer = group.outer if module.dram else None
        held = [whole(group.size) // group.stored] * (2 if group.double_buffered else 1)
        if outer is not None:
            held = [whole(outer.size)]
        pack = tiling.pack[group.name] // group.stored
        known = {"count": whole(module.instances), "pack": pack}
        holds = module.buffer or outer is not None
        modules[module.name] = known | ({"buffers": held} if holds else {})
        if outer is not None or (group.beside_dram and module.buffer):
            modules[module.name]["memory"] = "URAM" if configuration.technology.uram else "BRAM"
    # with a reduction in space and no other, a sum is handed on at once
    other = set(visible(configuration.nest).reduction_loops) - set(design.dataflow)
    sums = design.pe.accumulators if other else None
    return {
        "output": configuration.nest.output.tensor,
        "pes": whole(design.pe.count),
        "simd": tiling.simd,
        **({} if sums is None else {"accumulators": whole(sums)}),
        "modules": modules,
    }


def options(configuration: ArrayConfiguration) -> tuple[str, ...]:
    """The options that state the configuration, quoted for a shell."""
    nest, design = configuration.nest, configuration.design
    chosen = [
        f'--sa-sizes="{sa_sizes(configuration)}"',
        f'--data-pack-sizes="{data_pack_sizes(configuration)}"',
    ]
    if configuration.spread:
        chosen.append("--hbm")
    elif design.dram.two_level:
        chosen.append("--two-level-buffer")
    elif design.dram.serialized and any(m.serialized for _, m in design.modules):
        chosen.append("--host-serialize")
    if configuration.technology.uram:
        chosen.append("--uram")
    if design.single:  # by default the compiler doubles all buffers but those of drains
        doubled = [x for x in choosable(design) if x not in design.single]
        names = kernel_options(dict.fromkeys(doubled, ()))
        chosen.append(f'--double-buffer-assign="{names}"' if doubled else "--no-double-buffer")
    if nest.sparse is not None:
        chosen += block_options(nest.sparse)
    if touches_space(nest, design):
        chosen += ["--simd-touch-space", "--local-reduce", '--reduce-op="+"']
    reuse = {
        name: [number]
        for name, number in reuse_choices(visible(nest, configuration.padded), design).items()
    }
    if reuse:
        chosen.append(f'--select-rar-dep="{kernel_options(reuse)}"')
    return tuple(chosen)


def kernel_options(values: Mapping[str, Sequence[int]]) -> str:
    """Numbers of the kernel by name, as the compiler's options state them."""
    return (
        "{"
        + ";".join(f"kernel[]->{name}[{','.join(map(str, v))}]" for name, v in values.items())
        + "}"
    )


def _readme(configuration: ArrayConfiguration, back_end: str) -> str:
    return template(
        "autosa/readme.md.txt",
        statement=configuration.nest,
        design=configuration.design,
        back_end=back_end,
        configuration=configuration,
        units={name: METRICS[name].unit for name in configuration.metrics},
    )
