"""Forged files: whatever is changed in a file of any kind, ``ithaca verify`` does not confirm it,
but for what is no claim."""

import copy
import json
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import ithaca
from ithaca.files.errors import DisagreementError, InputError
from ithaca.formulations.systolic.design import systolic
from ithaca.solver.solution import make_solution
from tests.command_line import ithaca as command
from tests.plugins.codesign.studies.spaces import small_space
from tests.refusals import edited, refusals, says
from tests.studies.network.test_fused import FOLLOWING

Steps = tuple[str | int, ...]

#: What a file asks: of another question the answer is checked against that, and may hold. Names of
#: platforms are such, too.
QUESTION = (
    r"^(workloads?|limits|platform|edition|technology|space|architecture|problem|objectives?|objective\.expression)$|"
    r"^(workloads?|limits|platform|technology|space(?!.*unit$)|architecture|problem|objectives)\.|^(dtype|partition)\b|"
    r"^(points\.\d+\.)?question\.|^(tile|intrinsic|statement)\b|"
    r"^simulation\.(machine|memory)\.|^network\.name$"
)

#: What a file says of its question that no figure depends on: `verify` repeats it as not checked.
WORDS = (
    r"^network\.(parameters|omissions)\b|^layers\.\d+\.(name|folded|sources)\b|"
    r"^space\.(quantities|costs)\.\w+\.unit$"
)

#: How a search went, which no other search repeats.
RECORDS = (
    r"^simulation\.values\.error$|\b(nodes|seconds|method|unfinished|designs_solved|designs_known|termination)$|^complete$|\btrace\b|"
    r"^counts\.(boxes|excluded|evaluated|layers)$"
)

#: What may be left out: less is stated then, and files of earlier versions did not state it; how
#: much of a network is counted follows from its omissions, which may not.
OMITTED = (
    r"metrics\.|\.(trace|termination|ties_broken|marginal|unit|folded)$|^network\.parameters\b|"
    r"^(unrestricted|open|simulation\.values|restriction|counted)$"
)

#: Networks claim that no layer's configuration is better, not which of equals it is: another with
#: the same metrics is true.
EQUALS = r"^layers\.\d+\.best\.tiling\."

#: Claims that are true, though others were proven: that a shortfall is a lower bound, that not all
#: equals were compared, and bounds of what is open, if they hold.
WEAKER = r"shortfalls\.\d+\.proven$|^points\..*\.ties_broken$"
BOUNDS = r"^open\.\d+\.lower_bounds\.\d+$|^certificate\.lower_bound$"

MM = {"i": 4, "j": 4, "k": 4}
LIMITS = {"dsp": 40, "bram18k": 100}


def _network(folder, **asked):
    """Two layers of which one follows the other."""
    (folder / "following.yaml").write_text(FOLLOWING)
    limits = {} if "arch" in asked else {"dsp": 40, "bram18k": 400}
    return ithaca.network(
        folder / "following.yaml", layers=["mm"], limit=limits, divisors_only=True, **asked
    )


#: How a small result of every kind is made.
KINDS = {
    "optimal": lambda folder: ithaca.solve(
        "mm", **MM, limit=LIMITS, divisors_only=True, dataflow="i,j"
    ),
    "infeasible": lambda folder: ithaca.solve(
        "mm", **MM, limit=LIMITS | {"dsp": 4}, divisors_only=True, dataflow="i,j"
    ),
    "gap": lambda folder: ithaca.solve(
        "mm", i=8, j=8, k=8, limit=LIMITS, dataflow="i,j", gap=0.5, method="exact"
    ),
    "mapping": lambda folder: ithaca.map("mm", **MM, arch="simple", divisors_only=True),
    "layers": lambda folder: _network(folder),
    "layers fused": lambda folder: _network(folder, fuse=True, objective="off_chip_words"),
    "layers of one dataflow": lambda folder: _network(folder, mode="shared-dataflow"),
    "layers on two arrays": lambda folder: _network(
        folder, mode="multi-array", arrays=2, minimise="slowest"
    ),
    "layers mapped and fused": lambda folder: _network(
        folder, arch="simple", fuse=True, objective="energy"
    ),
    "accelerator": lambda folder: ithaca.codesign(small_space(folder), limit={"area": 4}),
    "no accelerator": lambda folder: ithaca.codesign(small_space(folder), limit={"area": 1.2}),
    "accelerators cut short": lambda folder: ithaca.codesign(small_space(folder), time_limit=1e-9),
    "accelerators to a gap": lambda folder: ithaca.codesign(small_space(folder), gap=0.5),
    "front of accelerators": lambda folder: ithaca.codesign(
        small_space(folder), objectives="energy,latency"
    ),
    "front": lambda folder: ithaca.pareto(
        "mm", **MM, limit=LIMITS, divisors_only=True, dataflow="i,j", objectives="latency,dsp"
    ),
    "front of mappings": lambda folder: ithaca.pareto(
        "mm", **MM, arch="simple", divisors_only=True, objectives="latency,energy"
    ),
    "study": lambda folder: ithaca.whatif(
        "mm",
        **MM,
        limit={"bram18k": 100},
        divisors_only=True,
        dataflow="i,j",
        vary={"dsp": [4, 20]},
        marginal=10,
    ),
    "matches": lambda folder: ithaca.match("mm", **MM),
    "for autosa": lambda folder: ithaca.solve(
        "mm", i=16, j=16, k=16, limit=LIMITS, dataflow="i,j", target="autosa"
    ),
    "layers for autosa": lambda folder: _network(
        folder, objective="off_chip_words", edition="exact", target="autosa"
    ),
    "layers that share tiles": lambda folder: _network(
        folder, arch="simple", edition="uneven", fuse=True, objective="energy"
    ),
    "simulation": lambda folder: ithaca.simulate(
        ithaca.solve("mm", **MM, limit=LIMITS, dataflow="i,j"), check_values=True
    ),
    "no mapping": lambda folder: ithaca.map(
        "mm", **MM, arch="simple", divisors_only=True, limit={"energy": 10}
    ),
}


