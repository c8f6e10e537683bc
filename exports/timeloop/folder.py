"""The exported folder: three documents in YAML, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ithaca.exports.padding import padded_extents
from ithaca.exports.timeloop.documents import Node, architecture, mapping, problem
from ithaca.exports.timeloop.levels import Kind, Level, levels
from ithaca.exports.timeloop.requirements import obstacles
from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

_README = """\
# {statement}, design {design}

Written by Ithaca for Timeloop (github.com/NVlabs/timeloop), format v0.4.

| file | what it is |
| --- | --- |
| `problem.yaml` | the loop nest, on extents padded to whole tiles |
| `architecture.yaml` | the array: DRAM, buffers, lanes, PEs |
| `mapping.yaml` | the loops of every level |

    import timeloopfe.v4 as tl
    spec = tl.Specification.from_yaml_files("problem.yaml", "architecture.yaml", "mapping.yaml")
    tl.call_model(spec, output_dir="output")

| loop | extent | padded |
| --- | --- | --- |
{loops}

Factors multiply to the padded extents exactly; none is imperfect. Levels, outermost first:

| level | what it is | holds | words | loops, outermost first |
| --- | --- | --- | --- | --- |
{levels}

Words include the second half of double buffers. The buffers of an exterior I/O group are one level
above all lanes, as large as all of them together, so Timeloop fetches data that several of them hold
once. What copies partial sums in and out shares the level of the finished output. Permutations name the
innermost loop first, as Timeloop has it. `PE_loops` and `latency_hiding` store nothing: they separate
loops that one level would merge. There is no technology (-1), so Timeloop counts accesses and cycles,
not energy. Ithaca's pipeline (prologue, main, epilogue), its burst lengths and its packs beyond the
width of a buffer have no counterpart: expect other cycles.
"""


def export_timeloop(
    nest: LoopNest,
    array: SystolicArray,
    data: DataType,
    tiling: Tiling,
    technology: Technology = DEFAULT_TECHNOLOGY,
) -> Mapping[str, str]:
    """Everything Timeloop needs to evaluate a configuration.

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
    technology : Technology
        Gives the clock.

    Returns
    -------
    mapping of str to str
        Content by file name; `ithaca.workloads.writing.write_folder` writes it.

    Raises
    ------
    InputError
        If Timeloop cannot express the nest; it names all the reasons.
    """
    reasons = obstacles(nest)
    if reasons:
        raise InputError(f"Timeloop cannot express {nest}: {'; '.join(reasons)}")
    hierarchy = levels(nest, array, tiling, data.port_words)
    title = f"{nest}, design {array.name}"
    return {
        "problem.yaml": _yaml(problem(nest, tiling), title),
        "architecture.yaml": _yaml(architecture(hierarchy, data, technology), title),
        "mapping.yaml": _yaml(mapping(nest, hierarchy), title),
        "README.md": _readme(nest, array, tiling, hierarchy),
    }


def _yaml(document: dict[str, Any], title: str) -> str:
    from yaml import SafeDumper, dump

    class Dumper(SafeDumper):
        """Writes architecture nodes with their tags, and nothing by reference."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    Dumper.add_representer(Node, lambda dumper, node: dumper.represent_mapping(node.tag, node.content))
    text: str = dump(document, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=1000)
    return f"# {title}; written by Ithaca for Timeloop v0.4.\n{text}"


def _readme(nest: LoopNest, array: SystolicArray, tiling: Tiling, hierarchy: tuple[Level, ...]) -> str:
    padded = padded_extents(nest, tiling)
    return _README.format(
        statement=nest,
        design=array.name,
        loops="\n".join(f"| {loop} | {extent} | {padded[loop]} |" for loop, extent in nest.extents),
        levels="\n".join(_row(level) for level in hierarchy),
    )


def _row(level: Level) -> str:
    what = "lanes (spatial)" if level.kind is Kind.LANES else level.kind.value
    loops = ", ".join(f"{loop} {trips}" for loop, trips in level.loops)
    return f"| `{level.name}` | {what} | {', '.join(level.keeps)} | {level.words or ''} | {loops} |"
