"""How many words of a tensor's tiles are not zero, in doubles, as Timeloop's density models have it
(`src/workload/density-models`).

Tiles are told apart by their words alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil, exp, floor, lgamma, prod
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse

#: Factors that are multiplied one by one; of more, logarithms are added.
_FACTORS = 256

#: Probabilities below this are taken for zero, where there are many.
_LEAST = 1e-18

#: Names of distributions in files, by what they are.
DISTRIBUTIONS: Mapping[str, str] = {
    "fixed": "fixed",
    "fixed_structured": "fixed",
    "hypergeometric": "uniform",
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
    words: int = 1
    """Words of the tensor."""

    @property
    def held(self) -> int:
        """Words that are not zero, of a uniform density."""
        return ceil(self.share * self.words)

    def most(self, tile: int) -> int:
        """The most that a tile may hold."""
        return min(tile, self.held) if self.uniform else ceil(tile * self.share)

    def mean(self, tile: int) -> float:
        """The average number of nonzeros in a tile."""
        return tile * self.held / self.words if self.uniform else tile * self.share

    def empty(self, tile: int, around: tuple[int, int] | None = None) -> float:
        """The probability that a tile holds none; ``around``: given the words of one around it, and
        what that holds."""
        if self.uniform:
            return none_of(tile, *(around or (self.words, self.held)))
        exact = tile * (around[1] / around[0] if around else self.share)
        return 1 - exact if exact < 1 else 0.0

    def occupancies(self, tile: int) -> Iterator[tuple[int, float]]:
        """The possible numbers of nonzeros in a tile, with their probabilities."""
        if not self.uniform:
            exact = tile * self.share
            low = floor(exact)
            yield from ((n, p) for n, p in ((low, 1 - (exact - low)), (low + 1, exact - low)) if p)
            return
        held, of = self.held, self.words
        least, most = max(0, tile + held - of), min(tile, held)
        middle = min(max((tile + 1) * (held + 1) // (of + 2), least), most)
        chances = {middle: 1.0}
        for step, end in ((1, most), (-1, least)):
            here, p = middle, 1.0
            while here != end and p > _LEAST:
                low = min(here, here + step)
                up = (held - low) * (tile - low) / ((low + 1) * (of - held - tile + low + 1))
                p, here = p * up if step == 1 else p / up, here + step
                chances[here] = p
        whole = sum(sorted(chances.values()))
        yield from ((n, chances[n] / whole) for n in sorted(chances))


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
        return tuple((each, _density(own[each], f"{where}: {name}.{each}")) for each in own)
    except InputError as error:
        return str(error)


def density_fields(densities: Iterable[tuple[str, Density]]) -> dict[str, dict[str, Any]]:
    """Densities as a problem states them, by tensor."""
    return {
        tensor: {
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
    share = own.get("density")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise refuse(at, f"density is {quoted(share)}; allowed: a number from 0 to 1")
    return Density(float(share), DISTRIBUTIONS[kind] == "uniform")
