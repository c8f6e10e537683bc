"""Sparse tensors against the real tool's figures, against enumeration, and what is refused."""

import json
import lzma
import re
from itertools import combinations
from math import comb

import pytest
import yaml

from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.formulations.architecture_files import architecture_of
from ithaca.plugins.hierarchies.formulations.points import evaluate_points, load_points
from ithaca.plugins.hierarchies.formulations.sparse.model import SparseModel
from ithaca.plugins.hierarchies.formulations.timeloop import FirstFillsModel, TimeloopModel
from ithaca.workloads.densities import Density, none_of
from ithaca.workloads.problem_files import problem_nest
from tests.command_line import refused, succeed
from tests.reference import DATA


def cases():
    return json.loads(lzma.decompress((DATA / "timeloop_sparse.json.xz").read_bytes()))


def evaluated(case, folder):
    architecture = architecture_of(case["arch"], None, "own", "own")
    nest = problem_nest(case["problem"]["problem"], "problem")
    path = folder / "map.yaml"
    path.write_text(json.dumps(case["map"]))
    (row,) = evaluate_points(load_points(path, architecture, nest))
    return row


def of_doubles(case):
    """Whether words of metadata are rounded up of a sum of doubles, which the tool's library may
    have a hair above a whole number."""
    ranks = json.dumps(case["arch"]["sparse_optimizations"])
    uniform = "hypergeometric" in json.dumps(case["problem"])
    return uniform and ('"CP"' in ranks or '"B"' in ranks)


def unequal(
    ours,
    theirs,
    tables,
    *,
    doubles,
    cycles=1.0,
):
    """The figures that are not the tool's, beyond words of doubles that are rounded down.

    Parameters
    ----------
    ours, theirs : mapping
        Figures by name.
    tables : sequence of mapping
        Energies of actions, by component.
    doubles : bool
        Whether words of metadata are rounded up of sums of doubles.
    cycles : float, optional
        By how many cycles they may differ.
    """
    apart = []
    for name, figure in theirs.items():
        own, level = float(ours.get(name, 0)), name.partition(".")[0]
        room = max(cycles, 1e-5 * figure * doubles) if name.endswith("cycles") else 1.0
        if name.endswith("energy_pJ"):
            prices = [
                action["energy"]
                for table in tables
                if re.search(rf"\.{level}(\[.*\])?$", table["name"])
                for action in table["actions"]
            ]
            words = sum(  # of which the tool has one more, or one less
                abs(ours.get(each, 0) - count)
                for each, count in theirs.items()
                if each.startswith(f"{level}.")
                and not each.endswith(("energy_pJ", "cycles", "capacity"))
            )
            room = max(0.06, (5e-3 if doubles else 1e-5) * figure)
            room += float(words * max(prices) * ours["pes"])
        if abs(own - figure) > room:
            apart.append((name, own, figure))
    return apart


NUMBERED = list(enumerate(cases()))


@pytest.mark.parametrize(("number", "case"), NUMBERED, ids=[str(n) for n, _ in NUMBERED])
def test_figures_are_the_tools(number, case, tmp_path):
    row = evaluated(case, tmp_path)
    assert row["valid"] is ("figures" in case), (row["reason"], case.get("reason"))
    tables = case["arch"]["ERT"]["tables"]
    assert not unequal(row["metrics"], case.get("figures", {}), tables, doubles=of_doubles(case))


def test_what_never_meets_a_zero_costs_what_dense_tensors_cost(tmp_path):
    """Savings change nothing where all words are there."""
    case = next(case for case in cases() if "figures" in case)
    case["problem"]["problem"]["instance"].pop("densities", None)
    case["arch"]["sparse_optimizations"] = {
        "targets": [
            {"name": "Buffer", "action_optimization": [{"type": "skipping", "target": "A", "condition_on": ["B"]}]},
            {"name": "MAC", "compute_optimization": [{"type": "gating"}]},
        ]
    }  # fmt: skip
    mapping = [entry for entry in case["map"]["mapping"] if entry["type"] != "bypass"]
    case["map"] = {"mapping": mapping}
    sparse = evaluated(case, tmp_path)["metrics"]
    del case["arch"]["sparse_optimizations"]
    dense = evaluated(case, tmp_path)["metrics"]
    assert {name: sparse[name] for name in dense} == pytest.approx(dense)


@pytest.mark.parametrize(
    ("order", "first", "later"), [("K M N", 2 * 32, 0), ("N K M", 4 * 32, 2 * 32)]
)
def test_outputs_of_sparse_products_take_first_fills_in_older_versions(
    order, first, later, tmp_path
):
    """Two tiles of 4 x 8 words, each brought once, or twice where K is around N."""
    case = next(case for case in cases() if "figures" in case)
    case["arch"]["sparse_optimizations"] = {
        "targets": [{"name": "MAC", "compute_optimization": [{"type": "gating"}]}]
    }
    memory, *others = case["map"]["mapping"]
    assert memory["factors"] == "M=1 N=2 K=2"
    others = [entry for entry in others if entry["type"] == "temporal"]
    kept = [
        {"target": "Buffer", "type": "bypass", "keep": ["A", "B", "Z"]},
        {"target": "Spad", "type": "bypass", "keep": ["B"], "bypass": ["A", "Z"]},
    ]
    path = tmp_path / "map.yaml"
    path.write_text(json.dumps({"mapping": [memory | {"permutation": order}, *others, *kept]}))
    machine = architecture_of(case["arch"], None, "own", "own")
    (point,) = load_points(path, machine, problem_nest(case["problem"]["problem"], "problem"))
    models = [
        SparseModel(point.design, point.mapping, kind) for kind in (FirstFillsModel, TimeloopModel)
    ]
    assert [model.fills(1, "Z") for model in models] == [first, later]


