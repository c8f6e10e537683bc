"""Kept results: a proof is believed where this user's Ithaca, as it is, made it; any is proven again
where that is asked for."""

import json
import os
import stat

import pytest

from ithaca.files.caches import proving_code
from ithaca.files.errors import InputError
from ithaca.files.seals import VARIABLE, own_key, seal
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.studies import store as stores
from ithaca.studies.best import solve_best
from ithaca.studies.store import Store, Trust, digest, fingerprint
from ithaca.studies.whatif import run_study
from tests.command_line import refused, succeed
from tests.problems import mm_problem

#: A question of two designs on few DSPs.
PROBLEMS = [
    mm_problem((4, 4, 4), d, dsp="40", space=SpaceOptions(divisors_only=True))
    for d in (("i", "j"), ("i", "k"))
]


def best(store, problems=PROBLEMS):
    """The answer of a study that keeps its results in a store."""
    (point,) = run_study((), lambda values: problems, store=store).points.values()
    return point.answer


def worse():
    """A configuration of the first design that is not the best, with its value."""
    least = solve_best(PROBLEMS[:1])
    assert least.configuration is not None
    for pack in ("pack.A", "pack.B", "pack.C_drain"):
        other = Configuration({**least.configuration, pack: 1})
        value = PROBLEMS[0].feasible_value(other)
        if value is not None and value != least.value:
            return other, value
    raise AssertionError("all packs are 1")


def suboptimal(document):
    """A worse configuration that is said to be optimal."""
    configuration, value = worse()
    changes = {"design": 0, "configuration": dict(configuration), "value": str(value)}
    return {**document, **changes, "lower_bound": str(value), "ties_broken": None}


def infeasible(document):
    """The claim that nothing is possible."""
    changes = dict.fromkeys(("design", "configuration", "value", "lower_bound"))
    return {**document, **changes, "status": "infeasible", "ties_broken": None}


def without_lanes(document):
    """The claim that nothing of the best configuration has any size."""
    return {**document, "configuration": dict.fromkeys(document["configuration"], 0)}


LIES = [suboptimal, infeasible]


def change(path, lie, key=None):
    """Have a file claim something else, perhaps with a seal."""
    document = lie(json.loads(path.read_text()))
    if key is not None:
        document["seal"] = seal(document, key)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("lie", LIES)
def test_a_changed_proof_is_made_anew_unless_such_files_are_trusted(lie, tmp_path):
    notes = []
    honest = best(Store(tmp_path))
    (path,) = tmp_path.iterdir()
    change(path, lie)
    trusting = best(Store(tmp_path, notes.append, trust=Trust(foreign=True)))
    assert trusting.value != honest.value
    assert trusting.certificate.status.proven
    assert notes == []
    again = best(Store(tmp_path, notes.append))
    assert (again.value, again.certificate.status) == (honest.value, Status.OPTIMAL)
    assert len(notes) == 1
    assert path.name in notes[0]
    assert best(Store(tmp_path, notes.append)).value == honest.value  # what it keeps now is its own
    assert len(notes) == 1


def test_a_configuration_of_no_size_is_ignored_in_one_line(tmp_path):
    notes = []
    honest = best(Store(tmp_path))
    (path,) = tmp_path.iterdir()
    change(path, without_lanes)
    assert best(Store(tmp_path, notes.append, trust=Trust(foreign=True))).value == honest.value
    assert len(notes) == 1
    assert "the configuration is not the problem's" in notes[0]


@pytest.mark.parametrize("lie", LIES[::-1])
def test_a_false_proof_of_ones_own_is_found_by_proving_it_again(lie, tmp_path):
    notes = []
    honest = best(Store(tmp_path))
    (path,) = tmp_path.iterdir()
    change(path, lie, own_key())
    assert best(Store(tmp_path, notes.append)).value != honest.value
    assert notes == []
    assert best(Store(tmp_path, notes.append, trust=Trust(recheck=1))).value == honest.value
    assert len(notes) == 1
    assert f"{path}: certificate" in notes[0]
    with Store(tmp_path, notes.append, trust=Trust(recheck=float("inf"))) as store:
        assert best(store).value == honest.value
    assert notes[1:] == [f"1 kept result of {tmp_path}: proven again"]


def test_as_many_are_proven_again_as_are_asked_for(tmp_path, monkeypatch):
    questions = [[problem] for problem in PROBLEMS]
    for problems in questions:
        best(Store(tmp_path), problems)
    checked = []
    monkeypatch.setattr(stores, "proven_again", lambda *what: checked.append(1) or True)
    for count, expected in ((0, 0), (1, 1), (2, 2), (9, 2)):
        checked.clear()
        store = Store(tmp_path, trust=Trust(recheck=count))
        for problems in questions:
            best(store, problems)
        assert len(checked) == expected


def test_what_is_not_proven_again_in_time_is_not_taken(tmp_path):
    notes = []
    best(Store(tmp_path))
    hasty = Trust(recheck=1, search=SolveOptions(time_limit=0.0))
    assert Store(tmp_path, notes.append, trust=hasty).load(PROBLEMS) is None
    assert "not proven again in time" in notes[0]


