"""Phases of a model: how many sequences, new positions and positions to attend to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted

#: Positions that a new one attends to, and positions of a prompt, where nothing is said.
CONTEXT, TOKENS = 2048, 512


@dataclass(frozen=True, slots=True)
class Phase:
    """A run of a model."""

    name: str
    """Such as decode, prefill."""
    batch: int
    """Sequences, or images, side by side."""
    tokens: int
    """New positions of each."""
    context: int
    """Positions of each that are attended to, new ones among them."""
    experts: str = "uniform"
    """How rows are spread over experts: uniform, skewed, or counts such as ``9,5,2``."""
    causal: int = 1
    """Blocks of new positions, each of which attends to no position after its end; one: all attend
    to all."""

    def blocks(self, window: int | None = None) -> Iterator[tuple[str, int, int]]:
        """The blocks of a sequence's new positions: what begins names, how many there are, and the
        positions that they attend to.

        Parameters
        ----------
        window : int, optional
            The positions up to its own that each attends to at most.
        """
        for number in range(self.causal):
            begin, end = (place * self.tokens // self.causal for place in (number, number + 1))
            past = self.context - self.tokens + end
            new = end - begin
            name = f"to{past}." if self.causal > 1 else ""
            yield name, new, past if window is None else min(past, window + new - 1)

    @property
    def rows(self) -> int:
        """New positions of all sequences."""
        return self.batch * self.tokens


def positions(name: str, sizes: Mapping[str, int], experts: str, prompt: int = TOKENS) -> Phase:
    """The phase of a model of sequences.

    Parameters
    ----------
    name : str
        The phase: decode, one new position a sequence, or prefill, all of a prompt.
    sizes : mapping of str to int
        Of batch, tokens, context, causal those that are asked for.
    experts : str
        How rows are spread over experts.
    prompt : int
        Positions of a prompt where nothing is said.

    Raises
    ------
    InputError
        If sizes contradict the phase or one another.
    """
    if name == "decode":
        if (tokens := sizes.get("tokens", 1)) != 1:
            raise InputError(f"tokens is {tokens} in phase decode; allowed: 1, or phase prefill")
        context = sizes.get("context", CONTEXT)
    else:
        tokens = sizes.get("tokens", prompt)
        context = sizes.get("context", tokens)
        if context < tokens:
            raise InputError(
                f"context is {context} in phase prefill; allowed: at least {tokens}, the tokens, "
                "which are among its positions"
            )
    causal = sizes.get("causal", 1)
    if causal > tokens:
        raise InputError(f"causal is {causal} in phase {name}; allowed: 1 to {tokens}, the tokens")
    return Phase(name, sizes.get("batch", 1), tokens, context, experts, causal)


def check_sizes(where: object, sizes: Mapping[str, int], allowed: Iterable[str]) -> None:
    """Refuse sizes that a model has not, and values that are no positive integers.

    Parameters
    ----------
    where : object
        The model, for error lines.
    sizes : mapping of str to int
        The sizes.
    allowed : iterable of str
        Names of sizes that it has.
    """
    names = tuple(allowed)
    for name, value in sizes.items():
        if name not in names:
            raise InputError(f"unknown size {quoted(name)} of network {where}{among(name, names)}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(
                f"size '{name}' of network {where} is {value}; allowed: a positive integer"
            )


def spread(pairs: int, experts: int, how: str) -> tuple[tuple[int, int], ...]:
    """Rows of experts, and how many experts have so many.

    Parameters
    ----------
    pairs : int
        Rows of all experts together: of each position one for every expert that it takes.
    experts : int
        How many experts there are.
    how : str
        ``uniform``: as even as can be; ``skewed``: in inverse proportion to the rank of an expert
        (Zipf), rounded by largest remainders; or rows of each, such as ``9,5,2``.

    Raises
    ------
    InputError
        If counts are none, or not as many rows as there are.
    """
    if how == "uniform":
        counts = [pairs // experts + (place < pairs % experts) for place in range(experts)]
    elif how == "skewed":
        counts = _by_rank(pairs, experts)
    else:
        counts = _stated(pairs, experts, how)
    rows = [count for count in counts if count]
    return tuple((count, rows.count(count)) for count in dict.fromkeys(rows))


def _by_rank(pairs: int, experts: int) -> list[int]:
    """Counts in inverse proportion to rank: exactly, by the least common multiple of ranks."""
    from math import lcm

    whole = lcm(*range(1, experts + 1))
    shares = [whole // rank for rank in range(1, experts + 1)]
    total = sum(shares)
    counts = [pairs * share // total for share in shares]
    left = sorted(range(experts), key=lambda each: -(pairs * shares[each] % total))
    for each in left[: pairs - sum(counts)]:
        counts[each] += 1
    return counts


def _stated(pairs: int, experts: int, how: str) -> list[int]:
    parts = how.split(",")
    if not all(part.strip().isdecimal() and len(part) < 12 for part in parts):
        raise InputError(
            f"experts is {quoted(how)}; allowed: uniform, skewed, or rows of each, such as 9,5,2"
        )
    counts = [int(part) for part in parts]
    if len(counts) > experts or sum(counts) != pairs:
        raise InputError(
            f"experts is {quoted(how)}, {sum(counts)} rows of {len(counts)} experts; allowed: "
            f"{pairs} rows, of at most {experts}"
        )
    return counts
