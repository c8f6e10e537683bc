"""Forged files: whatever is changed in a file of any kind, ``ithaca verify`` does not confirm it,
but for what is no claim."""

import json
import random
from dataclasses import replace

import pytest

import ithaca
from ithaca.files.errors import DisagreementError, InputError
from ithaca.formulations.systolic.design import systolic
from ithaca.solver.solution import make_solution
from tests.command_line import ithaca as command
from tests.plugins.codesign.studies.spaces import small_space
from tests.refusals import edited, refusals, says
from tests.results.forgeries import (
    KINDS,
    LIMITS,
    MM,
    at,
    document_of,
    forgeries,
    losers,
    no_claim,
    unsaid,
    written,
)
from tests.studies.network.test_fused import FOLLOWING


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("forged")


#: Those that take long to prove again.
SLOW = {
    "layers",
    "layers fused",
    "layers of one dataflow",
    "layers on two arrays",
    "front of accelerators",
    "front",
    "study",
    "for autosa",
    "layers for autosa",
    "layers that share tiles",
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=[pytest.mark.slow] * (kind in SLOW)) for kind in KINDS],
)
def honest(request, folder):
    """A file of a kind as it was written."""
    path = folder / f"{request.param}.json"
    path.write_text(written(request.param))
    return path


#: Seconds for proofs, and for words, which `verify` says whether or not anything is proven.
PROOFS, WORDS = 20, 0.01


def confirmed(document, path, unsaid=""):
    """Whether `verify` confirms a document, or where words are to be said does not say them."""
    path.write_text(json.dumps(document))
    try:
        verified = ithaca.verify(path, time_limit=WORDS if unsaid else PROOFS)
    except (InputError, DisagreementError):
        return False
    return unsaid not in str(verified) if unsaid else verified.confirmed


def check(honest, count):
    """Refused are so many forgeries of a file, or all of them."""
    document = json.loads(honest.read_text())
    claims = [
        (place, value, forged)
        for place, value, forged in forgeries(document)
        if not no_claim(honest.stem, place, value)
    ]
    chosen = (
        claims
        if count is None
        else random.Random(honest.name).sample(claims, min(count, len(claims)))
    )
    missed = [
        f"{place}: {value}"
        for place, value, forged in chosen
        if confirmed(forged, honest.with_suffix(".forged.json"), unsaid(place, value))
    ]
    assert not missed


def test_what_was_written_is_confirmed(honest):
    assert ithaca.verify(honest).confirmed


def test_forgeries_are_not_confirmed(honest):
    check(honest, 25)


def test_no_forgery_is_confirmed(honest):
    check(honest, None)


#: Values of forged places that follow from what stands there.
STEPS = {"(less)": -1, "(more)": 1}


@pytest.mark.parametrize(("kind", "changes", "line"), refusals("forged", "together"))
def test_places_forged_together_are_refused(folder, kind, changes, line):
    path, forged = folder / "together.json", document_of(kind)
    for place, value in changes.items():
        steps = [int(step) if step.isdigit() else step for step in place.split(".")]
        if isinstance(value, str) and value in STEPS:
            value = at(forged, steps) + STEPS[value]
        forged = edited(forged, steps, value)
    path.write_text(json.dumps(forged))
    try:
        verified = ithaca.verify(path, time_limit=20)
    except (InputError, DisagreementError) as error:
        says(str(error), line)
    else:  # no time to prove it anew
        assert not verified.confirmed


def test_a_question_has_no_answer(folder):
    path = folder / "question.json"
    ithaca.whatif("mm", **MM, divisors_only=True, dataflow="i,j", vary={"dsp": [40]}).save(path)
    document = json.loads(path.read_text())
    assert confirmed(document, path)
    document["points"][0]["question"]["objective"]["value"] = 1
    assert not confirmed(document, path)


def test_what_is_open_is_bounded_by_what_it_holds(folder):
    path, document = folder / "open.json", document_of("accelerators cut short")
    least = ithaca.codesign(small_space(folder)).value
    (box,) = document["open"]
    for bound, holds in ((float(least), True), (float(least) + 1, False)):
        box["lower_bounds"] = [bound]
        assert confirmed(document, path) == holds


@pytest.mark.ci
def test_bounds_of_designs_that_lose_are_true_or_refused(folder):
    path = folder / "losers.json"
    optima = losers("layers")
    assert len(optima) == 2
    for (layer, design), least in optima.items():
        for bound, true in ((least, True), (least + 1, False)):
            document = document_of("layers")
            place = document["layers"][layer]["designs"][design]["certificate"]
            assert place["lower_bound"] < least
            place["lower_bound"] = int(bound)
            assert confirmed(document, path) == true


