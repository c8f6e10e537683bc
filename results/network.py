"""The result of a network as a JSON document, and how a file is read back.

A document says what was found and what is proven, not how long that took: a run that was killed and
started again writes the same file as one in one go. Boxes and seconds of each search are in the
results folder.

A file may have been edited, cut off or written by another version. So every configuration is
evaluated again by the Fraction reference, and the document of what was read must be the document in
the file.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.files.registry import Registry
from ithaca.files.writing import SCHEMA
from ithaca.formulations.families import UNNAMED
from ithaca.results.consistency import check_consistent
from ithaca.results.files import check_same
from ithaca.results.schema import configuration_fields, platform_fields
from ithaca.studies.network.result import LayerResult, NetworkResult

#: What writes and reads the networks of a family: modules.
DOCUMENTS: Registry[ModuleType] = Registry("network documents")


def network_models() -> dict[str, Any]:
    """The models of the families whose networks have files."""
    return {family: own.MODEL for family, own in DOCUMENTS.items()}


def network_document(result: NetworkResult) -> dict[str, Any]:
    """The document of ``ithaca network``. Raises `InputError` if layers have none by themselves."""
    if result.family not in DOCUMENTS:
        raise InputError(
            f"layers of family {result.family} have no document by themselves; allowed: that of "
            "the answer that they are of"
        )
    own, request, total = DOCUMENTS[result.family], result.request, result.total
    network, fusing, minimised = result.network, result.fusing, result.layer_objective.text
    fields = {
        "schema": SCHEMA,
        "study": "network",
        "family": result.family,
        "mode": result.mode,
        "network": {
            "name": network.name,
            "parameters": dict(network.parameters),
            "omissions": list(network.unsupported),
            "order": [] if fusing is None else list(network.order),
            "run": network.run,
            "parts": list(network.parts),
        },
        "platform": platform_fields(request.place, request.limits),
        "objective": request.objective.text,
        "layer_objective": None if minimised == request.objective.text else minimised,
        "method": result.method,
        "complete": result.complete,
        "finished": result.finished if result.finished != result.complete else None,
        "total": {
            "value": None if total is None else total.value,
            "certificate": None if total is None else total.certificate,
            **result.share.document,
            "latency": result.sum_of("latency"),
            **own.total_fields(result),
        },
        "layers": [_layer(layer, own) for layer in result.layers],
        "failures": list(result.failures),
        "fusing": None
        if fusing is None
        else {
            "edges": list(fusing.edges),
            "value": fusing.without.value,
            "certificate": fusing.without.certificate,
        },
        **own.fields(result),
    }
    document: dict[str, Any] = own.MODEL.model_validate(fields, from_attributes=True).as_json()
    return document


def _layer(result: LayerResult, own: ModuleType) -> dict[str, Any]:
    layer, answer = result.layer, result.answer
    best = None
    if answer.configuration is not None:
        best = configuration_fields(answer.problem, answer.configuration)
    return {
        "name": layer.name,
        "count": layer.count,
        "sources": layer.sources,
        "kept": dict(answer.problem.design.kept),
        "value": answer.value,
        "certificate": answer.certificate,
        "best": best,
        "shortfalls": list(answer.shortfalls),
        **own.layer_fields(result),
    }


def read_network_result(document: Any, path: Path) -> NetworkResult:
    """Read the result of a network that a document states, and check it against the model.

    Boxes and seconds of the searches are not in the file; they are read as 0.

    Raises `InputError` if it is no such file, or it is not what the model computes.
    """
    family = document.get("family") if isinstance(document, dict) else None
    own = DOCUMENTS[family if family in list(DOCUMENTS) else UNNAMED]
    read = validated(own.MODEL, document, path)
    with errors_at(path):
        result: NetworkResult = own.result(read)
        check_same(read.as_json(), network_document(result), "")
        check_consistent(result)
    return result
