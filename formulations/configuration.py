"""A configuration: one point of a design's space, as a flat mapping of quantities to integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class Configuration(Mapping[str, int]):
    """An immutable, hashable mapping of every quantity of a space to its value; comparisons leave
    their order out."""

    __slots__ = ("_hash", "_values")

    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = {name: int(value) for name, value in values.items()}
        self._hash = hash(frozenset(self._values.items()))

    def __getitem__(self, name: str) -> int:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self._values == (other._values if isinstance(other, Configuration) else other)

    def __repr__(self) -> str:
        return f"Configuration({self._values})"
