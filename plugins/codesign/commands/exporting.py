"""`ithaca.export` of a co-design."""

from __future__ import annotations

from pathlib import Path

from ithaca.commands.api.exporting import layer_files, share_text
from ithaca.exports.configuration import tools_of
from ithaca.exports.layers import TABLE
from ithaca.files.answer import Wrote
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.files.writing import write_folder
from ithaca.formulations.families import profile_of
from ithaca.plugins.codesign.studies.result import CodesignResult


def export_codesign(result: CodesignResult, to: str, output: str | Path, nearest: bool) -> Wrote:
    """Export the best accelerator as an architecture, and the mapping of every layer where the tool
    can take it.

    Parameters
    ----------
    result : CodesignResult
        The co-design.
    to : str
        The name of the tool.
    output : str or Path
        The folder to write.
    nearest : bool
        Whether other configurations may be exported, which is refused.
    """
    takers = {
        name: tool
        for name, tool in tools_of(result.question.space.accelerator.family).items()
        if tool.architecture is not None
    }
    if nearest:
        raise InputError("--nearest does not go with a co-design; allowed: without it")
    if to not in takers:
        allowed = f"--to {', '.join(takers)}" if takers else "a layer of it (--layer)"
        raise InputError(f"--to {to} does not go with a co-design; allowed: {allowed}")
    tool, architecture = takers[to], takers[to].architecture
    if result.architecture is None or architecture is None:
        raise InputError(
            f"{result.source} has no best memory hierarchy; allowed: a result that has one"
        )
    files, summary = (
        dict(architecture(result.architecture)),
        "arch.yaml, for ithaca map --arch",
    )
    design = result.networks[0].layers[0].answer.problem.design
    if profile_of(design).attributes["edition"] == tool.edition:
        for network in result.networks:
            folder = "" if len(result.networks) == 1 else f"{network.network.name}/"
            files |= {
                f"{folder}{name}": text
                for name, text in layer_files(tool, network, nearest)[0].items()
            }
        summary += f", and {counted(len(result.question.works), 'layer')} ({TABLE})"
        summary += share_text(result)
    write_folder(output, files)
    return Wrote(output, summary)
