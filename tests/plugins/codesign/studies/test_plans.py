"""Plans of stages against all cuts and choices."""

from itertools import combinations, pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.formulations.question import Minimise
from ithaca.plugins.codesign.studies.arrays.plans import ArrayLimits, Options, best_plan

CHOICES = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 5), st.integers(0, 3), st.integers(-3, 9)),
    max_size=5,
)


@st.composite
def stages(draw):
    """Up to four layers, and the choices of every stage of them."""
    layers = draw(st.integers(1, 4))
    fronts = {}
    for first, end in combinations(range(layers + 1), 2):
        choices = draw(CHOICES)
        columns = (np.array([choice[n] for choice in choices], float) for n in range(4))
        fronts[first, end] = Options(*columns, np.arange(len(choices)) + 10)
    return layers, fronts


def every_plan(fronts, layers, arrays, budget, minimise):
    """Value and number of stages of every plan that the budget allows."""
    found = []
    for count in range(1, min(arrays, layers) + 1):
        for cuts in combinations(range(1, layers), count - 1):
            edges = list(pairwise((0, *cuts, layers)))
            for chosen in product(*(range(fronts[edge].dsp.size) for edge in edges)):
                parts = [
                    fronts[edge].only(np.array([n])) for edge, n in zip(edges, chosen, strict=True)
                ]
                if _within(parts, budget):
                    values = [float(part.value[0]) for part in parts]
                    found.append(
                        (max(values) if minimise is Minimise.SLOWEST else sum(values), count)
                    )
    return found


def _within(parts, budget):
    return (
        sum(p.dsp[0] for p in parts) <= budget.dsp
        and sum(p.bram18k[0] for p in parts) <= budget.bram18k
        and sum(p.bandwidth[0] for p in parts) <= budget.bandwidth
    )


def check_plan(plan, fronts, layers, budget, minimise):
    """The stages follow each other, fit the budget and have the value that is promised at most."""
    assert [plan.parts[0].first, plan.parts[-1].end] == [0, layers]
    assert all(before.end == after.first for before, after in pairwise(plan.parts))
    parts = []
    for part in plan.parts:
        front = fronts[part.first, part.end]
        parts.append(front.only(front.choice == part.choice))
        assert parts[-1].bram18k == part.bram18k
        assert parts[-1].bandwidth == part.bandwidth
    values = [float(part.value[0]) for part in parts]
    assert _within(parts, budget)
    assert (max(values) if minimise is Minimise.SLOWEST else sum(values)) == plan.value


@settings(max_examples=400)
@given(
    given_stages=stages(),
    arrays=st.integers(1, 5),
    budget=st.builds(ArrayLimits, st.integers(0, 14), st.integers(0, 10), st.integers(0, 6)),
    minimise=st.sampled_from(Minimise),
    below=st.one_of(st.just(float("inf")), st.integers(-3, 12).map(float)),
)
def test_the_best_plan_is_the_best_of_all(
    given_stages,
    arrays,
    budget,
    minimise,
    below,
):
    layers, fronts = given_stages
    expected = min(every_plan(fronts, layers, arrays, budget, minimise), default=None)
    plan = best_plan(fronts, layers, arrays, budget, minimise, below)
    if expected is None or expected[0] >= below:
        assert plan is None
    else:
        assert (plan.value, len(plan.parts)) == expected
        check_plan(plan, fronts, layers, budget, minimise)


@settings(max_examples=300)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 4), max_size=40))
def test_a_front_has_all_that_nothing_is_as_good_as(rows):
    columns = [np.array([row[n] for row in rows], float) for n in range(4)]
    front = Options(*columns, np.arange(len(rows))).front
    found = list(zip(front.dsp, front.bram18k, front.bandwidth, front.value, strict=True))
    different = set(rows)
    best = {
        r
        for r in different
        if not any(o != r and all(x <= y for x, y in zip(o, r, strict=True)) for o in different)
    }
    assert len(found) == len(set(found))
    assert set(found) == best
    assert list(front.dsp) == sorted(front.dsp)
