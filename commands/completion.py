"""Shell completion: the values of arguments and options, by the names of these."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.formulations.families import QUESTIONS

#: Options whose values are lists with commas.
_LISTS = frozenset({"limit", "sizes", "tile", "objectives"})

#: Values of options that only a plug-in knows, by what was typed of one; of an option, or of one of
#: a command (``seed to``).
COMPLETIONS: Registry[Callable[[str], Iterable[str]]] = Registry("completions")

#: The engines by the names of methods.
ENGINES: Registry[object] = Registry("engines")


def completed(option: str) -> Callable[[Any, str], list[str]]:
    """The function that completes an option or argument of this name, given the words typed before;
    it returns no values where the shell is to complete."""

    def complete(ctx: Any, incomplete: str) -> list[str]:
        before, comma, last = (
            incomplete.rpartition(",") if option in _LISTS else ("", "", incomplete)
        )
        try:
            known = list(_values(option, ctx.params, last, ctx.info_name))
        except (
            InputError,
            OSError,
            KeyError,
            TypeError,
        ):  # what was typed before does not fit: the command will say so
            return []
        return [before + comma + value for value in dict.fromkeys(known) if value.startswith(last)]

    return complete


def _values(option: str, words: Mapping[str, Any], start: str, command: str) -> Iterable[str]:
    """Values of an option, or files that begin with what was typed.

    Parameters
    ----------
    option : str
        The option.
    words : mapping
        The values before it, by option.
    start : str
        What was typed of this one.
    command : str
        The command.
    """
    for name in (option, f"{command} {option}"):
        if name in COMPLETIONS:
            return COMPLETIONS[name](start)
    match option:
        case "workload" if "space" in words:
            return _networks(start)
        case "workload" | "source":
            from ithaca.workloads.library import workload_names

            endings = (".yaml", ".yml", ".json") if option == "source" else (".yaml", ".yml")
            return [*workload_names(), *files_from(start, *endings)]
        case "name":
            return _networks(start)
        case "result" | "file" | "start" | "compare":
            return files_from(start, ".json")
        case "points":
            return files_from(start, ".csv", ".json")
        case "objective" | "objectives" | "metric" | "limit":
            names = [metric for each in QUESTIONS.values() for metric in each.metrics]
            return (f"{name}=" for name in names) if option == "limit" else names
        case "method":
            return ENGINES
        case "mode":
            from ithaca.studies.network.modes import MODES

            return MODES
        case "to":
            from ithaca.exports.configuration import TARGETS

            return TARGETS
        case "sizes" | "tile" | "dataflow" | "permutation":
            return _of_workload(option, words)
        case "layers" | "layer" | "design":
            return _of_network(option, words)
    named = next(filter(None, (each.named(option) for each in QUESTIONS.values())), ())
    return [*named, *(files_from(start, ".yaml") if option in ("platform", "arch") else ())]


def _networks(start: str) -> list[str]:
    """Names of networks, and files that begin with what was typed."""
    from ithaca.workloads.networks.find import network_endings, network_names

    return [*network_names(), *files_from(start, *network_endings())]


def _last_name(words: Mapping[str, Any]) -> str:
    """The network that was typed last, of several that one machine runs."""
    from ithaca.workloads.networks.several import read_part

    return read_part(words["name"][-1]).source


def _of_workload(option: str, words: Mapping[str, Any]) -> Iterable[str]:
    """Loops and tensors of the workload that was typed, by itself or in a result; or parameters of
    a network."""
    from ithaca.commands.api.opening import is_result, one_result
    from ithaca.formulations.families import profile_of
    from ithaca.workloads.library import workload
    from ithaca.workloads.networks.find import find_network

    if option == "sizes" and "name" in words:
        return [f"{name}=" for name, _ in find_network(_last_name(words)).parameters]
    name = words["workload"] if "workload" in words else words["source"]
    result = is_result(name)
    nest = profile_of(one_result(name).problem.design).nest if result else workload(name)
    if nest is None:
        return ()
    if option in ("sizes", "tile"):
        return [f"{loop}=" for loop in (nest.settings if option == "sizes" else nest.loops)]
    return next(filter(None, (each.named(option, nest) for each in QUESTIONS.values())), ())


def _of_network(option: str, words: Mapping[str, Any]) -> Iterable[str]:
    """Layers of the network, or layers and designs of the result, that was typed."""
    from ithaca.commands.api.opening import one_result
    from ithaca.files.reading import read_document
    from ithaca.results.network import read_network_result
    from ithaca.workloads.networks.find import find_network

    if option == "layers":
        return [layer.name for layer in find_network(_last_name(words)).layers]
    file = Path(words["result"])
    if option == "layer":
        return read_network_result(read_document(file), file).layer_names
    return [
        solution.design.strip("[").replace("]", "")
        for solution in one_result(file, words["layer"]).designs
    ]


def files_from(start: str, *endings: str) -> list[str]:
    folder, name = os.path.split(start)
    paths = sorted(Path(folder or ".").glob(f"{escape(name)}*"))
    return [start[: len(start) - len(name)] + path.name for path in paths if path.suffix in endings]
