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


def document(name: str) -> Any:
    """A file as it was written."""
    return json.loads((DATA / name).read_text())


def test_a_result_loads_and_is_written_as_it_was() -> None:
    loaded = load_result(DATA / "solve.json")
    assert len(loaded.designs) == 6
    assert {s.certificate.status for s in loaded.designs} == {Status.OPTIMAL}
    assert {s.certificate.termination for s in loaded.designs} == {None}
    assert result_document(loaded) == document("solve.json")
    assert list(result_document(loaded)) == list(document("solve.json"))


def test_a_network_loads_and_is_written_as_it_was() -> None:
    loaded = load_network_result(DATA / "network.json")
    assert [layer.layer.count for layer in loaded.layers] == [1, 2]
    assert json.dumps(network_document(loaded)) == json.dumps(document("network.json"))


def test_a_study_is_what_its_model_says() -> None:
    read = StudyDocument.model_validate(document("whatif.json"))
    assert [point.certificate.status for point in read.points] == [Status.INFEASIBLE, Status.OPTIMAL, Status.OPTIMAL]
    assert read.written() == document("whatif.json")
