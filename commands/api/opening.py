"""Answers for what takes one, or the file of one: each kind is read by what is imported for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ithaca.files.answer import Answer
from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.files.reading import is_there, read_document
from ithaca.files.registry import Registry
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution
from ithaca.studies.network.networks import NetworksAnswer
from ithaca.studies.network.parts import find_layer, layer_result
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.points import PointAnswer
from ithaca.workloads.library import NEST_FILES, PATH_ENDINGS, workload_names
from ithaca.workloads.networks.find import network_names

#: Answers with configurations.
Opened = Result | NetworkResult | NetworksAnswer | PointAnswer

#: Reads a document of a file.
Reader = Callable[[Any, Path], Answer]


def read_answer(document: Any, file: Path) -> Answer:
    """The answer that a document states. Raises `InputError` if the model has another one."""
    study = str(document.get("study") if isinstance(document, dict) else None)
    answer = READERS[study if study in READERS else "None"](document, file)
    stated: Any = answer
    return replace(stated, source=str(file)) if isinstance(answer, Opened) else answer


#: What reads documents of a study; those of none are results.
READERS: Registry[Reader] = Registry("readers")


def is_result(source: str) -> bool:
    """Whether a source is a result file, not the name of a workload."""
    if source in workload_names() or source.lower().endswith((*PATH_ENDINGS, *NEST_FILES)):
        return False
    return source.lower().endswith(".json") or is_there(source)


def check_result(source: str | Path) -> None:
    """Refuse the name of a workload or a network, where its answer is read."""
    solvers = {"solve": workload_names(), "network": network_names()}
    command = next((command for command, names in solvers.items() if str(source) in names), None)
    if command is not None and not is_there(source):
        answer = f"{source}.json that ithaca {command} {source} -o {source}.json writes"
        raise refuse(source, f"no such file; allowed: a result, such as {answer}")


def answer_of(source: str | Path | Answer, layer: str | None) -> Opened:
    """An answer, or the one in a file; of layers the whole, or the one that is named."""
    if isinstance(source, str | Path):
        check_result(source)
        answer = read_answer(read_document(source), Path(source))
        if layer is not None:
            return answer_of(answer, layer)
        if not isinstance(answer, Opened):
            raise InputError(
                f"{source} is a file of {type(answer).__name__}; allowed: a result of a workload, "
                "or of a network"
            )
        return answer
    if layer is not None and isinstance(source, NetworkResult):
        return layer_result(source, find_layer(source, layer), source.source)
    if layer is not None and isinstance(source, NetworksAnswer):
        return answer_of(source.network_of(layer), layer.rpartition(":")[2])
    if not isinstance(source, Opened):
        allowed = "an answer with configurations, or a file's name"
        raise InputError(f"result is a {type(source).__name__}; allowed: {allowed}")
    if layer is not None:
        raise InputError(
            f"--layer is '{layer}', yet {source.source} is no result of a "
            "network; allowed: without --layer"
        )
    return source


def opened(
    source: str | Path | Answer, layer: str | None = None
) -> Result | NetworkResult | NetworksAnswer:
    """An answer, or the one in a file, for what takes configurations: fronts and studies are
    refused, as they have one at every point."""
    answer = answer_of(source, layer)
    if isinstance(answer, PointAnswer):
        from ithaca.studies.front import Front
        from ithaca.studies.network.front import NetworkFront

        what = "front" if isinstance(answer, Front | NetworkFront) else "what-if study"
        raise InputError(
            f"{answer.source} is a {what}; allowed: a result of a workload or of layers; "
            f"explain, report and verify take {'fronts' if what == 'front' else 'studies'}, too"
        )
    return answer


def opened_layers(source: str | Path | Answer, layer: str | None = None) -> Result | NetworkResult:
    """An answer, or the one in a file, for what takes layers: of several workloads
    the only one."""
    answer = opened(source, layer)
    if not isinstance(answer, NetworksAnswer):
        return answer
    network = answer.network_of(None)
    if len(answer.networks) > 1:
        name = network.layers[0].layer.name
        raise InputError(
            f"{answer.source} has several workloads; allowed with it: "
            f"--layer NAME, such as --layer {name}"
        )
    return network


def one_result(source: str | Path | Answer, layer: str | None = None) -> Result:
    """The result of one workload, or the one in a file; of a network a layer must be named."""
    answer = opened(source, layer)
    if isinstance(answer, Result):
        return answer
    network = answer if isinstance(answer, NetworkResult) else answer.network_of(None)
    what, first = getattr(answer, "what", "a network"), network.layers[0].layer.name
    raise InputError(
        f"{answer.source} is a result of {what}; allowed with it: "
        f"--layer NAME, such as --layer {first}"
    )


def solutions_of(result: Result | NetworkResult) -> list[tuple[str, Solution]]:
    """The solutions of a result that have a configuration, by number, or of a network's by layer.

    Raises `InputError` if there is none.
    """
    if isinstance(result, NetworkResult):
        solutions = [
            (layer.layer.name, layer.answer)
            for layer in result.layers
            if layer.answer.configuration is not None
        ]
    else:
        configured = (
            solution for solution in result.solutions if solution.configuration is not None
        )
        solutions = [(str(number), solution) for number, solution in enumerate(configured, start=1)]
    if not solutions:
        raise refuse(result.source, "best and designs have no tiling; allowed: at least one point")
    return solutions
