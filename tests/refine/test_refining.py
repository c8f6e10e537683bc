"""`ithaca refine`: shares of variations, the course of evolution, the neighbourhood."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import ithaca
from ithaca.commands.api import refining
from ithaca.files.errors import InputError
from ithaca.refine.evolution.engine import Evolution
from ithaca.refine.evolution.genome import Genome
from ithaca.refine.evolution.shares import NAMES, PUBLISHED, Shares, parse_shares
from ithaca.refine.evolution.variation import mutate
from ithaca.refine.grid import load_grid
from tests.command_line import refused, succeed
from tests.problems import mm_problem

#: No posynomial, so that no geometric program proves it.
OBJECTIVE = "latency - dsp/100"
ROUGH = (
    *("mm", "-s", "i=24,j=20,k=16", "--dataflow", "i,j", "--permutation", "C", "--method", "exact"),
    *("--gap", "1", "--edition", "exact", "--objective", OBJECTIVE),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a result that is not proven."""
    path = tmp_path_factory.mktemp("refine")
    succeed("solve", *ROUGH, "-o", str(path / "rough.json"))
    return path


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def products_kept(shares):
    """The share of mutants whose loops have the trips and factors of before, multiplied."""
    genome = Genome(mm_problem((48, 40, 32)))
    generator = np.random.default_rng(0)
    genes, _ = genome.repair(genome.random(400, generator))
    mutants = mutate(genome, genes, generator, shares)
    kept = np.ones(400, bool)
    for split in genome.splits:
        kept &= split.levels(mutants).prod(axis=0) == split.levels(genes).prod(axis=0)
    return kept.mean()


def test_factorization_alone_moves_divisors():
    assert products_kept(Shares(factorization=1.0, loose=0.0)) > 0.85
    assert products_kept(Shares(factorization=0.0, loose=0.0)) < 0.7
    assert PUBLISHED.factorization == 0.4


def evaluated(shares):
    """The configurations that an evolution evaluates."""
    search = Evolution(mm_problem((24, 20, 16)), 1, 600, shares)
    search.run()
    return search._seen


@pytest.mark.ci
def test_shares_are_read_and_change_what_is_evaluated(here, monkeypatch):
    assert parse_shares("steps=20%,factorization=1") == Shares(steps=0.2, factorization=1.0)
    assert parse_shares({"drawn": 0}) == Shares(drawn=0.0)
    assert parse_shares(None) is PUBLISHED
    assert evaluated(PUBLISHED) == evaluated(Shares(steps=0.5, crossed=0.6))
    for name in {*NAMES} - {"drawn"}:  # of quantities that are no powers of two
        other = replace(PUBLISHED, **{name: 1 - 0.9 * getattr(PUBLISHED, name)})
        assert evaluated(PUBLISHED) != evaluated(other), name
    passed = []
    evolve = refining.solve_evolve

    def heard(*values, shares, **words):
        passed.append(shares)
        return evolve(*values, shares=shares, **words)

    monkeypatch.setattr(refining, "solve_evolve", heard)
    succeed("refine", "rough.json", "--samples", "50", "--shares", "steps=0.1,crossed=20%")
    assert passed == [Shares(steps=0.1, crossed=0.2)]


def test_what_are_no_shares_is_refused(here):
    with pytest.raises(InputError, match=r"'crosed' is unknown; allowed: crossed, mutated, .*did"):
        ithaca.load("rough.json").refine(shares={"crosed": 1})
    assert "--shares steps is '2'; allowed: from 0 to 1" in refused(
        "refine", "rough.json", "--shares", "steps=2"
    )
    assert "--shares steps is 'x'" in refused("refine", "rough.json", "--shares", "steps=x")


@pytest.mark.ci
def test_a_refined_result_keeps_its_course_and_neighbourhood(here):
    words = "--samples 300 --seed 1 -o refined.json --plot course.svg --grid near.nc"
    succeed("refine", "rough.json", *words.split())
    rough, refined = ithaca.load("rough.json"), ithaca.load("refined.json")
    trace = refined.best.certificate.trace
    assert (trace[0].nodes, trace[0].value) == (0, rough.value)
    assert (trace[-1].nodes, trace[-1].value) == (300, refined.value)
    assert [p.value for p in trace] == sorted((p.value for p in trace), reverse=True)
    assert [p.nodes for p in trace] == sorted(p.nodes for p in trace)
    drawn = (here / "course.svg").read_text()
    assert "Incumbent and lower bound over samples" in drawn
    assert f"incumbent: at last {float(refined.value):g}" in drawn
    # the grid is that of `grid`, and holds the answer
    grid = load_grid(here / "near.nc")
    assert grid.equals(refined.grid(around=2).dataset)
    assert refined.neighbourhood is refined.neighbourhood
    best = {name: int(refined.best.configuration[name]) for name in grid.sizes}
    assert float(grid["objective"].sel(best)) == refined.value
    assert float(grid["objective"].where(grid["feasible"]).min()) <= refined.value


def test_a_result_without_a_course_has_no_picture(here):
    document = json.loads((here / "rough.json").read_text())
    for solution in (document["best"], *document["designs"]):
        solution["certificate"].pop("trace", None)
    (here / "bare.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=re.escape("bare.json has no course of a search")):
        ithaca.load("bare.json").plot()
    assert ithaca.load("rough.json").plot("rough.html") is not None
