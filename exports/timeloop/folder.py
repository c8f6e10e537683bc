"""The exported folder: three documents in YAML, what is said about them, and what Timeloop's format cannot state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ithaca.exports.configuration import ArrayConfiguration, Tool
from ithaca.exports.timeloop.documents import Node, architecture, mapping, problem
from ithaca.exports.timeloop.levels import Kind, Level, levels
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


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Every reason, in plain words, why Timeloop cannot express a nest; designs and tilings are no obstacle."""
    return (*_of_names(nest), *_of_subscripts(nest))


def _of_names(nest: LoopNest) -> Iterator[str]:
    for loop in nest.loops:
        if not (len(loop) == 1 and loop.isascii() and loop.isalpha()):
            yield f"loop '{loop}': dimensions are single letters, because Timeloop joins them to permutations"


def _of_subscripts(nest: LoopNest) -> Iterator[str]:
    for access in nest.accesses:
        for subscript in access:
            if subscript.constant or not subscript.terms:
                yield f"subscript {subscript} of {access}: projections have no constants"
            elif any(coefficient < 0 for _, coefficient in subscript.terms):
                yield f"subscript {subscript} of {access}: projections have no negative coefficients"


def _written(configuration: ArrayConfiguration) -> Mapping[str, str]:
    hierarchy = levels(configuration)
    title = f"{configuration.nest}, design {configuration.design.name}"
    return {
        "problem.yaml": _yaml(problem(configuration), title),
        "architecture.yaml": _yaml(architecture(hierarchy, configuration), title),
        "mapping.yaml": _yaml(mapping(configuration.nest, hierarchy), title),
        "README.md": _readme(configuration, hierarchy),
    }


TIMELOOP = Tool("Timeloop cannot express", nest_obstacles, lambda chosen: nest_obstacles(chosen.nest), _written)


def _yaml(document: dict[str, Any], title: str) -> str:
    from yaml import SafeDumper, dump

    class Dumper(SafeDumper):
        """Writes architecture nodes with their tags, and nothing by reference."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    Dumper.add_representer(Node, lambda dumper, node: dumper.represent_mapping(node.tag, node.content))
    text: str = dump(document, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=1000)
    return f"# {title}; written by Ithaca for Timeloop v0.4.\n{text}"


def _readme(configuration: ArrayConfiguration, hierarchy: tuple[Level, ...]) -> str:
    padded = configuration.padded
    return _README.format(
        statement=configuration.nest,
        design=configuration.design.name,
        loops="\n".join(f"| {loop} | {extent} | {padded[loop]} |" for loop, extent in configuration.nest.extents),
        levels="\n".join(_row(level) for level in hierarchy),
    )


def _row(level: Level) -> str:
    what = "lanes (spatial)" if level.kind is Kind.LANES else level.kind.value
    loops = ", ".join(f"{loop} {trips}" for loop, trips in level.loops)
    return f"| `{level.name}` | {what} | {', '.join(level.keeps)} | {level.words or ''} | {loops} |"
