"""The neighbourhood that a refined result keeps in its file."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import xarray as xr

import ithaca
from ithaca.files.errors import DisagreementError, InputError
from ithaca.refine import kept
from ithaca.refine.kept import neighbourhood, with_neighbourhood
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.solution import make_solution
from tests.command_line import succeed

QUESTION = ("mm", "-s", "i=6,j=5,k=4", "--dataflow", "i,j", "--permutation", "C")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a refined result, and what the command printed."""
    path = tmp_path_factory.mktemp("kept")
    succeed("solve", *QUESTION, "--limit", "dsp=40", "-o", str(path / "solved.json"))
    files = ("-o", str(path / "refined.json"))
    printed = succeed("refine", str(path / "solved.json"), *files).stdout
    (path / "output").write_text(printed)
    return path


def changed(folder, change):
    """The message that refuses the refined result with its neighbourhood changed."""
    document = json.loads((folder / "refined.json").read_text())
    change(document)
    (folder / "changed.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as error:
        ithaca.load(folder / "changed.json")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_file_of_a_refined_result_has_the_objective_around_its_best(folder):
    stated = json.loads((folder / "refined.json").read_text())["neighbourhood"]
    result = ithaca.load(folder / "refined.json")
    problem, best = result.best.problem, result.best.configuration
    window = neighbourhood(result).window
    points = list(product(*stated["factors"].values()))
    assert len(points) == len(stated["objective"]) > 4
    for point, value in zip(points, stated["objective"], strict=True):
        factors = dict(zip(stated["factors"], point, strict=True))
        assert all(abs(n - best[name]) <= stated["around"] for name, n in factors.items())
        exact = problem.feasible_value(problem.space.configuration({**window.fixed, **factors}))
        assert exact == value
    feasible = sum(value is not None for value in stated["objective"])
    assert feasible == stated["feasible"] < stated["legal"]
    assert min(filter(None, stated["objective"])) == result.value
    line = rf"around +{len(points)} points at most 2 from .*, {feasible} feasible, none better"
    assert re.search(line, (folder / "output").read_text())


@pytest.mark.ci
def test_it_is_read_back_as_labelled_arrays(folder):
    result = ithaca.load(folder / "refined.json")
    stated = result.document["neighbourhood"]
    grid = result.neighbourhood
    assert {name: grid[name].values.tolist() for name in grid.sizes} == {
        name: grid[name].values.tolist() for name in stated["factors"] if name in grid.sizes
    }
    masked = grid["objective"].where(grid["feasible"]).transpose(*stated["factors"])
    np.testing.assert_array_equal(masked.values.ravel(), np.array(stated["objective"], float))
    result.save(folder / "refined.nc")
    with xr.open_dataset(folder / "refined.nc", group="neighbourhood") as group:
        assert group.equals(grid)
    with xr.open_dataset(folder / "refined.nc") as whole:
        assert dict(whole.sizes)["design"] == 1
    assert "neighbourhood" not in ithaca.load(folder / "solved.json").document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda n: n.update(around=3), "neighbourhood.around is 3; allowed: .*2"),
        (lambda n: n.update(around=1), r"neighbourhood\.\S+: recorded .*: .*edited"),
        (lambda n: n["factors"]["lanes.i"].append(9), r"neighbourhood.factors.lanes.i: recorded"),
        (lambda n: n["factors"].update(x=[1]), r"neighbourhood.factors.x is unknown here"),
        (lambda n: n["objective"].pop(), r"neighbourhood.objective: recorded \d+ items"),
        (lambda n: n["objective"].__setitem__(0, 1), r"neighbourhood.objective\[0\]: recorded 1"),
        (
            lambda n: n.update(objective=[None for _ in n["objective"]]),
            r"neighbourhood.objective\[\d+\]: recorded",
        ),
        (lambda n: n["objective"].__setitem__(0, "1"), r"neighbourhood.objective\[0\] is '1'"),
        (lambda n: n.update(feasible=n["legal"]), r"neighbourhood.feasible: recorded"),
        (lambda n: n.pop("legal"), r"neighbourhood.legal is missing"),
        (lambda n: n.update(y=1), r"y"),
        (
            lambda n: n.update(factors=dict(reversed(n["factors"].items()))),
            r"neighbourhood.factors is in the order t2.k, .*; allowed: lanes.i, ",
        ),
    ],
)
def test_a_changed_neighbourhood_is_refused(folder, change, message):
    assert re.search(message, changed(folder, lambda d: change(d["neighbourhood"])))


def test_a_neighbourhood_of_nothing_is_refused(folder):
    document = json.loads((folder / "refined.json").read_text())
    document["best"] = None
    for design in document["designs"]:
        design["tiling"] = design["metrics"] = None
        proof = {"status": "unknown", "lower_bound": None, "gap": None}
        design["certificate"] = {"method": "none", "nodes": 0, "seconds": 0, **proof}
    document["objective"]["value"] = None
    message = changed(folder, lambda d: d.update(document))
    assert "neighbourhood is of no configuration; allowed: of a best one" in message


def test_claims_that_a_neighbour_refutes_are_refused(folder):
    """A worse configuration, claimed to be optimal, has a better one beside it."""
    refined = ithaca.load(folder / "refined.json")
    problem, around = refined.best.problem, neighbourhood(refined)
    stated = around.fields
    points = zip(stated["objective"], product(*stated["factors"].values()), strict=True)
    value, point = min(p for p in points if p[0] is not None and p[0] > refined.value)
    factors = around.window.fixed | dict(zip(stated["factors"], point, strict=True))
    proof = Certificate(Status.OPTIMAL, Fraction(value), 0.0, "exact", nodes=1)
    worse = make_solution(problem, problem.space.configuration(factors), proof)
    false = replace(refined, best=worse, designs=(worse,))
    with pytest.raises(InputError, match=r"lower_bound is \d+, yet a point of the neighbourhood"):
        neighbourhood(false)
    with pytest.raises(DisagreementError, match="yet there is"):
        with_neighbourhood(false)
    honest = replace(worse, certificate=replace(proof, status=Status.FEASIBLE, lower_bound=None))
    again = with_neighbourhood(replace(refined, best=honest, designs=(honest,)))
    assert "one with" in neighbourhood(again).words


def test_a_neighbourhood_has_few_points(folder, monkeypatch):
    solved = ithaca.load(folder / "solved.json")
    monkeypatch.setattr(kept, "MOST", 5)
    assert with_neighbourhood(solved) == solved
    with pytest.raises(InputError, match=r"around is 2, of \d+ points; allowed: at most 5 points"):
        neighbourhood(replace(solved, near=2))


def test_a_space_without_factors_has_none():
    result = ithaca.solve("mm", i=1, j=1, k=1, dataflow="i,j", divisors_only=True)
    assert with_neighbourhood(result) == result
