"""AutoSA's options for a configuration: sizes, packs, SIMD information, and the command.

What the options mean was established by running the compiler (public sources:
github.com/UCLA-VAST/AutoSA, README and docs).
"""

from __future__ import annotations

import json

from ithaca.exports.autosa.scop import listed_loops, numbered_dataflows, reuse_choices, simd_factors, touches_space, visible
from ithaca.exports.groups import moved_group
from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.nest import LoopNest

#: I/O levels for which AutoSA takes a data pack, whether a design has them or not.
IO_LEVELS = 3

_SCRIPT = """\
#!/bin/sh
# Compiles kernel.c with AutoSA. Run it in AutoSA's own folder, where the compiler looks for its parts.
#   AUTOSA         the compiler (default: autosa)
#   AUTOSA_CONFIG  its configuration (default: autosa_config/autosa_config.json)
#   AUTOSA_OUTPUT  where to put the design (default: output, beside this script)
#   AUTOSA_HOST    hls: a host program for C simulation (default); opencl: one for Vitis
# Further options of the compiler may follow.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output="${{AUTOSA_OUTPUT:-$here/output}}"
mkdir -p "$output/src" "$output/latency_est" "$output/resource_est"
if [ "${{AUTOSA_HOST:-hls}}" = hls ]; then
  set -- --hls "$@"
fi
exec "${{AUTOSA:-autosa}}" "$here/kernel.c" \\
  --config="${{AUTOSA_CONFIG:-autosa_config/autosa_config.json}}" \\
  --target=autosa_hls_c \\
  --output-dir="$output" \\
  --simd-info="$here/simd_info.json" \\
  {options} \\
  "$@"
"""


def sa_sizes(nest: LoopNest, array: SystolicArray, tiling: Tiling) -> str:
    """Value of ``--sa-sizes``: dataflow, array partitioning, latency hiding and SIMD factors."""
    seen = visible(nest, tiling)
    loops = listed_loops(seen, array)
    parallel = (loop for loop in loops if loop in seen.parallel_loops)
    values: dict[str, list[int]] = {
        "space_time": [numbered_dataflows(seen).index(array.dataflow)],
        "array_part": [tiling.array_part[loop] for loop in loops],
        "latency": [tiling.t2(array, loop) for loop in parallel],
        "simd": simd_factors(seen, array, tiling),
    }
    return _kernel_options(values)


def data_pack_sizes(nest: LoopNest, array: SystolicArray, data: DataType, tiling: Tiling) -> str:
    """Value of ``--data-pack-sizes``: the pack of every array (bytes), the same at every level.

    It is never left out. By default AutoSA widens the DRAM port to 64 bytes, and loses the end
    of an array that is not a multiple of that, without a word.
    """
    packs = {a.array: tiling.pack[moved_group(array, a.array).name] * data.bytes for a in nest.accesses}
    return _kernel_options({name: [size] * IO_LEVELS for name, size in packs.items()})


def simd_info(nest: LoopNest, array: SystolicArray, tiling: Tiling) -> str:
    """Content of ``simd_info.json``: confirms that the design's reduction loops are reductions."""
    seen = visible(nest, tiling)
    number = numbered_dataflows(seen).index(array.dataflow)
    return json.dumps({f"kernel{number}": {"reduction": ["y" for _ in seen.reduction_loops]}}) + "\n"


def options(nest: LoopNest, array: SystolicArray, data: DataType, tiling: Tiling) -> tuple[str, ...]:
    """The options that state the configuration, quoted for a shell."""
    chosen = [
        f'--sa-sizes="{sa_sizes(nest, array, tiling)}"',
        f'--data-pack-sizes="{data_pack_sizes(nest, array, data, tiling)}"',
    ]
    if any(module.serialized for _, module in array.modules):
        chosen.append("--host-serialize")
    if touches_space(nest, array):
        chosen += ["--simd-touch-space", "--local-reduce", '--reduce-op="+"']
    reuse = {name: [number] for name, number in reuse_choices(visible(nest, tiling), array).items()}
    if reuse:
        chosen.append(f'--select-rar-dep="{_kernel_options(reuse)}"')
    return tuple(chosen)


def command_script(nest: LoopNest, array: SystolicArray, data: DataType, tiling: Tiling) -> str:
    """A shell script that compiles the exported program with AutoSA."""
    return _SCRIPT.format(options=" \\\n  ".join(options(nest, array, data, tiling)))


def _kernel_options(values: dict[str, list[int]]) -> str:
    return "{" + ";".join(f"kernel[]->{name}[{','.join(map(str, v))}]" for name, v in values.items()) + "}"