@pytest.mark.slow(every=4)
@pytest.mark.parametrize(
    "kind", ["layers", "layers fused", "layers of one dataflow", "layers on two arrays"]
)
def test_a_run_that_left_nothing_open_did_not_end_early(folder, kind):
    path, document = folder / "early.json", document_of(kind)
    path.write_text(json.dumps(document))
    assert ithaca.load(path).finished
    assert not document["complete"]  # as layers are left out
    del document["finished"]
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="finished: the run ended early, yet it left nothing open"):
        ithaca.load(path)


def test_runs_that_ended_early_are_read(folder):
    path = folder / "interrupted.json"
    ended = [False]

    def hear(progress):
        ended[0] |= progress.done is not None and progress.done > 0
        return ended[0]

    (folder / "following.yaml").write_text(FOLLOWING)
    result = ithaca.network(folder / "following.yaml", layers=["mm"], progress=hear)
    assert ended[0]
    assert not result.finished
    result.save(path)
    assert not ithaca.load(path).finished


def test_fronts_cut_short_are_not_refused_for_want_of_time(tmp_path):
    """A front that is found again in less time has fewer proofs: that is no edit of the file."""
    front = ithaca.pareto("mm", i=4, j=3, k=2, objectives="latency,dsp", dataflow="i,j")
    assert len(front.completeness) > 0
    part = replace(front, unfinished="the time limit was over")
    for seconds, proven in ((1e-9, False), (60, True)):
        part.save(tmp_path / "r.json")
        checks = ithaca.verify(tmp_path / "r.json", time_limit=seconds).checks
        assert [check.confirmed for check in checks] == [proven]


def test_fronts_that_are_complete_with_as_many_points_as_were_asked_for_are_confirmed():
    """The proof of completeness is shorter than one that looks for further points."""
    question = {"i": 4, "j": 3, "k": 2, "objectives": "latency,dsp"}
    whole, asked = ithaca.pareto("mm", **question), ithaca.pareto("mm", **question, max_points=3)
    assert asked.complete
    assert len(asked.completeness) < len(whole.completeness)
    assert ithaca.verify(asked).confirmed


@pytest.mark.parametrize("more", [{"max_points": 1}, {"time_limit": 1e-9}])
def test_parts_of_fronts_are_confirmed_and_points_beside_them_are_not(folder, more):
    path = folder / "part.json"
    ithaca.pareto(
        "mm", **MM, arch="simple", divisors_only=True, objectives="latency,energy", **more
    ).save(path)
    document = json.loads(path.read_text())
    assert not document["complete"]
    assert confirmed(document, path)
    document["complete"], document["unfinished"] = True, None
    assert not confirmed(document, path)


def test_proofs_of_files_are_said_to_be_theirs(folder):
    """A forged bound that does not contradict its value is repeated as what the file states, never
    as a proof of one's own."""
    path, document = folder / "claimed.json", document_of("gap")
    for part in (document["best"], *document["designs"]):
        proof = part["certificate"]
        proof |= {
            "status": "optimal",
            "lower_bound": document["objective"]["value"],
            "gap": 0.0,
            "termination": "proven",
        }
        del proof["trace"]
    path.write_text(json.dumps(document))
    changes = str(ithaca.explain(path))
    assert "proven against the file's optimum)" in changes
    assert "proven)" not in changes
    stated = f"as stated in {path}, not proven again"
    said = str(ithaca.explain(path, quick=True))
    assert f"(proven optimal, {stated})" in said
    page = folder / "claimed.html"
    ithaca.report(path, page)
    assert stated in page.read_text()
    assert stated in command("refine", path, "--samples", "10").stdout.replace("\n", "")
    own = ithaca.solve("mm", **MM, limit=LIMITS, dataflow="i,j", divisors_only=True)
    assert "(proven optimal)." in str(own.explain(quick=True))


def test_another_tie_is_not_the_preferred_one(folder):
    """A smaller pack takes as many DSP: another configuration of that optimum, whose certificate
    says that it is preferred."""
    result = ithaca.solve("mm", **MM, limit=LIMITS, dataflow="i,j", objective="dsp", method="exact")
    (best,) = result.designs
    assert best.certificate.ties_broken
    problem = best.problem
    other = systolic(problem).configuration(replace(best.tiling, pack={**best.tiling.pack, "A": 1}))
    assert problem.feasible_value(other) == best.value
    assert other != best.configuration
    swapped = make_solution(problem, other, best.certificate)
    path = folder / "tie.json"
    replace(result, best=swapped, designs=(swapped,)).save(path)
    assert ithaca.load(path).best.configuration == other
    with pytest.raises(
        InputError,
        match="ties_broken: it is true, yet another configuration of that value is preferred",
    ):
        ithaca.verify(path)
    unbroken = replace(swapped, certificate=replace(best.certificate, ties_broken=False))
    replace(result, best=unbroken, designs=(unbroken,)).save(path)
    assert ithaca.verify(path).confirmed
