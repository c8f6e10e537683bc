"""Plans of stages against all cuts and choices."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.studies.shared.plans import Front, Minimise, Plan, best_plan, front_of

Fronts = dict[tuple[int, int], Front]
CHOICES = st.lists(st.tuples(st.integers(1, 6), st.integers(-3, 9)), max_size=3)


@st.composite
def stages(draw: st.DrawFn) -> tuple[int, Fronts]:
    """Up to four layers, and the choices of every stage of them."""
    layers = draw(st.integers(1, 4))
    fronts = {}
    for first, end in combinations(range(layers + 1), 2):
        choices = draw(CHOICES)
        dsp, value = (np.array([choice[n] for choice in choices], float) for n in (0, 1))
        fronts[first, end] = front_of(dsp, value, np.arange(len(choices)) + 10)
    return layers, fronts


def every_plan(fronts: Fronts, layers: int, arrays: int, budget: float, minimise: Minimise) -> list[tuple[float, int]]:
    """Value and number of stages of every plan that the budget allows."""
    found = []
    for count in range(1, min(arrays, layers) + 1):
        for cuts in combinations(range(1, layers), count - 1):
            edges = list(pairwise((0, *cuts, layers)))
            for chosen in product(*(range(fronts[edge].dsp.size) for edge in edges)):
                parts = [(fronts[edge].dsp[n], fronts[edge].value[n]) for edge, n in zip(edges, chosen, strict=True)]
                if sum(dsp for dsp, _ in parts) <= budget:
                    values = [float(value) for _, value in parts]
                    found.append((max(values) if minimise is Minimise.SLOWEST else sum(values), count))
    return found


def check_plan(plan: Plan, fronts: Fronts, layers: int, budget: float, minimise: Minimise) -> None:
    """The stages follow each other, fit the budget and have the value that is promised at most."""
    assert [plan.stages[0][0], plan.stages[-1][1]] == [0, layers]
    assert all(before[1] == after[0] for before, after in pairwise(plan.stages))
    dsp, values = 0.0, []
    for first, end, choice in plan.stages:
        front = fronts[first, end]
        place = front.choice.tolist().index(choice)
        dsp += front.dsp[place]
        values.append(float(front.value[place]))
    assert dsp <= budget
    assert (max(values) if minimise is Minimise.SLOWEST else sum(values)) == plan.value


@settings(max_examples=400)
@given(
    given_stages=stages(),
    arrays=st.integers(1, 5),
    budget=st.integers(0, 14),
    minimise=st.sampled_from(Minimise),
    below=st.one_of(st.just(float("inf")), st.integers(-3, 12).map(float)),
)
def test_the_best_plan_is_the_best_of_all(
    given_stages: tuple[int, Fronts], arrays: int, budget: int, minimise: Minimise, below: float
) -> None:
    layers, fronts = given_stages
    expected = min(every_plan(fronts, layers, arrays, budget, minimise), default=None)
    plan = best_plan(fronts, layers, arrays, budget, minimise, below)
    if expected is None or expected[0] >= below:
        assert plan is None
    else:
        assert plan is not None
        assert (plan.value, len(plan.stages)) == expected
        check_plan(plan, fronts, layers, budget, minimise)
