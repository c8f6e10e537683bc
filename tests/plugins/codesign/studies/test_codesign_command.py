"""``ithaca codesign`` and what takes its results, as a user meets them."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

import ithaca as library
from ithaca.commands.display import show
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.hierarchies.formulations.variation import with_figures
from ithaca.solver.certificate import Status
from tests.command_line import ithaca, refused, succeed
from tests.plugins.codesign.studies.spaces import small_space
from tests.refusals import refusals


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codesign")
    done = succeed(
        "codesign", small_space(folder), "--limit", "area=4", "-o", folder / "r.json", "--json"
    )
    assert done.stdout == (folder / "r.json").read_text()
    return folder


def grid(path, objective):
    """The least objective of every accelerator, each mapped by itself."""
    space = find_space(str(path))
    found = {}
    for words, lanes in product((32, 64, 128), (1, 2, 4)):
        if 32 * lanes <= words:
            figures = space.at({"buffer_words": words, "lanes": lanes})
            architecture = with_figures(space.accelerator.architecture, figures)
            best = library.map(
                str(path.parent / "product.yaml"),
                arch=architecture,
                objective=objective,
                divisors_only=True,
            )
            assert best.value is not None
            found[words, lanes] = best.value
    return found


def test_the_chosen_architecture_gives_the_same_optimum(answered, tmp_path):
    succeed("export", answered / "r.json", "--to", "timeloop", "-o", tmp_path / "out")
    mapped = library.map(
        answered / "product.yaml", arch=tmp_path / "out/arch.yaml", divisors_only=True
    )
    result = library.load(answered / "r.json")
    assert mapped.value == result.value
    assert (tmp_path / "out/product/mapping.yaml").is_file()
    again = library.map(answered / "product.yaml", arch=result.architecture, divisors_only=True)
    assert again.value == result.value


def test_what_more_would_buy_is_proven(answered):
    done = succeed("explain", answered / "r.json")
    best = tuple(json.loads((answered / "r.json").read_text())["best"]["hardware"].values())
    values, more = grid(answered / "small.yaml", "edp"), (best[0], best[1] * 2)
    (told,) = [
        line
        for line in done.stdout.splitlines()
        if line.startswith(f"Tried: lanes {more[1]} instead of {best[1]}")
    ]
    assert f"area {more[0] / 100 + more[1]:g} mm² instead of" in told
    if more in values:
        assert f"edp {int(values[best]):,} becomes {int(values[more]):,} (" in told
    quick = ithaca("explain", answered / "r.json", "--quick")
    assert "Tried" not in quick.stdout
    succeed("explain", answered / "r.json", "--layer", "product", "--quick")


@pytest.mark.parametrize(
    ("words", "line"),
    refusals("studies-codesign-codesign_command", "bad_input_is_refused_in_one_line"),
)
def test_bad_input_is_refused_in_one_line(tmp_path, words, line):
    path = small_space(tmp_path)
    done = refused(
        "codesign", *(str(path) if word == "SPACE" else word for word in words), cwd=tmp_path
    )
    assert line in done


@pytest.mark.parametrize(
    ("limit", "unit", "why"),
    [
        ("area=0.001", " mm²", "no value below 3.2967 mm² could be met, as far as is proven"),
        ("latency=1000", "", "(design resnet18)"),
        ("energy=1", " pJ", "(design resnet18)"),
    ],
)
def test_limits_far_below_any_accelerator_take_no_search(limit, unit, why):
    done = ithaca("codesign", "explainable-edge", "resnet18", "--limit", limit)
    assert done.returncode == 1
    assert "0 layer problems" in done.stdout
    name, bound = limit.split("=")
    assert f"infeasible: limit {name} = {float(bound):,g}{unit} cannot be met" in done.stderr
    assert why in done.stderr


@pytest.mark.parametrize("weight", [1, 1_000_000])
def test_limits_on_runs_are_of_one_run_whatever_its_weight(weight):
    limits = "area=0.001,latency=20000,power=none"
    words = ("-s", "i=16,j=16,k=16", "--limit", limits)
    done = ithaca("codesign", "explainable-edge", f"mm:{weight}", *words)
    assert done.returncode == 1
    assert "limit area = 0.001 mm² cannot be met" in done.stderr
    assert "limit latency" not in done.stderr


def test_budgets_that_no_point_meets_are_named_with_their_least(tmp_path):
    done = ithaca("codesign", small_space(tmp_path), "--limit", "area=1", "-o", tmp_path / "r.json")
    assert done.returncode == 1
    assert "area" in done.stderr
    assert "1.32 mm² (design small)" in done.stderr
    assert library.load(tmp_path / "r.json").status == "infeasible"


def test_explained_search_tells_its_steps_and_gives_the_proof_what_it_found(answered):
    result = library.codesign(
        answered / "small.yaml", limit={"area": 4}, method="explained", trials=4
    )
    assert result.value == library.load(answered / "r.json").value
    done = succeed(
        "codesign",
        answered / "small.yaml",
        "--limit",
        "area=4",
        "--method",
        "explained",
        "--trials",
        "4",
    )
    assert result.trail
    assert all(line in done.stdout for line in result.trail)
    done = ithaca("codesign", answered / "small.yaml", "--method", "luck")
    assert "--method is 'luck'; allowed: proof, random, " in done.stderr


def test_what_if_studies_prove_every_point(answered, tmp_path):
    space, values = answered / "small.yaml", grid(answered / "small.yaml", "edp")
    words = (
        "--vary",
        "area=2,4,8",
        "--table",
        tmp_path / "t.csv",
        "--plot",
        tmp_path / "t.svg",
        "--json",
    )
    done = succeed("codesign", space, *words)
    for point in json.loads(done.stdout)["points"]:
        within = [
            value
            for (size, lanes), value in values.items()
            if size / 100 + lanes <= point["at"]["area_limit"]
        ]
        assert point["objective"]["value"] == min(within)
        assert point["certificate"]["status"] == "optimal"
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 4
    study = library.codesign(space, vary={"lanes": [1, 2], "weight.product": [1, 2]})
    least = [min(value for (_, lanes), value in values.items() if lanes == n) for n in (1, 2)]
    assert [point.value for point in study.points.values()] == [
        least[0],
        4 * least[0],  # twice the energy, twice the latency
        least[1],
        4 * least[1],
    ]
    assert study.to_xarray()["value"].shape == (2, 2)
    for vary, line in (
        ("speed=1", "is unknown; allowed: limits area"),
        ("lanes=3", "allowed: 1, 2, 4"),
        ("area=no", "'no'"),
    ):
        refused = ithaca("codesign", space, "--vary", vary)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert line in refused.stderr


def test_what_is_still_open_is_told_and_kept(answered, tmp_path):
    done = ithaca(
        "codesign", answered / "small.yaml", "--time-limit", "1e-9", "-o", tmp_path / "r.json"
    )
    assert done.returncode == 1
    assert "still open 9 accelerators" in done.stdout
    assert "nothing found before the search ended" in done.stderr
    result = library.load(tmp_path / "r.json")
    assert result.status == "unknown"
    assert result.open[0].points == 9
    succeed("report", tmp_path / "r.json", "-o", tmp_path / "r.html")
    assert "No accelerator: nothing found" in ithaca("explain", tmp_path / "r.json").stdout


def test_objectives_may_mix_layers_and_hardware(answered, tmp_path):
    result = library.codesign(
        answered / "small.yaml", objective="latency*area", limit={"latency": 1000}
    )
    values = {
        point: value * (Fraction(point[0], 100) + point[1])
        for point, value in grid(answered / "small.yaml", "latency").items()
    }
    assert result.value == min(values.values())
    result.save(tmp_path / "r.json")
    assert library.load(tmp_path / "r.json") == result
    layer = library.load(tmp_path / "r.json", layer="product")
    assert layer.value == result.value
    layer.save(tmp_path / "layer.json")
    assert library.load(tmp_path / "layer.json").value == result.value


def test_a_result_is_no_space(answered):
    done = refused("codesign", answered / "r.json")
    assert (
        "r.json is an answer; allowed: a space (verify, explain, report, export take answers)"
        in done
    )


def test_what_is_unknown_is_not_called_infeasible(tmp_path):
    ithaca("codesign", small_space(tmp_path), "--time-limit", "1e-9", "-o", tmp_path / "r.json")
    # what bounds the whole space takes no search
    told = ithaca("verify", tmp_path / "r.json").stdout
    assert "unknown: no accelerator was found, lower bound 54,464; found again" in told
    document = json.loads((tmp_path / "r.json").read_text())
    document["certificate"]["lower_bound"] = None
    (tmp_path / "r.json").write_text(json.dumps(document))
    assert ithaca("verify", tmp_path / "r.json").stdout.endswith(
        "unknown: no accelerator was found; no proof is claimed\n"
    )
    document["certificate"]["lower_bound"] = 100
    (tmp_path / "r.json").write_text(json.dumps(document))
    said = ithaca("verify", tmp_path / "r.json").stdout
    assert "unknown: no accelerator was found, lower bound 100; found again" in said


@pytest.mark.ci
def test_totals_of_an_open_space_are_proven_for_one_accelerator(answered, capsys):
    result = library.load(answered / "r.json")
    for status, said in (
        (Status.OPTIMAL, "  (optimal)"),
        (Status.FEASIBLE, "  (optimal on this accelerator)"),
    ):
        proof = replace(result.certificate, status=status)
        show(*replace(result, certificate=proof).view)
        (total,) = [
            line for line in capsys.readouterr().out.splitlines() if line.startswith("total")
        ]
        assert total.endswith(said)
