"""`ithaca.load`: results from files; and results for what takes either."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument

from ithaca.commands.api.answers import Answer, NetworkResult, Result
from ithaca.commands.api.codesign_result import CodesignResult
from ithaca.commands.api.codesign_study import CodesignStudy, read_codesign_study
from ithaca.commands.api.fronts import Front
from ithaca.commands.api.keywords import public
from ithaca.commands.api.matching import STUDY as MATCH
from ithaca.commands.api.matching import Matches, read_matches
from ithaca.commands.api.options import LayerName
from ithaca.commands.api.studies import Study
from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.files.reading import parse_json, read_text
from ithaca.results.codesign import read_codesign
from ithaca.results.files import load_result
from ithaca.results.network import MAX_BYTES, load_network_result
from ithaca.results.study_files import read_front, read_study
from ithaca.solver.solution import Solution
from ithaca.studies.network.parts import find_layer, layer_result
from ithaca.workloads.library import PATH_ENDINGS, workload_names

#: Answers with a configuration at every point.
Studied = Front | Study | CodesignStudy

Opened = Result | NetworkResult | CodesignResult | Studied


@public
def load(
    path: Annotated[
        str | Path,
        Argument(
            metavar="FILE", help="A result, a front, a study or matches, as written by save or -o."
        ),
    ],
    *,
    layer: LayerName = None,
) -> Opened | Matches:
    """Read a result, and check it against the model: of a workload, a network, a co-design, or a
    layer of one; a front, a what-if study, or matches."""
    file, source = Path(path), str(path)
    if file.suffix.lower() == ".nc":
        raise refuse(file, "it is NetCDF, a table without proofs; allowed: the answer as JSON")
    document = parse_json(read_text(file, MAX_BYTES), file)
    study = document.get("study") if isinstance(document, dict) else None
    if study == MATCH:
        return read_matches(document, file)
    if study == "codesign":
        return answer_of(CodesignResult.of(read_codesign(document, file), source=source), layer)
    if study == "network":
        return answer_of(NetworkResult.of(load_network_result(file), source=source), layer)
    if study == "codesign-whatif":
        return answer_of(read_codesign_study(document, file), layer)
    if study == "pareto":
        return answer_of(Front.of(read_front(document, file), source=source), layer)
    if study == "whatif":
        return answer_of(Study.of(read_study(document, file), source=source), layer)
    return answer_of(Result.of(load_result(file), source=source), layer)


def is_result(source: str) -> bool:
    """Whether a source is a result file, not the name of a workload."""
    if source in workload_names() or source.lower().endswith(PATH_ENDINGS):
        return False
    return source.lower().endswith(".json") or Path(source).exists()


def answer_of(given: str | Path | Answer, layer: str | None = None) -> Opened:
    """An answer, or the one in a file; of a network or a co-design the whole, or the layer that is
    named."""
    if isinstance(given, str | Path):
        found = load(given, layer=layer)
        if isinstance(found, Matches):
            raise InputError(
                f"{given} is a file of matches; allowed: a result of a workload, or of a network"
            )
        return found
    if layer is not None and isinstance(given, NetworkResult):
        return Result.of(layer_result(given, find_layer(given, layer)), source=given.source)
    if layer is not None and isinstance(given, CodesignResult):
        return answer_of(given.network_of(layer), layer.rpartition(":")[2])
    if not isinstance(given, Opened):
        allowed = "a Result, a NetworkResult, a CodesignResult, a Front, a Study, or a file's name"
        raise InputError(f"result is a {type(given).__name__}; allowed: {allowed}")
    if layer is not None:
        raise InputError(
            f"--layer is '{layer}', yet {given.source} is no result of a "
            "network; allowed: without --layer"
        )
    return given


def opened(
    given: str | Path | Answer, layer: str | None = None
) -> Result | NetworkResult | CodesignResult:
    """The same, for what takes configurations: fronts and studies have one at every point."""
    found = answer_of(given, layer)
    if isinstance(found, Studied):
        what = "front" if isinstance(found, Front) else "what-if study"
        raise InputError(
            f"{found.source} is a {what}; allowed: a result of a workload, network or co-design; "
            f"explain, report and verify take {'fronts' if what == 'front' else 'studies'}, too"
        )
    return found


def opened_layers(given: str | Path | Answer, layer: str | None = None) -> Result | NetworkResult:
    """The same, for what takes layers: of a co-design its workload on the best accelerator, if it
    has only one."""
    found = opened(given, layer)
    if not isinstance(found, CodesignResult):
        return found
    network = found.network_of(None)
    if len(found.networks) > 1:
        name = network.layers[0].layer.name
        raise InputError(
            f"{found.source} has several workloads; allowed with it: "
            f"--layer NAME, such as --layer {name}"
        )
    return network


def one_result(given: str | Path | Answer, layer: str | None = None) -> Result:
    """The same, for what takes the result of one workload: of a network a layer must be named."""
    found = opened(given, layer)
    if isinstance(found, Result):
        return found
    network = found if isinstance(found, NetworkResult) else found.network_of(None)
    what, first = "a network" if network is found else "a co-design", network.layers[0].layer.name
    raise InputError(
        f"{found.source} is a result of {what}; allowed with it: "
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
        found = (solution for solution in result.solutions if solution.configuration is not None)
        solutions = [(str(number), solution) for number, solution in enumerate(found, start=1)]
    if not solutions:
        raise refuse(result.source, "best and designs have no tiling; allowed: at least one point")
    return solutions
