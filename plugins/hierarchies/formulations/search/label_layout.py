"""The rows of the matrix of partial mappings: the layout of a label."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ithaca.plugins.hierarchies.formulations.search.hierarchy import Hierarchy

#: A tensor, and the number of meshes inside the level that holds it: tiles that overlap close with
#: the width as of there.
Item = tuple[int, int]


@dataclass(frozen=True)
class LabelLayout:
    """The rows of the matrix by their contents."""

    hierarchy: Hierarchy
    counts: tuple[int, ...]
    """The counts so far."""
    items: tuple[Item, ...]
    """The items that may be open."""

    def __hash__(self) -> int:
        return hash((self.counts, self.items))

    @cached_property
    def _rows(self) -> dict[object, slice]:
        loops, tensors, counts = (
            len(self.hierarchy.loops),
            len(self.hierarchy.tensors),
            len(self.counts),
        )
        parts: list[tuple[object, int]] = [
            ("extent", loops),
            ("widest", loops),
            ("lanes", 1),
            ("mesh", 1),
            ("steps", 1),
        ]
        parts += [
            ("origin", 1),
            ("order", 1),
            ("settled", counts),
            ("first", counts),
            ("wanted", tensors),
            ("closed", tensors),
        ]
        parts.append(("leak", len(self.hierarchy.leaks)))
        parts += [(name, loops if self.hierarchy.ending else 0) for name in ("reach", "run")]
        for v, inside in self.items:
            parts.append(((v, inside), counts))
            for rank in self.hierarchy.tensors[v].window_ranks:
                parts.append(((v, inside, rank), 1))
        slices, place = {}, 0
        for name, count in parts:
            slices[name] = slice(place, place + count)
            place += count
        return slices

    @cached_property
    def size(self) -> int:
        """The number of rows."""
        return int(max(rows.stop for rows in self._rows.values()))

    def rows(self, name: object) -> slice:
        """The rows of something: by its word, by item, or by item and rank for the width of its
        tile."""
        return self._rows[name]

    @cached_property
    def adding(self) -> list[int]:
        """The places of counts that add up over instances."""
        counts = self.hierarchy.counts
        return [place for place, number in enumerate(self.counts) if counts[number].adds]

    @cached_property
    def names(self) -> tuple[object, ...]:
        """The names of everything that has rows."""
        return tuple(self._rows)
