"""Files of an earlier version: a result, a network and a study, as they were written before families were named in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ithaca.results.certificate import Status
from ithaca.results.files import load_result, result_document
from ithaca.studies.documents import StudyDocument
from ithaca.studies.network.documents import load_network_result, network_document

DATA = Path(__file__).parent / "data"

#: Metrics that those versions did not know.
LATER = {"time", "bandwidth"}


def without_later_metrics(document: Any) -> Any:
    """A document without the metrics that those versions did not know; it must have had them."""
    if isinstance(document, list):
        return [without_later_metrics(part) for part in document]
    if not isinstance(document, dict):
        return document
    if document.get("metrics") is not None:
        assert set(document["metrics"]) >= LATER
        document = document | {"metrics": {k: v for k, v in document["metrics"].items() if k not in LATER}}
    return {name: without_later_metrics(part) for name, part in document.items()}


def document(name: str) -> Any:
    """A file as it was written."""
    return json.loads((DATA / name).read_text())


def test_a_result_loads_and_is_written_as_it_was() -> None:
    loaded = load_result(DATA / "solve.json")
    assert len(loaded.designs) == 6
    assert {s.certificate.status for s in loaded.designs} == {Status.OPTIMAL}
    assert {s.certificate.termination for s in loaded.designs} == {None}
    assert without_later_metrics(result_document(loaded)) == document("solve.json")
    assert list(result_document(loaded)) == list(document("solve.json"))


def test_a_network_loads_and_is_written_as_it_was() -> None:
    loaded = load_network_result(DATA / "network.json")
    assert [layer.layer.count for layer in loaded.layers] == [1, 2]
    assert json.dumps(without_later_metrics(network_document(loaded))) == json.dumps(document("network.json"))


def test_a_study_is_what_its_model_says() -> None:
    read = StudyDocument.model_validate(document("whatif.json"))
    assert [point.certificate.status for point in read.points] == [Status.INFEASIBLE, Status.OPTIMAL, Status.OPTIMAL]
    assert read.written() == document("whatif.json")