def test_hypergeometric_densities_are_those_of_all_draws():
    places, held, tile = 7, 3, 4
    draws = [set(draw) for draw in combinations(range(places), held)]
    density = Density(held / places, uniform=True, sides=(places,))
    counts = [sum(len(draw & set(range(tile))) == n for draw in draws) for n in range(tile + 1)]
    expected = {n: count / len(draws) for n, count in enumerate(counts) if count}
    assert dict(density.occupancies((tile,))) == pytest.approx(expected)
    assert density.empty((tile,)) == pytest.approx(counts[0] / len(draws))
    assert density.mean((tile,)) == pytest.approx(sum(n * p for n, p in expected.items()))
    assert density.most((tile,)) == 3
    for few, many, of in ((300, 400, 2000), (5, 1990, 2000), (700, 1200, 5000), (9, 9, 9)):
        assert none_of(few, of, many) == pytest.approx(comb(of - many, few) / comb(of, few))
    assert sum(p for _, p in Density(0.3, True, (10**7,)).occupancies((10**5,))) == pytest.approx(1)


def test_structured_densities_have_the_next_whole_numbers():
    density = Density(0.3)
    assert dict(density.occupancies((4,))) == pytest.approx({1: 0.8, 2: 0.2})
    assert (density.most((4,)), density.empty((2,)), density.empty((4,))) == (
        2,
        pytest.approx(0.4),
        0,
    )


@pytest.fixture
def files(tmp_path):
    case = next(case for case in cases() if "figures" in case)
    for name in ("arch", "problem", "map"):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(case[name], sort_keys=False))
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("arch", "type: skipping", "type: position_skipping", "type is 'position_skipping'"),
        ("arch", "format: UOP", "format: CSR", "format is 'CSR'; allowed: 'UOP', 'CP'"),
        (
            "arch",
            "condition_on",
            "conditions",
            "conditions is unknown; allowed: target, condition_on",
        ),
        ("problem", "hypergeometric", "actual", "densities.A: distribution is 'actual'"),
        ("problem", "density: 0.", "density: 3.", "allowed: a number from 0 to 1"),
    ],
)
def test_what_is_not_modelled_is_refused_by_name(files, file, old, new, message):
    path = files / f"{file}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    error = refused("evaluate", files / "problem.yaml", "--arch", files / "arch.yaml", "--points", files / "map.yaml")  # fmt: skip
    assert message in error


def test_other_editions_have_dense_tensors(files):
    error = refused("map", files / "problem.yaml", "--arch", files / "arch.yaml", "--edition", "uneven")  # fmt: skip
    assert "compresses, gates or skips words of sparse tensors" in error
    out = succeed("evaluate", files / "problem.yaml", "--arch", files / "arch.yaml", "--points", files / "map.yaml")  # fmt: skip
    assert "latency" in out.stdout


def test_banded_matrices_are_mapped_verified_explained_and_exported(files):
    """Bands are refused, by name, where they are no square matrix, or none of two loops."""
    problem = yaml.safe_load((files / "problem.yaml").read_text())
    instance = problem["problem"]["instance"]
    instance |= {"M": 2, "N": 2, "K": 2}
    instance["densities"] = {"A": {"distribution": "banded", "band_width": 1}}
    path, result = files / "problem.yaml", files / "result.json"
    path.write_text(yaml.safe_dump(problem))
    arguments = (path, "--arch", files / "arch.yaml", "--objective", "energy", "--divisors-only")
    assert "optimal" in succeed("map", *arguments, "-o", result).stdout
    assert "confirmed" in succeed("verify", result).stdout
    assert "Energy:" in succeed("explain", result, "--quick").stdout
    succeed("export", result, "--to", "timeloop", "-o", files / "out")
    out = succeed("evaluate", files / "out/problem.yaml", "--arch", files / "out/arch.yaml", "--points", files / "out/mapping.yaml", "--json")  # fmt: skip
    (row,), best = json.loads(out.stdout)["points"], json.loads(result.read_text())["best"]
    assert {name: row["metrics"][name] for name in best["metrics"]} == best["metrics"]
    for size, width, message in (
        (3, 1, "band_width is 1 of A[M][K] with sides [2, 3]; allowed: square matrices"),
        (2, 2, "band_width is 2 of A[M][K] with sides [2, 2]; allowed: square matrices"),
        (2, -1, "densities.A: band_width is -1; allowed: a whole number from 0 on"),
    ):
        instance["K"], instance["densities"]["A"]["band_width"] = size, width
        path.write_text(yaml.safe_dump(problem))
        assert message in refused("map", *arguments)


def test_costs_that_fall_as_a_metric_grows_are_refused(files):
    arguments = (files / "problem.yaml", "--arch", files / "arch.yaml", "--bypass", "free", "--objective")  # fmt: skip
    assert "never fall as a metric grows" in refused("map", *arguments, "energy/pes")
    assert "unknown name 'foo'" in refused("map", *arguments, "foo")


def test_remainders_are_refused(tmp_path):
    case = next(case for case in cases() if "figures" in case)
    instance, entries = case["problem"]["problem"]["instance"], case["map"]["mapping"]
    instance["M"] = 7
    for entry in (entry for entry in entries if entry["type"] != "bypass"):
        factors = dict(each.split("=") for each in entry["factors"].split())
        factors["M"] = {"Memory": "4", "Spad": "2,1"}.get(
            entry["target"] if entry["type"] == "temporal" else "", "1"
        )
        entry["factors"] = " ".join(f"{loop}={n}" for loop, n in factors.items())
    with pytest.raises(InputError, match="remainders do not go with sparse_optimizations"):
        evaluated(case, tmp_path)