@cache
def written(kind):
    """The text of a file of a kind, which is made once."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        KINDS[kind](Path(folder)).save(path)
        return path.read_text()


def document_of(kind):
    """The document of a file of a kind."""
    return json.loads(written(kind))


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


def leaves(value, steps=()):
    """Paths to all values that hold no others."""
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*steps, key))
    elif not isinstance(value, dict | list):
        yield steps


def mappings(value, steps=()):
    """Paths to all objects."""
    if isinstance(value, dict):
        yield steps
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from mappings(inner, (*steps, key))


def at(document, steps):
    for step in steps:
        document = document[step]
    return document


def others(value):
    """Other values in the place of one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1]
    if isinstance(value, float):
        return [value * 1.1 or 1.0, value * 0.9 or 0.5]
    return (
        [1]
        if value is None
        else [word for word in (f"{value}x", "optimal", "feasible", "A", "dsp") if word != value]
    )


#: A change that drops a key, or adds one.
DROPPED, ADDED = "dropped", "added"


def forgeries(document):
    """Every change of one place: where, what it is now, and the document."""
    for steps in leaves(document):
        for value in others(at(document, steps)):
            forged = copy.deepcopy(document)
            at(forged, steps[:-1])[steps[-1]] = value
            yield ".".join(map(str, steps)), value, forged
    for steps in mappings(document):
        for key in at(document, steps):
            forged = copy.deepcopy(document)
            del at(forged, steps)[key]
            yield ".".join(map(str, (*steps, key))), DROPPED, forged
        forged = copy.deepcopy(document)
        at(forged, steps)["other"] = 1
        yield ".".join(map(str, (*steps, "other"))), ADDED, forged


def no_claim(kind, place, value):
    """Whether a file may say this, too."""
    if (
        re.search(QUESTION, place)
        or re.search(RECORDS, place)
        or (value != DROPPED and re.search(EQUALS, place))
    ):
        return True
    if value == DROPPED:
        return bool(re.search(OMITTED, place))
    return (
        bool(re.search(WEAKER, place))
        if value is False
        else kind == "accelerators cut short" and bool(re.search(BOUNDS, place))
    )


def confirmed(document, path, unsaid=""):
    """Whether `verify` confirms a document, and does not say something."""
    path.write_text(json.dumps(document))
    try:
        verified = ithaca.verify(path, time_limit=20)
    except (InputError, DisagreementError):
        return False
    return verified.confirmed and not (unsaid and unsaid in str(verified))


def unsaid(place, value):
    """The words of `verify` on a change of words that no figure depends on."""
    if not re.search(WORDS, place):
        return ""
    return place.rpartition(".")[2] if value == ADDED else str(value)


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
    ithaca.whatif("mm", **MM, divisors_only=True, dataflow="i,j", vary={"dsp": [40]}).save(path)  # type: ignore[arg-type]
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


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_what_was_not_simulated_is_not_confirmed(folder, factor):
    path, document = folder / "simulated.json", document_of("simulation")
    path.write_text(written("simulation"))
    assert str(ithaca.verify(path)).endswith(
        f"{document['simulation']['cycles']} cycles; simulated again"
    )
    document["simulation"]["cycles"] = int(document["simulation"]["cycles"] * factor)
    path.write_text(json.dumps(document))
    with pytest.raises(
        InputError, match=r"simulation\.cycles: recorded \d+ is not the model's \d+"
    ):
        ithaca.verify(path)


def test_fronts_cut_short_are_not_refused_for_want_of_time(tmp_path):
    """What is found again in less time has fewer proofs: that is no edit of the file."""
    front = ithaca.pareto("mm", i=4, j=3, k=2, objectives="latency,dsp", dataflow="i,j")
    assert len(front.completeness) > 0
    part = replace(front, unfinished="the time limit was over")
    for seconds, proven in ((1e-9, False), (60, True)):
        part.save(tmp_path / "r.json")
        checks = ithaca.verify(tmp_path / "r.json", time_limit=seconds).checks
        assert [check.confirmed for check in checks] == [proven]


def test_fronts_that_are_complete_with_as_many_points_as_were_asked_for_are_confirmed():
    """Their proof of completeness is shorter than one that looks for further points."""
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
    assert ithaca.load(path).best.configuration == other  # type: ignore[union-attr]
    with pytest.raises(
        InputError,
        match="ties_broken: it is true, yet another configuration of that value is preferred",
    ):
        ithaca.verify(path)
    unbroken = replace(swapped, certificate=replace(best.certificate, ties_broken=False))
    replace(result, best=unbroken, designs=(unbroken,)).save(path)
    assert ithaca.verify(path).confirmed