def test_answers_that_rest_on_what_was_taken_on_trust_have_no_seal(tmp_path):
    best(Store(tmp_path))
    (path,) = tmp_path.iterdir()
    change(path, lambda document: {**document, "seal": "0" * 64})
    trusting = Store(tmp_path, trust=Trust(foreign=True))
    best(trusting, PROBLEMS[:1])
    assert all("seal" in json.loads(other.read_text()) for other in tmp_path.iterdir())
    best(trusting)
    best(trusting, PROBLEMS[1:])
    assert sum("seal" not in json.loads(other.read_text()) for other in tmp_path.iterdir()) == 1
    notes = []
    with Store(tmp_path, notes.append) as store:
        for problems in (PROBLEMS, PROBLEMS[:1], PROBLEMS[1:]):
            best(store, problems)
    assert notes[1:] == [f"2 kept results of {tmp_path}: solved again, {stores.FOREIGN}"]


def test_an_entry_under_another_name_is_of_no_use(tmp_path):
    notes = []
    best(Store(tmp_path), PROBLEMS[:1])
    (path,) = tmp_path.iterdir()
    path.rename(Store(tmp_path).path(PROBLEMS[1:]))
    assert best(Store(tmp_path, notes.append), PROBLEMS[1:]).design == "[i,k] C"
    assert "fingerprint is not the file's name" in notes[0]


def test_other_code_that_proves_finds_nothing_here(tmp_path, monkeypatch):
    best(Store(tmp_path))
    document = json.loads(next(tmp_path.iterdir()).read_text())
    assert document["code"] == proving_code()
    assert document["made"].endswith("+00:00")
    before = fingerprint(PROBLEMS)
    monkeypatch.setattr(stores, "proving_code", lambda: digest("another"))
    assert fingerprint(PROBLEMS) != before
    assert Store(tmp_path).load(PROBLEMS) is None


def test_the_code_that_proves_is_what_its_sources_say(tmp_path, monkeypatch):
    import ithaca
    from ithaca.files import caches

    monkeypatch.setattr(ithaca, "__file__", str(tmp_path / "__init__.py"))
    for layer in caches.LAYERS:
        (tmp_path / layer).mkdir()
        (tmp_path / layer / "a.py").write_text(layer)
    compute = proving_code.__wrapped__
    before = compute()
    assert compute() == before
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / "a.py").write_text("makes no answer")
    assert compute() == before
    (tmp_path / "solver" / "b").mkdir()
    (tmp_path / "solver" / "b" / "c.py").write_text("proves")
    after = compute()
    assert after != before
    (tmp_path / "solver" / "b" / "c.py").rename(tmp_path / "solver" / "b" / "d.py")
    assert compute() != after
    (tmp_path / "studies" / "a.py").unlink()
    with pytest.raises(InputError, match="studies has no sources"):
        compute()


def test_fractions_are_kept(tmp_path):
    notes = []
    thirds = [mm_problem((4, 4, 4), dsp="40", objective="latency/11")]
    first = best(Store(tmp_path, notes.append), thirds)
    assert first.value.denominator == 11
    assert best(Store(tmp_path, notes.append), thirds) == first
    assert notes == []


def test_what_is_no_file_is_refused(tmp_path):
    """A pipe in the place of a kept result would be written to for ever."""
    problems = [mm_problem((4, 4, 4), dsp="40")]
    store = Store(tmp_path)
    os.mkfifo(store.path(problems))
    with pytest.raises(InputError, match="is no file; allowed: a folder of kept results"):
        store.load(problems)


def test_the_key_is_the_users_own(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first = own_key()
    path = tmp_path / "state" / "ithaca" / "key"
    assert own_key() == first == path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    monkeypatch.setenv(VARIABLE, str(tmp_path / "elsewhere"))
    assert own_key() != first
    (tmp_path / "elsewhere").write_bytes(b"short")
    with pytest.raises(InputError, match="elsewhere, the key of kept results, has 5 bytes"):
        own_key()
    monkeypatch.setenv(VARIABLE, "/dev/null/key")
    with pytest.raises(InputError, match="cannot use /dev/null/key as the key of kept results"):
        Store(tmp_path)


def test_commands_say_what_became_of_kept_results(tmp_path, monkeypatch):
    asked = ("whatif", "mm", "-s", "i=4,j=4", "--vary", "k=2,4", "--dataflow", "i,j")
    asked += ("--divisors-only", "--results", "kept")
    for more, words in (
        ((), ""),
        (("--recheck", "1"), "ithaca: 1 kept result of kept: proven again\n"),
        (("--recheck", "all"), "ithaca: 2 kept results of kept: proven again\n"),
    ):
        assert succeed(*asked, *more, cwd=tmp_path).stderr == words
    monkeypatch.setenv(VARIABLE, str(tmp_path / "another"))
    trusting = succeed(*asked, "--trust-results", cwd=tmp_path).stderr
    assert trusting == f"ithaca: 2 kept results of kept: taken, {stores.FOREIGN}\n"
    lines = succeed(*asked, cwd=tmp_path).stderr.splitlines()
    assert lines[0].startswith("ithaca: solving again kept/")
    assert lines[1:] == [f"ithaca: 2 kept results of kept: solved again, {stores.FOREIGN}"]
    assert succeed(*asked, cwd=tmp_path).stderr == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--recheck", "all"), "--recheck needs --results FOLDER"),
        (("--trust-results",), "--trust-results needs --results FOLDER"),
        (
            ("--results", "kept", "--recheck", "0"),
            "--recheck is '0'; allowed: an integer ≥ 1, or all",
        ),
        (
            ("--results", "kept", "--recheck", "some"),
            "--recheck is 'some'; allowed: an integer ≥ 1, or all",
        ),
    ],
)
def test_options_of_a_folder_need_one(options, words, tmp_path):
    assert words in refused(
        "whatif", "mm", "-s", "i=4,j=4", "--vary", "k=2,4", *options, cwd=tmp_path
    )
