"""The lanes that fit a mesh: every loop's lanes lie along X or Y, and multiply to the mesh's size
from the outermost level on.

What lanes may follow depends on how those so far can be laid out. All layouts of which none is
narrower both ways are one *state*, a small integer; adding lanes leads to another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Mesh

#: Lanes along X and along Y inside every mesh so far, innermost mesh first.
Layout = tuple[tuple[int, int], ...]


class Layouts:
    """States of lanes on nested meshes; 0 is no lane yet."""

    def __init__(self, meshes: Sequence[Mesh], *, within_parent: bool) -> None:
        self.meshes, self.within_parent = tuple(meshes), within_parent
        self._states: list[frozenset[Layout]] = [frozenset({()})]
        self._numbers = {self._states[0]: 0}
        self._next: dict[tuple[int, int, str], int] = {}
        self._open: dict[int, int] = {}

    def open(self, states: Floats) -> Floats:
        """The states on entering the next mesh outwards."""
        opened = {int(s): self._opened(int(s)) for s in np.unique(states)}
        return _mapped(states, opened)

    def add(self, states: Floats, lanes: Floats, along: str) -> Floats:
        """The states with more lanes of one loop, which may lie ``along`` x, y or either; -1 where
        they do not fit.

        Parameters
        ----------
        states : Floats
            What lies along the present mesh so far, shape (labels).
        lanes : Floats
            Lanes of the loop, shape (labels).
        along : str
            ``x``, ``y``, or both.
        """
        pairs = states * 2**20 + lanes
        added = {
            int(pair): self._added(int(pair) >> 20, int(pair) & (2**20 - 1), along)
            for pair in np.unique(pairs)
        }
        return _mapped(pairs, added)

    def room(self, states: Floats) -> Floats:
        """An upper bound of the lanes that may still be added, by all loops, inside the meshes so
        far."""
        rooms = {int(s): self._room(int(s)) for s in np.unique(states)}
        return _mapped(states, rooms)

    def _limits(self, place: int) -> tuple[int, int]:
        mesh = self.meshes[place]
        return mesh.own if self.within_parent else (mesh.x, mesh.y)

    def _number(self, layouts: set[Layout]) -> int:
        kept = frozenset(a for a in layouts if not any(a != b and _narrower(b, a) for b in layouts))
        if kept not in self._numbers:
            self._numbers[kept] = len(self._states)
            self._states.append(kept)
        return self._numbers[kept]

    def _opened(self, state: int) -> int:
        if state not in self._open:
            layouts = self._states[state]
            if self.within_parent:  # earlier meshes say nothing of this one
                count = max(len(layout) for layout in layouts)
                self._open[state] = self._number({(*(((1, 1),) * count), (1, 1))})
            else:
                self._open[state] = self._number({(*layout, (1, 1)) for layout in layouts})
        return self._open[state]

    def _added(self, state: int, lanes: int, along: str) -> int:
        key = state, lanes, along
        if key not in self._next:
            pairs = (
                [(lanes, 1) if way == "x" else (1, lanes) for way in along]
                if lanes > 1
                else [(1, 1)]
            )
            grown = {
                w
                for layout in self._states[state]
                for x, y in pairs
                if (w := self._wider(layout, x, y)) is not None
            }
            self._next[key] = self._number(grown) if grown else -1
        return self._next[key]

    def _wider(self, layout: Layout, x: int, y: int) -> Layout | None:
        """A layout with more lanes on the last mesh, which are inside all around it, too; None if
        they do not fit."""
        first = len(layout) - 1 if self.within_parent else 0
        wider = (*layout[:first], *((a * x, b * y) for a, b in layout[first:]))
        fits = all(
            a <= (limit := self._limits(place))[0] and b <= limit[1]
            for place, (a, b) in enumerate(wider)
        )
        return wider if fits else None

    def _room(self, state: int) -> int:
        def of(layout: Layout) -> int:
            free = [
                (self._limits(p)[0] // x) * (self._limits(p)[1] // y)
                for p, (x, y) in enumerate(layout)
            ]
            return min(free[-1:] if self.within_parent else free, default=2**30)

        return max(of(layout) for layout in self._states[state])

    def split(
        self, lanes: Sequence[Sequence[int]], along: Sequence[Sequence[str]]
    ) -> list[list[bool]]:
        """Per mesh, innermost first, which loops' lanes lie along Y, so that all fit."""
        flat = [
            (mesh, n, ways)
            for mesh, pairs in enumerate(zip(lanes, along, strict=True))
            for n, ways in zip(*pairs, strict=True)
        ]

        def search(layout: Layout, place: int) -> list[bool] | None:
            if place == len(flat):
                return []
            mesh, n, ways = flat[place]
            layout = layout if len(layout) > mesh else (*layout, (1, 1))
            for upward in (way == "y" for way in (ways if n > 1 else "x")):
                wider = self._wider(layout, *((1, n) if upward else (n, 1)))
                if wider is not None and (rest := search(wider, place + 1)) is not None:
                    return [upward, *rest]
            return None

        assigned = search((), 0)
        assert assigned is not None
        places = iter(assigned)
        return [[next(places) for _ in of_mesh] for of_mesh in lanes]


def _narrower(one: Layout, other: Layout) -> bool:
    return all(a <= c and b <= d for (a, b), (c, d) in zip(one, other, strict=True))


def _mapped(values: Floats, results_of: dict[int, int]) -> Floats:
    keys = np.array(sorted(results_of), np.float64)
    results = np.array([results_of[int(key)] for key in keys], np.float64)
    return results[np.searchsorted(keys, values)] if keys.size else values
