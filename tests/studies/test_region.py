"""Local upper bounds cover exactly what no point found dominates."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from ithaca.studies.region import UpperBounds, admits, below, split, within

vectors = st.integers(2, 3).flatmap(
    lambda m: st.lists(st.tuples(*[st.integers(0, 4).map(Fraction)] * m), min_size=1, max_size=8)
)


@given(vectors)
def test_boxes_cover_what_is_not_dominated(points: list[tuple[Fraction, ...]]) -> None:
    count = len(points[0])
    uppers: list[UpperBounds] = [(None,) * count]
    found: list[tuple[Fraction, ...]] = []
    for point in points:
        if any(admits(below(u), point) for u in uppers):
            uppers = split(uppers, point)
            found.append(point)
        for candidate in product(map(Fraction, range(6)), repeat=count):
            dominated = any(all(f <= c for f, c in zip(p, candidate, strict=True)) for p in found)
            assert any(admits(below(u), candidate) for u in uppers) != dominated
        assert not any(a is not b and within(a, b) for a in uppers for b in uppers)
