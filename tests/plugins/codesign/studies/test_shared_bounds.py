"""Bounds of searches for shared arrays that are stopped."""

from functools import cache
from itertools import count

import pytest

from ithaca.files.clock import StoppedError
from ithaca.formulations.question import Minimise
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.plans import best_plan
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.solver.options import SolveOptions
from tests.plugins.codesign.studies.several_arrays import least, pipelines
from tests.plugins.codesign.studies.test_shared import check_joint, layers, mixed, total
from tests.problems import mm_problem


@pytest.mark.parametrize("minimise", list(Minimise))
def test_no_time_leaves_nothing_but_the_roofs(minimise):
    problems = [mm_problem(s, dsp="80", bram18k="80") for s in ((12, 16, 8), (20, 8, 16))]
    designs = [[(p, 1) for p in problems]]
    options = SolveOptions(time_limit=0.0)
    shared = SharedSearch(designs, options).run()
    assert (shared.value, shared.infeasible) == (None, False)
    full = SharedSearch(designs, SolveOptions()).run()
    assert 0 < shared.lower_bound <= full.value
    several = PipelineSearch(designs, (0, 1), 2, minimise, options).run()
    assert (several.stages, several.value) == ((), None)
    share = (
        1 if minimise is Minimise.TOTAL else 2
    )  # the slower of two arrays takes at least half of the sum
    assert shared.lower_bound / share - 1 <= several.lower_bound <= shared.lower_bound / share + 1


def test_a_search_that_is_stopped_has_a_bound():
    problems = [mm_problem(s, dsp="80", bram18k="80") for s in ((12, 16, 8), (20, 8, 16))]
    asked = []

    def stop():
        asked.append(True)
        return len(asked) > 15

    outcome = SharedSearch([[(p, 1) for p in problems]], SolveOptions(stop=stop)).run()
    assert outcome.value is None
    full = SharedSearch([[(p, 1) for p in problems]], SolveOptions()).run()
    assert outcome.lower_bound <= full.value


def test_a_search_for_several_arrays_that_is_stopped_has_one_for_all(
    monkeypatch,
):
    problems = [mm_problem(s, dsp="80", bram18k="80") for s in ((12, 16, 8), (20, 8, 16))]
    designs = [[(p, 1) for p in problems]]
    asked = []

    def stop(stages, layers, arrays, *others):
        asked.append(arrays)
        if asked.count(2) > 1:  # the first time is for a bound
            raise StoppedError
        return best_plan(stages, layers, arrays, *others)

    monkeypatch.setattr("ithaca.plugins.codesign.studies.arrays.pipeline.best_plan", stop)
    outcome = PipelineSearch(designs, (0, 1), 2, Minimise.TOTAL, SolveOptions()).run()
    assert asked == [2, 2]
    assert len(outcome.stages) == 1
    assert outcome.lower_bound <= outcome.value
    check_joint(outcome.stages[0].joint, problems)
    best = SharedSearch(designs, SolveOptions()).run().value
    assert outcome.value >= best


@cache
def every_design(dsp, bram18k):
    """The mixed layers on designs that differ much."""
    return tuple(
        mixed(dsp, bram18k, dataflow=tuple(dataflow)) for dataflow in ("or", "oc", "rc", "i", "ri")
    )


def searched(designs, steps=None):
    """The outcome of a search of all designs that is stopped after it was asked so many times
    whether to go on."""
    calls = count()
    options = SolveOptions(stop=None if steps is None else lambda: next(calls) >= steps)
    return SharedSearch(
        [[(problem, 2) for problem in problems] for problems in designs], options
    ).run()


@pytest.mark.parametrize("bram18k", ["100", "8"])
def test_bounds_of_all_designs_hold_whenever_a_search_ends(bram18k):
    designs = every_design("4", bram18k)
    least_of = [None if (t := total(problems, bram18k)) is None else 2 * t for problems in designs]
    best = min(t for t in least_of if t is not None)
    searched(designs)  # what is compiled is kept: from here on every search takes the same steps
    found, bounded, steps = 0, 0, 1
    while True:
        outcome = searched(designs, steps)
        for known, own in zip(outcome.designs, least_of, strict=True):
            assert not known.infeasible or own is None
            assert own is None or known.lower_bound is None or known.lower_bound <= own
            assert known.value is None or (own is not None and own <= known.value)
        assert outcome.lower_bound is None or outcome.lower_bound <= best
        found += outcome.value is not None
        bounded += outcome.lower_bound is not None
        if outcome.value is not None and outcome.lower_bound == outcome.value:
            break
        if steps > 100_000:
            break
        steps += steps // 8 + 1
    assert found > 1  # there was a value, and a bound, before the end
    assert bounded > found
    if bram18k == "100":
        assert outcome.value is not None
        assert outcome.value == best


def test_designs_beaten_by_their_bound_are_not_prepared_any_further():
    designs = [
        [*problems, *problems, *problems] for problems in every_design("4", "100")
    ]  # more layers than are looked at
    search = SharedSearch([[(p, 2) for p in problems] for problems in designs], SolveOptions())
    outcome = search.run()
    assert outcome.lower_bound == outcome.value
    beaten = [n for n, alone in enumerate(search.alone) if len(alone.layers) < 6]
    assert beaten
    for known in (outcome.designs[n] for n in beaten):
        assert (known.value, known.examined, known.infeasible) == (None, 0, False)
        assert known.lower_bound >= outcome.value


def test_the_first_array_is_found_before_other_designs_are_prepared():
    designs = [[*problems, *problems, *problems] for problems in every_design("4", "100")]
    known = []
    search = SharedSearch(
        [[(p, 1) for p in problems] for problems in designs], SolveOptions(), known.append
    )
    search.run()
    assert known[0].value is None
    assert known[0].lower_bound is not None
    first = next(number for number, progress in enumerate(known) if progress.value is not None)
    assert first < 10
    bounds = [progress.lower_bound for progress in known if progress.lower_bound is not None]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("minimise", list(Minimise))
def test_several_arrays_are_bounded_whenever_a_search_ends(minimise):
    problems = layers("6", "200")
    rows = pipelines([problems], (0, 1), 2, slowest=minimise is Minimise.SLOWEST)
    best = least(rows, 200)
    values, bounds, steps = 0, 0, 1
    while True:
        calls, limit = count(), steps
        options = SolveOptions(stop=lambda calls=calls, limit=limit: next(calls) >= limit)
        outcome = PipelineSearch([[(p, 1) for p in problems]], (0, 1), 2, minimise, options).run()
        assert outcome.lower_bound is None or outcome.lower_bound <= best
        assert outcome.value is None or outcome.value >= best
        values += outcome.value is not None
        bounds += outcome.lower_bound is not None
        if outcome.value is not None and outcome.value == outcome.lower_bound:
            break
        steps += max(steps // 2, 1)
    assert values > 1  # the first array for all layers, before the best two are found
    assert bounds > values
