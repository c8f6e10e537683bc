"""Densities: how many words of a tensor's tiles are not zero, in doubles, as Timeloop's density
models have it (`src/workload/density-models`).

Tiles are told apart by their words alone, those of banded matrices by their sides. A tile of a
banded matrix, whose words are those no further than a width from its diagonal, has words that
follow from its sides and its offset, by which its first row is beyond its first column; so tiles
are counted by their offsets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, exp, floor, gcd, lgamma, prod
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse

#: Elements of a tensor or tile along every rank.
Sides = tuple[int, ...]


def words_in(tile: Sides, offset: int, width: int) -> int:
    """The words of a tile that are in the band.

    Parameters
    ----------
    tile : tuple of int
        Its sides.
    offset : int
        Its offset.
    width : int
        The width of the band.
    """
    return _beyond(tile, -width - offset) - _beyond(tile, width + 1 - offset)


def _beyond(tile: Sides, least: int) -> int:
    """Places of a tile whose row is at least so far beyond the column."""
    rows, columns = tile
    return (
        _triangle(rows - least)
        - _triangle(-least)
        - _triangle(rows - columns - least)
        + _triangle(-columns - least)
    )


def _triangle(side: int) -> int:
    return side * (side + 1) // 2 if side > 0 else 0


@lru_cache(1 << 10)
def tiles_with_words(around: Sides, tile: Sides, width: int, offset: int = 0) -> Mapping[int, int]:
    """The number of tiles of a box that have words, by their offsets; those that the box cuts are
    none.

    Parameters
    ----------
    around : tuple of int
        Sides of the box.
    tile : tuple of int
        Sides of a tile.
    width : int
        The width of the band.
    offset : int
        The offset of the box.
    """
    rows, columns = tile
    down, along = around[0] // rows, around[1] // columns
    step = gcd(rows, columns)
    own, other = rows // step, columns // step  # place i · own - j · other, in steps
    inverse = pow(own, -1, other)
    least = max(1 - rows - width - offset, (1 - along) * columns)
    most = min(columns - 1 + width - offset, (down - 1) * rows)
    counts = {}
    for place in range(-(-least // step), most // step + 1):
        first = place * inverse % other  # the least i
        beside = (first * own - place) // other  # its j
        begin = max(0, -(beside // own))
        end = min((down - 1 - first) // other, (along - 1 - beside) // own)
        if end >= begin:
            counts[offset + place * step] = end - begin + 1
    return counts


@lru_cache(1 << 10)
def offsets_by_words(around: Sides, tile: Sides, width: int) -> Mapping[int, Mapping[int, int]]:
    """The tiles of a matrix that have words, by their words and offsets.

    Parameters
    ----------
    around : tuple of int
        Sides of the matrix.
    tile : tuple of int
        Sides of a tile.
    width : int
        The width of the band.
    """
    by_words: dict[int, dict[int, int]] = {}
    for offset, count in tiles_with_words(around, tile, width).items():
        by_words.setdefault(words_in(tile, offset, width), {})[offset] = count
    return dict(sorted(by_words.items()))


#: Factors that are multiplied one by one; of more, logarithms are added.
_FACTORS = 256

#: Probabilities below this are taken for zero, where there are many.
_LEAST = 1e-18

#: Names of distributions in files, by what they are.
DISTRIBUTIONS: Mapping[str, str] = {
    "fixed": "fixed",
    "fixed_structured": "fixed",
    "hypergeometric": "uniform",
    "banded": "banded",
}


def none_of(words: int, of: int, held: int) -> float:
    """The probability that a tile of some words has none of the ``held`` that are not zero among
    ``of``.

    Parameters
    ----------
    words : int
        Words of the tile.
    of : int
        Words of the tensor.
    held : int
        Words of the tensor that are not zero.
    """
    few, many = sorted((words, held))
    if few + many > of:
        return 0.0
    if few <= _FACTORS:
        return prod((of - many - n) / (of - n) for n in range(few))
    rest = of - few - many
    logarithm = lgamma(of - few + 1) - lgamma(rest + 1) - lgamma(of + 1) + lgamma(of - many + 1)
    return exp(logarithm)


@dataclass(frozen=True)
class Density:
    """A tensor of which a share is not zero."""

    share: float
    """Words that are not zero, over all."""
    uniform: bool = False
    """Whether they are anywhere with equal probability; else every tile has as many, or the next
    whole number of them."""
    sides: Sides = (1,)
    """Sides of the tensor."""

    def of(self, sides: Sides) -> Density:
        """The density of a tensor of such sides."""
        return replace(self, sides=sides)

    @property
    def words(self) -> int:
        """Words of the tensor, zeros among them."""
        return prod(self.sides)

    @property
    def held(self) -> int:
        """Words that are not zero, of a uniform density."""
        return ceil(self.share * self.words)

    def most(self, tile: Sides) -> int:
        """The most words that are not zero in a tile."""
        words = prod(tile)
        return min(words, self.held) if self.uniform else ceil(words * self.share)

    def mean(self, tile: Sides) -> float:
        """The average number of nonzeros in a tile."""
        return prod(tile) * self.held / self.words if self.uniform else prod(tile) * self.share

    def empty(self, tile: Sides, around: tuple[Sides, int] | None = None) -> float:
        """The probability that a tile holds none; ``around``: given the sides of one around it, and
        what that holds."""
        words, (of, held) = prod(tile), around or (self.sides, self.held)
        if self.uniform:
            return none_of(words, prod(of), held)
        exact = words * (held / prod(of) if around else self.share)
        return 1 - exact if exact < 1 else 0.0

    def occupancies(self, tile: Sides) -> Iterator[tuple[int, float]]:
        """The possible numbers of nonzeros in a tile, with their probabilities."""
        words = prod(tile)
        if not self.uniform:
            exact = words * self.share
            low = floor(exact)
            yield from ((n, p) for n, p in ((low, 1 - (exact - low)), (low + 1, exact - low)) if p)
            return
        held, of = self.held, self.words
        least, most = max(0, words + held - of), min(words, held)
        middle = min(max((words + 1) * (held + 1) // (of + 2), least), most)
        chances = {middle: 1.0}
        for step, end in ((1, most), (-1, least)):
            here, p = middle, 1.0
            while here != end and p > _LEAST:
                low = min(here, here + step)
                up = (held - low) * (words - low) / ((low + 1) * (of - held - words + low + 1))
                p, here = p * up if step == 1 else p / up, here + step
                chances[here] = p
        whole = sum(sorted(chances.values()))
        yield from ((n, chances[n] / whole) for n in sorted(chances))


@dataclass(frozen=True)
class Banded(Density):
    """A matrix whose words are not zero where row and column are no further apart than a width."""

    width: int = 0

    def of(self, sides: Sides) -> Density:
        return replace(self, sides=sides, share=words_in(sides, 0, self.width) / prod(sides))

    def _whole(self, tile: Sides) -> Sides:
        """A tile no larger than the matrix."""
        rows, columns = map(min, tile, self.sides)
        return rows, columns

    def most(self, tile: Sides) -> int:
        return max(offsets_by_words(self.sides, self._whole(tile), self.width), default=0)

    def empty(self, tile: Sides, around: tuple[Sides, int] | None = None) -> float:
        tile = self._whole(tile)
        of, held = around or (self.sides, None)
        places = {0: 1} if held is None else offsets_by_words(self.sides, of, self.width).get(held)
        if not places:
            return 1.0
        tiles = prod(own // side for own, side in zip(of, tile, strict=True))
        filled = sum(
            count * sum(tiles_with_words(of, tile, self.width, offset).values())
            for offset, count in places.items()
        )
        return 1 - filled / (tiles * sum(places.values()))

    def occupancies(self, tile: Sides) -> Iterator[tuple[int, float]]:
        tile = self._whole(tile)
        tiles = prod(own // side for own, side in zip(self.sides, tile, strict=True))
        if empty := self.empty(tile):
            yield 0, empty
        for words, places in offsets_by_words(self.sides, tile, self.width).items():
            yield words, sum(places.values()) / tiles


def read_densities(
    stated: Mapping[str, Any], tensors: Collection[str], where: str
) -> tuple[tuple[str, Density], ...] | str:
    """The densities that a problem states, by tensor, or, in a line, why they are not modelled.

    Parameters
    ----------
    stated : mapping of str to object
        The problem as it is stated.
    tensors : collection of str
        Its tensors.
    where : str
        The file, for messages.
    """
    name = "commonDensity" if "commonDensity" in stated else "densities"
    own = stated.get(name, {})
    if name == "commonDensity":
        own = dict.fromkeys(tensors, own)
    try:
        if not isinstance(own, Mapping):
            raise refuse(where, f"densities is {quoted(own)}; allowed: densities by tensor")
        return tuple((each, _density(own[each], f"{where}: {name}.{each}")) for each in own)
    except InputError as error:
        return str(error)


def density_fields(densities: Iterable[tuple[str, Density]]) -> dict[str, dict[str, Any]]:
    """Densities as a problem states them, by tensor."""
    return {
        tensor: {"distribution": "banded", "band_width": own.width}
        if isinstance(own, Banded)
        else {
            "distribution": "hypergeometric" if own.uniform else "fixed_structured",
            "density": own.share,
        }
        for tensor, own in densities
    }


def _density(own: Any, at: str) -> Density:
    own = own if isinstance(own, dict) else {"density": own}
    kind = str(own.get("distribution", "fixed")).replace("-", "_")
    if kind not in DISTRIBUTIONS:
        raise refuse(at, f"distribution is {quoted(kind)}{among(kind, DISTRIBUTIONS)}")
    if kind == "banded":
        width = own.get("band_width", 0)
        if isinstance(width, bool) or not isinstance(width, int) or width < 0:
            raise refuse(at, f"band_width is {quoted(width)}; allowed: a whole number from 0 on")
        return Banded(1.0, width=width)
    share = own.get("density")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise refuse(at, f"density is {quoted(share)}; allowed: a number from 0 to 1")
    return Density(float(share), DISTRIBUTIONS[kind] == "uniform")
