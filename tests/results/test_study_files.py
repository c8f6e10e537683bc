"""Fronts and what-if studies in files: read back they are what was written, and commands take them
or say in one line why not."""

import json
import re
from functools import cache

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.results import study_files
from ithaca.results.view import Table
from tests.command_line import refused, succeed
from tests.plugins.codesign.studies.spaces import small_space
from tests.refusals import refusals

MM = {"i": 4, "j": 4, "k": 4, "divisors_only": True}
ARRAY = MM | {"dataflow": "i,j", "edition": "exact"}

KINDS = {
    "front": lambda: ithaca.pareto("mm", **ARRAY, objectives="latency,dsp"),
    "front of four": lambda: ithaca.pareto(
        "mm",
        **ARRAY | {"i": 2, "j": 2, "k": 2},
        limit={"dsp": 10},
        objectives="latency,dsp,bram18k,energy",
    ),
    "part": lambda: ithaca.pareto("mm", **ARRAY, objectives="latency,dsp", max_points=1),
    "no front": lambda: ithaca.pareto("mm", **ARRAY, limit={"dsp": 4}, objectives="latency,dsp"),
    "front of mappings": lambda: ithaca.pareto(
        "mm", **MM, arch="simple", objectives="latency,energy"
    ),
    "study": lambda: ithaca.whatif(
        "mm", **ARRAY, vary={"dsp": [4, "50%"], "dtype": ["fp32", "int16"]}, marginal=10
    ),
    "study of objectives": lambda: ithaca.whatif(
        "mm", **ARRAY, vary={"objective": ["latency", "dsp"], "platform": ["u250", "u280"]}
    ),
    "study of mappings": lambda: ithaca.whatif(
        "mm", **MM, arch="simple", vary={"Buffer.words": [64, 1000]}
    ),
}


@cache
def made(kind):
    """The answer of a kind, which is searched once."""
    return KINDS[kind]()


@pytest.fixture(scope="module", params=KINDS)
def written(request, tmp_path_factory):
    """An answer, and the file that it was written to."""
    answer = made(request.param)
    path = tmp_path_factory.mktemp("studies") / "file.json"
    answer.save(path)
    return answer, path


def test_what_is_read_is_what_was_written(written):
    answer, path = written
    again = ithaca.load(path)
    assert type(again) is type(answer)
    assert again == answer
    said = [(each.status, each.failure, repr(each)) for each in (again, answer)]
    assert said[0] == said[1]
    assert (again.view, again.table) == (answer.view, answer.table)
    one, other = again.to_xarray(), answer.to_xarray()
    assert one.attrs == other.attrs
    assert one.identical(other)
    assert (again.picture is None) == (answer.picture is None)


def test_it_is_explained_and_reported_and_said_to_be_stated(written, tmp_path):
    answer, path = written
    told, of_file = (list(each.statements) for each in (answer.explain(), ithaca.explain(path)))
    stated = f", as stated in {path}, not proven again"
    assert f"{stated})." in of_file[0]
    assert [statement.replace(stated, "") for statement in of_file] == told
    assert ithaca.report(path, tmp_path / "page.html").endswith(answer.headline)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    rows = [row for block in answer.view if isinstance(block, Table) for row in block.rows]
    for row in rows:
        assert f">{row[0]}<" in page
    assert ('class="plot"' in page) == (answer.picture is not None and bool(rows))


