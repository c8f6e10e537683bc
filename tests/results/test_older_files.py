"""Files of earlier versions: a result, a network and a study, as they were written before families
were named in them.

`older.tar.xz` has 23 files of every kind that the commands of f58d803 wrote, by which results still
had to be loaded, and 7 of 787a056, by which sums of narrow words were counted as wide as words.
"""

import json
from pathlib import Path
from shlex import split

import pytest

import ithaca
from ithaca.results.files import load_result, result_document
from ithaca.results.network import load_network_result, network_document
from ithaca.results.studies import StudyDocument
from ithaca.solver.certificate import Status
from tests.reference import unpack

DATA = Path(__file__).parent / "data"

#: Metrics that those versions did not know, or had in another unit (mW).
LATER = {"time", "bandwidth", "dsp_by_module", "bram18k_by_module", "cycles_by_module", "power"}


def without_later_metrics(document):
    """A document without the metrics that those versions did not know; it must have had them."""
    if isinstance(document, list):
        return [without_later_metrics(part) for part in document]
    if not isinstance(document, dict):
        return document
    if document.get("metrics") is not None:
        assert set(document["metrics"]) >= LATER
        document = document | {
            "metrics": {k: v for k, v in document["metrics"].items() if k not in LATER}
        }
    return {name: without_later_metrics(part) for name, part in document.items()}


def without_power(document):
    """A document of those versions without powers; it must have had them."""
    if isinstance(document, list):
        return [without_power(part) for part in document]
    if not isinstance(document, dict):
        return document
    if document.get("metrics") is not None:
        own = dict(document["metrics"])
        assert own.pop("power") > 0
        document = document | {"metrics": own}
    return {name: without_power(part) for name, part in document.items()}


def document(name):
    """A file as it was written."""
    return json.loads((DATA / name).read_text())


def test_a_result_loads_and_is_written_as_it_was():
    loaded = load_result(DATA / "solve.json")
    assert len(loaded.designs) == 6
    assert {s.certificate.status for s in loaded.designs} == {Status.OPTIMAL}
    assert {s.certificate.termination for s in loaded.designs} == {None}
    model = result_document(loaded)
    assert model.pop("restriction") == {}  # those versions did not state which designs were asked
    assert without_later_metrics(model) == without_power(document("solve.json"))
    assert list(model) == list(document("solve.json"))


def test_a_network_loads_and_is_written_as_it_was():
    loaded = load_network_result(DATA / "network.json")
    assert [layer.layer.count for layer in loaded.layers] == [1, 2]
    model = network_document(loaded)
    assert model["total"].pop("share") == 1  # those versions did not state it
    older = without_power(document("network.json"))
    assert json.dumps(without_later_metrics(model)) == json.dumps(older)


def test_a_study_is_what_its_model_says():
    read = StudyDocument.model_validate(document("whatif.json"))
    assert [point.certificate.status for point in read.points] == [
        Status.INFEASIBLE,
        Status.OPTIMAL,
        Status.OPTIMAL,
    ]
    assert read.as_json() == document("whatif.json")


#: Files of f58d803; those of networks for AutoSA are of fewer configurations than it builds today.
OLDER = split("""
optimal infeasible gap autosa mapping no_mapping match layers layers_none layers_autosa fused
mapped_fused shared_dataflow shared_array shared_gap shared_none multi_array slowest codesign
codesign_none codesign_gap codesign_cut codesign_front
""")

#: Files of 787a056.
NARROW = split("int8 fp16 network_int8 study_int8 study_types front_int8 simulation_int8")


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    folder = tmp_path_factory.mktemp("older")
    unpack(DATA / "older.tar.xz", folder)
    assert {path.stem for path in folder.iterdir()} == {*OLDER, *NARROW}
    return folder


@pytest.mark.parametrize("name", [*OLDER, *NARROW])
def test_earlier_files_load(older, name):
    loaded = ithaca.load(older / f"{name}.json")
    document = json.loads((older / f"{name}.json").read_text())
    part = "total" if "total" in document else "objective"
    written = loaded.document.get(part)
    if isinstance(written, dict):
        for name in ("utilisation", "share"):  # which earlier versions did not state
            written.pop(name, None)
    assert written == document.get(part)


@pytest.mark.parametrize("name", [name for name in OLDER if name != "layers_autosa"])
def test_earlier_files_are_verified(older, name):
    assert ithaca.verify(older / f"{name}.json").confirmed


@pytest.mark.parametrize("name", NARROW)
def test_sums_as_wide_as_words_are_verified_as_such(older, name):
    assert ithaca.verify(older / f"{name}.json").confirmed


def test_files_state_how_wide_sums_are(older, tmp_path):
    """Files of an earlier version that say int8 remain so when written again; new ones do not look
    like them."""
    ithaca.load(older / "int8.json").save(tmp_path / "again.json")
    ithaca.solve("mm", i=8, j=8, k=8, dtype="int8", limit={"dsp": 9}).save(tmp_path / "new.json")
    stated = [
        json.loads((tmp_path / f"{n}.json").read_text())["workload"]["dtype"]
        for n in ("again", "new")
    ]
    assert stated == ["int8", "int8/32"]
    assert ithaca.load(tmp_path / "again.json").best.metrics["dsp"] == 32


def test_values_of_other_designs_of_a_shared_array_are_no_claims(older):
    """Earlier versions stated how far they were searched, and the best array found of each, which
    nobody proved."""
    document = json.loads((older / "shared_array.json").read_text())
    first, second, *_ = document["choices"]
    assert (first["value"], second["value"], second["chosen"]) == (209, 446, False)
    loaded = ithaca.load(older / "shared_array.json").document
    assert [choice.get("value") for choice in loaded["choices"]] == [209, *[None] * 5]
    assert loaded["choices"][1]["certificate"] == second["certificate"] | {
        "status": "unknown",
        "gap": None,
    }
    assert not any("how_far" in choice for choice in loaded["choices"])


def test_the_unrestricted_optimum_of_earlier_files_is_of_the_designs_of_their_question(
    older,
):
    """The designs of the result are those of an optimum of which the file does not say it."""
    document = json.loads((older / "autosa.json").read_text())
    loaded = ithaca.load(older / "autosa.json")
    free, own = (
        {each.design.name for each in problems}
        for problems in (loaded.unrestricted.problems, [s.problem for s in loaded.designs])
    )
    assert free >= own
    assert loaded.document["unrestricted"] == document["unrestricted"]
