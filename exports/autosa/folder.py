"""The exported folder: what it holds and what is said about it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ithaca.exports.autosa.command import command_script, simd_info
from ithaca.exports.autosa.program import c_program
from ithaca.exports.autosa.requirements import obstacles
from ithaca.exports.padding import padded_extents
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.metrics import METRICS, metric_values
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

_README = """\
# {statement}, design {design}

Written by Ithaca for the systolic array compiler AutoSA (github.com/UCLA-VAST/AutoSA).

| file | what it is |
| --- | --- |
| `kernel.c` | the loop nest with test data; checks its own result |
| `simd_info.json` | tells AutoSA which loops reduce |
| `autosa_command.sh` | the command line; run it in AutoSA's folder |

    cc -std=c99 -O1 -Wno-unknown-pragmas kernel.c -o kernel && ./kernel      # prints Passed
    cd /path/to/AutoSA && AUTOSA=./autosa /path/to/this/folder/autosa_command.sh

| loop | extent | padded | t1 | t2 |
| --- | --- | --- | --- | --- |
{loops}

SIMD factor {simd}, data type {data}. By the cost model ({edition} edition):

| metric | value |
| --- | --- |
{metrics}

Boards are slightly slower: a design modelled at 680,353 cycles took 697,071 when measured.
"""


def export_autosa(nest: LoopNest, array: SystolicArray, data: DataType, tiling: Tiling) -> Mapping[str, str]:
    """Everything AutoSA needs to build a configuration.

    Parameters
    ----------
    nest : LoopNest
        The loop nest, with extents.
    array : SystolicArray
        The design, derived from the nest.
    data : DataType
        The type of all arrays.
    tiling : Tiling
        The configuration.

    Returns
    -------
    mapping of str to str
        Content by file name; `ithaca.workloads.writing.write_folder` writes it.

    Raises
    ------
    InputError
        If AutoSA cannot build the configuration; it names all the reasons.
    """
    reasons = obstacles(nest, array, data, tiling)
    if reasons:
        raise InputError(f"AutoSA cannot build this configuration: {'; '.join(reasons)}")
    return {
        "kernel.c": c_program(nest, array, data, tiling),
        "simd_info.json": simd_info(nest, array, tiling),
        "autosa_command.sh": command_script(nest, array, data, tiling),
        "README.md": _readme(nest, array, data, tiling),
    }


def _readme(nest: LoopNest, array: SystolicArray, data: DataType, tiling: Tiling) -> str:
    metrics = metric_values(evaluate(array, tiling.quantities(array, nest.sizes), data, FRACTION))
    padded = padded_extents(nest, tiling)
    return _README.format(
        statement=nest,
        design=array.name,
        loops="\n".join(
            f"| {loop} | {extent} | {padded[loop]} | {_factors(array, tiling, loop)} |" for loop, extent in nest.extents
        ),
        simd=tiling.simd,
        data=data.name,
        edition=array.edition.value,
        metrics="\n".join(f"| {name} ({METRICS[name].unit}) | {_number(value)} |" for name, value in metrics.items()),
    )


def _factors(array: SystolicArray, tiling: Tiling, loop: str) -> str:
    return f"{tiling.array_part[loop]} | {tiling.t2(array, loop)}" if loop in array.band else "untiled | "


def _number(value: Fraction) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.2f}"
