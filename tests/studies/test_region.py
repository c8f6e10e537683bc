"""Local upper bounds cover exactly what no point found dominates."""

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from ithaca.studies.region import Bound, admits, inside, split

vectors = st.integers(2, 3).flatmap(
    lambda m: st.lists(st.tuples(*[st.integers(0, 4).map(Fraction)] * m), min_size=1, max_size=8)
)


@given(vectors)
def test_boxes_cover_what_is_not_dominated(points):
    count = len(points[0])
    uppers = [(None,) * count]
    found = []
    for point in points:
        if any(admits(u, point) for u in uppers):
            uppers = split(uppers, point)
            found.append(point)
        for candidate in product(map(Fraction, range(6)), repeat=count):
            dominated = any(all(f <= c for f, c in zip(p, candidate, strict=True)) for p in found)
            assert any(admits(u, candidate) for u in uppers) != dominated
        assert not any(a is not b and inside(a, b) for a in uppers for b in uppers)


bounds = st.none() | st.builds(Bound, st.integers(0, 4).map(Fraction), st.booleans())


@given(*[st.tuples(bounds, bounds)] * 2)
def test_a_region_is_inside_another_if_all_its_points_are(inner, outer):
    steps = [Fraction(n, 2) for n in range(-1, 11)]
    points = list(product(steps, repeat=2))
    assert inside(inner, outer) == all(admits(outer, p) for p in points if admits(inner, p))