CHOICES = """quantities:
  memory: {choices: [cheap, fast]}
"""


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A space with a choice of two memories, of which one costs more."""
    path = small_space(tmp_path_factory.mktemp("space"))
    text = path.read_text().replace("quantities:\n", CHOICES)
    text = text.replace("0.01 * buffer_words + lanes", "0.01 * buffer_words + lanes * memory")
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "vary",
    [
        {"area": [1.2, 3, 4]},
        {"objective": ["energy", "latency"], "weight.product": [1, 2]},
        {"memory": ["fast", "cheap"], "lanes": [2, 1]},
    ],
    ids=["limit", "objective", "choice"],
)
def test_studies_of_accelerators_are_read_back(space, vary, tmp_path):
    answer, path = ithaca.codesign(space, vary=vary), tmp_path / "study.json"
    answer.save(path)
    again = ithaca.load(path)
    assert type(again) is type(answer) is ithaca.CodesignStudy
    assert again == answer
    assert (again.view, again.axes, repr(again)) == (answer.view, answer.axes, repr(answer))
    told = ithaca.explain(path).statements
    assert told[0].endswith(f", as stated in {path}, not proven again).")
    assert [told[0].partition(", as")[0], *told[1:]] == [
        answer.statements[0][:-2],
        *answer.statements[1:],
    ]
    assert ithaca.report(path, tmp_path / "page.html").endswith(answer.headline)
    verified = ithaca.verify(path)
    assert verified.confirmed
    assert len(verified.checks) >= len(answer.points)


def edited(path, change):
    """A copy of a file with a change."""
    document = json.loads(path.read_text())
    change(document)
    copy = path.with_name("edited.json")
    copy.write_text(json.dumps(document))
    return copy


def test_points_that_others_dominate_are_refused(tmp_path):
    path = tmp_path / "front.json"
    made("front").save(path)
    best = ithaca.solve("mm", **ARRAY, objective="-dsp").document["best"]
    values = {name: best["metrics"][name] for name in ("latency", "dsp")}
    names = ("dataflow", "permutation", "buildable", "tiling", "metrics")
    worse = {name: best[name] for name in names} | {"values": values, "proof": []}
    copy = edited(path, lambda document: document["points"].append(worse))
    with pytest.raises(
        InputError, match=r"points\[\d\] is (dominated by another|the configuration of points)"
    ):
        ithaca.load(copy)


@pytest.mark.ci
def test_points_stated_twice_or_too_many_are_refused_before_any_is_evaluated(tmp_path, monkeypatch):
    made("front").save(tmp_path / "front.json")
    made("study").save(tmp_path / "study.json")

    def repeat(document):
        document["points"] *= 500

    monkeypatch.setattr(study_files, "evaluated", None)
    monkeypatch.setattr(study_files, "_point", None)
    with pytest.raises(InputError, match=r"points\[\d+\] is the configuration of points\[0\]"):
        ithaca.load(edited(tmp_path / "front.json", repeat))
    with pytest.raises(InputError, match="points are not those of axes"):
        ithaca.load(edited(tmp_path / "study.json", repeat))


@pytest.mark.parametrize(
    ("words", "line"),
    refusals("results-study_files", "what_has_no_meaning_for_fronts_says_so"),
)
def test_what_has_no_meaning_for_fronts_says_so(words, line, tmp_path):
    front = made("part")
    front.save(tmp_path / "front.json")
    front.save(tmp_path / "front.nc")
    assert line in refused(*words.split(), cwd=tmp_path)


def test_commands_write_what_commands_read(tmp_path):
    words = ["mm", "-s", "i=4,j=4,k=4", "--arch", "simple", "--divisors-only"]
    succeed("pareto", *words, "--objectives", "latency,energy", "-o", "front.json", cwd=tmp_path)
    succeed("whatif", *words, "--vary", "Buffer.words=64,1000", "-o", "study.json", cwd=tmp_path)
    for name in ("front", "study"):
        said = succeed("explain", f"{name}.json", cwd=tmp_path).stdout
        assert re.match(rf"{name.capitalize()}: mm \(i=4, j=4, k=4\), simple, ", said)
        document = json.loads(succeed("explain", f"{name}.json", "--json", cwd=tmp_path).stdout)
        assert document["statements"] == said.splitlines()
        assert "proven again" in succeed("verify", f"{name}.json", cwd=tmp_path).stdout
