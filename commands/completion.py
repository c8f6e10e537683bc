"""What a shell completes: values of arguments and options, by the names of these."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from ithaca.workloads.errors import InputError


def completed(option: str) -> Callable[[Any, str], list[str]] | None:
    """What completes an option or argument of this name, given what was typed before; None where nothing does."""
    values = _VALUES.get(option)
    if values is None:
        return None

    def complete(ctx: Any, incomplete: str) -> list[str]:
        # of a list, its last part; of NAME=VALUE the name
        before, comma, last = incomplete.rpartition(",") if option in _LISTS else ("", "", incomplete)
        try:
            known = list(values(ctx.params, last))
        except (InputError, OSError, KeyError, TypeError):  # what was typed before does not fit: the command will say so
            return []
        return [before + comma + value for value in dict.fromkeys(known) if value.startswith(last)]

    return complete


def _files(start: str, *endings: str) -> list[str]:
    folder, name = os.path.split(start)
    found = sorted(Path(folder or ".").glob(f"{escape(name)}*"))
    return [start[: len(start) - len(name)] + path.name for path in found if path.suffix in endings]


def _workloads(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.workloads.library import workload_names

    return [*workload_names(), *_files(start, ".yaml", ".yml")]


def _workloads_and_results(words: Mapping[str, Any], start: str) -> Iterable[str]:
    return [*_workloads(words, start), *_files(start, ".json")]


def _networks(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.workloads.networks.find import network_names

    return [*network_names(), *_files(start, ".yaml", ".onnx")]


def _platforms(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.formulations.platform_files import platform_names

    return [*platform_names(), *_files(start, ".yaml")]


def _metrics(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.formulations.systolic.metrics import METRICS

    return METRICS


def _limits(words: Mapping[str, Any], start: str) -> Iterable[str]:
    return (f"{name}=" for name in _metrics(words, start))


def _nest(words: Mapping[str, Any]) -> Any:
    """The workload that was typed, by itself or in a result."""
    from ithaca.formulations.systolic.design import systolic
    from ithaca.studies.network.loading import is_result, load_one
    from ithaca.workloads.library import workload

    name = words["workload"] if "workload" in words else words["source"]
    return systolic(load_one(Path(name), None).problem).nest if is_result(name) else workload(name)


def _sizes(words: Mapping[str, Any], start: str) -> Iterable[str]:
    if "name" in words:
        from ithaca.workloads.networks.find import find_network

        return (f"{name}=" for name, _ in find_network(words["name"]).parameters)
    return (f"{name}=" for name in _nest(words).settings)


def _dataflows(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.formulations.systolic.dataflows import dataflows

    return (",".join(loops) for loops in dataflows(_nest(words)))


def _permutations(words: Mapping[str, Any], start: str) -> Iterable[str]:
    return (access.tensor for access in _nest(words).accesses)


def _designs(words: Mapping[str, Any], start: str) -> Iterable[str]:
    """The designs of the result that was typed."""
    from ithaca.studies.network.loading import load_one

    return (solution.design.strip("[").replace("]", "") for solution in load_one(Path(words["result"]), words["layer"]).designs)


def _layers(words: Mapping[str, Any], start: str) -> Iterable[str]:
    """The layers of the network or result that was typed."""
    if "name" in words:
        from ithaca.workloads.networks.find import find_network

        return (layer.name for layer in find_network(words["name"]).layers)
    from ithaca.studies.network.documents import load_network_result

    return (layer.layer.name for layer in load_network_result(Path(words["result"])).layers)


def _dtypes(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.formulations.systolic.data_types import DATA_TYPES

    return DATA_TYPES


def _methods(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.solver.engines import Method

    return (method.value for method in Method)


def _editions(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.formulations.systolic.systolic_array import Edition

    return (edition.value for edition in Edition)


def _modes(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.studies.network.modes import MODES

    return MODES


def _targets(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.api.exporting import TARGETS

    return TARGETS


def _seed_tools(words: Mapping[str, Any], start: str) -> Iterable[str]:
    from ithaca.api.seeding import TOOLS

    return TOOLS


#: Values by the name of an option or argument, given the others typed before it, and what they begin with.
_VALUES: Mapping[str, Callable[[Mapping[str, Any], str], Iterable[str]]] = {
    "workload": _workloads,
    "source": _workloads_and_results,
    "name": _networks,
    "file": lambda words, start: _files(start, ".json"),
    "result": lambda words, start: _files(start, ".json"),
    "start": lambda words, start: _files(start, ".json"),
    "points": lambda words, start: _files(start, ".csv", ".json"),
    "platform": _platforms,
    "dtype": _dtypes,
    "edition": _editions,
    "method": _methods,
    "mode": _modes,
    "objective": _metrics,
    "objectives": _metrics,
    "metric": _metrics,
    "limit": _limits,
    "sizes": _sizes,
    "dataflow": _dataflows,
    "permutation": _permutations,
    "design": _designs,
    "layer": _layers,
    "layers": _layers,
    "to": _targets,
    "tool": _seed_tools,
}

#: Options whose values are lists with commas.
_LISTS = frozenset({"limit", "sizes", "objectives"})
