"""What-if studies: points equal separate solves, resume exactly, and become labelled data."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from ithaca.commands.api.vary import named_values
from ithaca.files.errors import InputError
from ithaca.files.netcdf import save_netcdf
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.results.datasets import front_dataset, study_dataset
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.solution import best_solution
from ithaca.studies.best import solve_best
from ithaca.studies.front import pareto_front
from ithaca.studies.grid import MAX_POINTS, StudyAxis
from ithaca.studies.marginal import marginal_values
from ithaca.studies.store import Store, Trust, fingerprint
from ithaca.studies.whatif import run_study
from tests.problems import mm_problem
from tests.studies.test_front import Stop

DATAFLOWS = (("i", "j"), ("i", "k"))
AXES = (
    StudyAxis("i", (32, 16)),
    StudyAxis("dsp_limit", (Fraction(4), Fraction(400), Fraction(100)), (4, 400, 100)),
)


def build(values):
    return [mm_problem((values["i"], 24, 16), d, dsp=str(values["dsp_limit"])) for d in DATAFLOWS]


def timeless(dataset):
    return dataset.drop_vars("seconds")


@pytest.fixture(scope="module")
def study():
    return run_study(AXES, build, percent=Fraction(5))


def test_every_point_is_what_a_separate_solve_finds(study):
    assert study.complete
    assert list(study.points) == [(a, b) for a in range(2) for b in range(3)]
    for index, point in study.points.items():
        labels = study.labels(index)
        solutions = solve_designs(list(build(labels)))
        best = best_solution(solutions)
        if best is None:
            assert labels["dsp_limit"] == 4
            assert point.answer.certificate.status is Status.INFEASIBLE
            assert (
                "smallest that could be met with the other limits as they are is 5"
                in point.answer.explain()
            )
            assert point.marginals == ()
        else:
            assert point.answer.value == best.value
            assert point.answer.certificate.status is Status.OPTIMAL
            assert systolic(point.answer.configured.problem).array == systolic(best.problem).array


def test_marginal_values_are_proven_by_solving_again(study):
    point = study.points[0, 2]  # i = 32, 100 DSPs
    by_limit = {m.limit.metric: m for m in point.marginals}
    assert list(by_limit) == ["dsp", "bram18k"]
    for metric, marginal in by_limit.items():
        assert marginal.proven
        assert marginal.raised.bound == marginal.limit.bound * Fraction(105, 100)
        raised = [
            replace(
                p,
                limits=tuple(
                    Limit(x.metric, x.bound * Fraction(105, 100)) if x.metric == metric else x
                    for x in p.limits
                ),
            )
            for p in point.problems
        ]
        best = best_solution(solve_designs(raised))
        assert marginal.after.value == best.value
    assert by_limit["dsp"].change < 0
    assert by_limit["bram18k"].change == 0


def test_marginal_values_of_repeated_limits_raise_the_tightest():
    problems = [
        mm_problem((32, 24, 16), d, dsp="100", more_limits=(Limit("dsp", Fraction(102)),))
        for d in DATAFLOWS
    ]
    (dsp, _) = marginal_values(problems, percent=5)
    assert (dsp.limit.bound, dsp.raised.bound) == (100, 105)
    assert (
        dsp.after.value
        == marginal_values([mm_problem((32, 24, 16), d, dsp="100") for d in DATAFLOWS])[
            0
        ].after.value
    )


def test_the_dataset_is_labelled_and_complete(study):
    data = study_dataset(study)
    assert data.sizes == {"i": 2, "dsp_limit": 3, "loop": 3, "limit": 2}
    point = data.sel(i=32, dsp_limit=100)
    answer = study.points[0, 2].answer
    assert float(point["value"]) == answer.value == float(point["latency"])
    assert float(point["lower_bound"]) == answer.value
    assert float(point["gap"]) == 0
    assert str(point["status"].item()) == "optimal"
    assert int(point["boxes"]) == answer.certificate.nodes
    assert float(point["dsp"]) == answer.configured.metrics["dsp"]
    assert data["dsp"].attrs["units"] == "blocks"
    tiling = answer.configured.tiling
    assert point["t1"].to_series().to_dict() == dict(tiling.array_part)
    assert float(point["t2"].sel(loop="k")) == tiling.simd
    assert json.loads(str(point["pack"].item())) == tiling.module_packs(
        systolic(answer.configured.problem).array
    )
    assert float(point["marginal_change"].sel(limit="dsp")) < 0
    infeasible = data.sel(i=32, dsp_limit=4)
    assert str(infeasible["status"].item()) == "infeasible"
    assert np.isnan(float(infeasible["value"]))
    assert "5" in str(infeasible["shortfall"].item())
    assert data.attrs["complete"] == 1


def test_netcdf_keeps_everything(study, tmp_path):
    front = pareto_front(
        [mm_problem((6, 5, 4), d) for d in DATAFLOWS], ("latency", "dsp"), max_points=3
    )
    point = run_study((), lambda _: build({"i": 16, "dsp_limit": 100}))
    for number, data in enumerate(
        (study_dataset(study), front_dataset(front), study_dataset(point))
    ):
        path = tmp_path / f"{number}.nc"
        save_netcdf(data, path)
        with xr.open_dataset(path) as back:
            xr.testing.assert_identical(back.load(), data)
    assert len(list(tmp_path.iterdir())) == 3


def test_an_empty_front_is_a_dataset_too(tmp_path):
    front = pareto_front([mm_problem((6, 5, 4), dsp="4")], ("latency", "dsp"))
    save_netcdf(front_dataset(front), tmp_path / "empty.nc")
    with xr.open_dataset(tmp_path / "empty.nc") as back:
        assert back.sizes["point"] == 0


@pytest.mark.parametrize("count", [1, 6])
def test_an_interrupted_study_resumes_to_the_same_dataset(study, tmp_path, count):
    store = Store(tmp_path / "results")
    part = run_study(
        AXES, build, SolveOptions(stop=Stop(store.folder, count)), store=store, percent=Fraction(5)
    )
    assert not part.complete
    statuses = {p.answer.certificate.status for p in part.points.values()}
    assert Status.UNKNOWN in statuses
    kept = {path.name: path.stat().st_mtime_ns for path in store.folder.iterdir()}
    assert len(kept) == count
    whole = run_study(AXES, build, store=store, percent=Fraction(5))
    assert whole.complete
    xr.testing.assert_identical(timeless(study_dataset(whole)), timeless(study_dataset(study)))
    # nothing was solved twice
    assert all(
        (store.folder / name).stat().st_mtime_ns == changed for name, changed in kept.items()
    )
    again = run_study(AXES, build, SolveOptions(time_limit=1e-9), store=store, percent=Fraction(5))
    xr.testing.assert_identical(study_dataset(again), study_dataset(whole))


def one_point(store, options=None, dsp=400):
    return run_study(
        (StudyAxis("i", (32,)),), lambda v: build({**v, "dsp_limit": dsp}), options, store=store
    )


CORRUPT = {
    "cut off": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "another shape": lambda text: '{"schema": "ithaca/2"}',
    "hostile": lambda text: "[" * 100_000,
    "another value": lambda text: text.replace('"value": "230"', '"value": "229"').replace(
        '"lower_bound": "230"', '"lower_bound": "229"'
    ),
    "not proven": lambda text: text.replace('"lower_bound": "230"', '"lower_bound": "229"'),
    "another tiling": lambda text: text.replace('"t2.k": 8', '"t2.k": 3').replace(
        '"t2.k": 4', '"t2.k": 3'
    ),
    "no rational": lambda text: text.replace('"value": "230"', '"value": "1/0"'),
    "another problem": lambda text: text.replace('"fingerprint": "', '"fingerprint": "0'),
    "no such design": lambda text: text.replace('"design": 1', '"design": 99'),
}


@pytest.mark.parametrize("case", CORRUPT)
def test_corrupt_files_are_solved_again_with_a_note(case, tmp_path):
    notes = []
    # a seal tells them all, but for who trusts files without
    store = Store(tmp_path / "results", notes.append, trust=Trust(foreign=True))
    first = one_point(store)
    (path,) = store.folder.iterdir()
    text = path.read_text()
    spoilt = CORRUPT[case](text)
    assert spoilt != text
    path.write_text(spoilt)
    second = one_point(store)
    assert len(notes) == 1
    assert path.name in notes[0]
    assert "\n" not in notes[0]
    assert (
        [p.answer.value for p in second.points.values()]
        == [p.answer.value for p in first.points.values()]
        == [230]
    )
    assert json.loads(path.read_text())["value"] == "230"
    one_point(store)
    assert len(notes) == 1


def test_unproven_answers_are_improved_on_but_not_repeated(tmp_path):
    store = Store(tmp_path / "results")
    hasty = SolveOptions(gap=0.9)
    first = one_point(store, hasty).points[0,].answer
    assert first.certificate.status is Status.FEASIBLE
    (path,) = store.folder.iterdir()
    before = path.read_text()
    assert one_point(store, hasty).points[0,].answer == first
    assert path.read_text() == before
    proven = one_point(store).points[0,].answer
    assert proven.certificate.status is Status.OPTIMAL
    assert path.read_text() != before
    assert one_point(store, hasty).points[0,].answer == proven


def test_the_time_limit_is_shared_by_all_searches(monkeypatch):
    limits = []

    def record(problems, options, **more):
        assert options.time_limit is not None
        limits.append(options.time_limit)
        return solve_best(problems, **more)

    monkeypatch.setattr("ithaca.studies.whatif.solve_best", record)
    run_study(AXES, build, SolveOptions(time_limit=6000), percent=Fraction(5))
    # six points, two of them infeasible and so without two marginal values each
    assert len(limits) == 6 + 2 * 4
    assert limits[0] == pytest.approx(6000 / 18, rel=0.1)
    # what a search does not use is shared by those after it
    assert limits == sorted(limits)
    assert 5000 < limits[-1] < 6000


def test_a_study_is_resumed_under_its_time_limit_without_solving_again(tmp_path):
    store = Store(tmp_path / "results")
    hasty = SolveOptions(time_limit=1e-9)
    axes = (StudyAxis("i", (16, 32)),)

    def build_one(values):
        return build({**values, "dsp_limit": 400})

    first = run_study(axes, build_one, hasty, store=store)
    assert {p.answer.certificate.status for p in first.points.values()} <= {
        Status.UNKNOWN,
        Status.FEASIBLE,
    }
    kept = {path.name: path.stat().st_mtime_ns for path in store.folder.iterdir()}
    assert len(kept) == 2
    again = run_study(axes, build_one, hasty, store=store)
    assert {path.name: path.stat().st_mtime_ns for path in store.folder.iterdir()} == kept
    assert [p.answer for p in again.points.values()] == [p.answer for p in first.points.values()]
    # another engine is asked anew
    run_study(axes, build_one, hasty, store=store, method=Method.AUTO)
    assert all(path.stat().st_mtime_ns != kept[path.name] for path in store.folder.iterdir())
    whole = run_study(axes, build_one, SolveOptions(time_limit=600), store=store)
    assert {p.answer.certificate.status for p in whole.points.values()} == {Status.OPTIMAL}


def test_fingerprints_tell_problems_apart():
    base = mm_problem((32, 24, 16))
    others = [
        mm_problem((32, 24, 17)),
        mm_problem((32, 24, 16), dsp="100"),
        mm_problem((32, 24, 16), objective="dsp"),
        mm_problem((32, 24, 16), dtype="int16"),
        mm_problem((32, 24, 16), edition="odyssey"),
        mm_problem((32, 24, 16), ("i", "k")),
        mm_problem((32, 24, 16), permutation="A"),
        base.with_design(options=SpaceOptions(min_lanes=2)),
        base.with_design(technology=replace(systolic(base).technology, clock_mhz=Fraction(200))),
    ]
    prints = [fingerprint([p]) for p in (base, *others)] + [
        fingerprint([base, others[0]]),
        fingerprint([]),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint([base]) == fingerprint([mm_problem((32, 24, 16))])


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ((StudyAxis("i", (1,)), StudyAxis("i", (2,))), "given twice"),
        (
            tuple(StudyAxis(name, tuple(range(40))) for name in "ij"),
            f"1600 points; allowed: at most {MAX_POINTS}",
        ),
    ],
)
def test_bad_grids_are_refused(axes, told):
    with pytest.raises(InputError, match=told):
        run_study(axes, build)


def test_bad_axes_are_refused():
    with pytest.raises(InputError, match="twice"):
        StudyAxis("i", (1, 2, 1))
    with pytest.raises(InputError, match="no values"):
        StudyAxis("i", ())
    study = run_study((StudyAxis("latency", (1,)),), lambda _: build({"i": 16, "dsp_limit": 100}))
    with pytest.raises(InputError, match="latency_limit"):
        study_dataset(study)


def test_a_results_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "no" / "such", Path("a\0b")):
        with pytest.raises(InputError, match="results folder"):
            Store(folder)


@pytest.mark.ci
def test_ranges_of_numbers_are_told_from_values_that_begin_like_them():
    for text in ("100..400", "100-400:50", "100..400,500"):
        with pytest.raises(InputError, match=r"is the range .* such as dsp=100,250,400$"):
            list(named_values([f"dsp={text}"]))
    for text in ("10-3.yaml,u280", f"{'9' * 5000}..{'9' * 5000}"):
        assert list(named_values([f"dsp={text}"])) == [("dsp", text.split(","))]
