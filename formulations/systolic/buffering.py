"""Double buffering as a choice: each tensor that is read, and sums that buffers add up, may have
one buffer instead of two.

A doubled buffer is filled while PEs read its other half; a single one is filled and read in turn,
and takes half the block RAM. Drains are always single. As AutoSA's, the choice is one of a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.words import parse_loops
from ithaca.formulations.systolic.systolic_array import (
    SERIALIZED,
    Edition,
    IOGroup,
    SystolicArray,
)

#: Words for tensors whose buffers are doubled: all, none, or as the search finds best.
ALL, NONE, FREE = "all", "none", "free"


def choosable(array: SystolicArray) -> tuple[str, ...]:
    """The tensors whose buffers an array may or may not double."""
    return tuple(group.tensor for group in array.packed_groups if group.may_double)


def single_buffered(array: SystolicArray, tensors: Sequence[str]) -> SystolicArray:
    """An array with single buffers of some tensors, and doubled ones of all others that may be."""

    def buffered(group: IOGroup) -> IOGroup:
        if not group.may_double or group.double_buffered is (group.tensor not in tensors):
            return group
        return replace(group, double_buffered=not group.double_buffered)

    return replace(array, groups=tuple(map(buffered, array.groups)))


def has_cycles(array: SystolicArray) -> bool:
    """Whether an array has a closed form of cycles: with single buffers, where the host lays data
    out, in one level of tiles, for one memory port of each tensor."""
    return array.dram == SERIALIZED or not array.single


def variants(array: SystolicArray, words: str) -> tuple[SystolicArray, ...]:
    """An array with the buffers that words ask for: one, or for `FREE` one of each choice."""
    if words == ALL:
        return (array,)
    tensors = choosable(array)
    if words != FREE:
        named = () if words == NONE else words.split(",")
        return (single_buffered(array, [x for x in tensors if x not in named]),)
    choices = product((False, True), repeat=len(tensors))
    return tuple(
        single_buffered(array, [x for x, single in zip(tensors, own, strict=True) if single])
        for own in choices
    )


def buffered_arrays(
    arrays: Sequence[SystolicArray], words: str, option: str = "--double-buffer"
) -> tuple[SystolicArray, ...]:
    """Arrays with the buffers that words ask for.

    Parameters
    ----------
    arrays : sequence of SystolicArray
        Arrays of one edition, whose buffers are doubled.
    words : str
        `ALL`, `NONE`, `FREE`, or names between commas.
    option : str, optional
        Where they stand, for messages.

    Raises
    ------
    InputError
        If they do not go with how data lie in DRAM, or name a tensor whose buffers no array could
        double.
    """
    if words != ALL and arrays[0].edition is Edition.CYCLE and arrays[0].dram != SERIALIZED:
        raise InputError(
            f"{option} {words} does not go with --ports, --no-host-serialize, --two-level; "
            "allowed: without them, or --edition exact"
        )
    if words not in (ALL, NONE, FREE):
        known = dict.fromkeys(x for array in arrays for x in choosable(array))
        for name in words.split(","):
            if name not in known:
                raise InputError(
                    f"{option} names {quoted(name)}, of which no design has buffers to double; "
                    f"allowed: {', '.join((ALL, NONE, FREE, *known))}"
                )
    return tuple(own for array in arrays for own in variants(array, words))


def stated_buffers(array: SystolicArray, text: str, field: str) -> SystolicArray:
    """An array with the buffers that a field of a document states.

    Parameters
    ----------
    array : SystolicArray
        The array, whose buffers are doubled.
    text : str
        The words, which leave no choice; empty: all are.
    field : str
        The field.

    Raises
    ------
    InputError
        If they are none of the array.
    """
    words = parse_double_buffer(text or None, field)
    if words == FREE:
        raise InputError(f"{field} is {words}; allowed: {ALL}, {NONE}, or names of tensors")
    (own,) = buffered_arrays((array,), words, field)
    return own


def parse_double_buffer(text: str | Sequence[str] | None, option: str = "--double-buffer") -> str:
    """The words for tensors whose buffers are doubled.

    Parameters
    ----------
    text : str or sequence of str, optional
        What a user states: `ALL`, `NONE`, `FREE`, or names of tensors; None: all.
    option : str, optional
        Where it stands, for messages.

    Returns
    -------
    str
        One of the words, or names between commas.

    Raises
    ------
    InputError
        If it says two things.
    """
    names = parse_loops(text, option) or (ALL,)
    words = ",".join(dict.fromkeys(names))
    for word in (ALL, NONE, FREE):
        if word in names and len(names) > 1:
            raise InputError(f"{option} is {quoted(words)}; allowed: {word} alone, or names")
    return words


def doubled_words(array: SystolicArray) -> str:
    """The tensors whose buffers are doubled, in words: `ALL`, `NONE` or names."""
    if not array.single:
        return ALL
    return ",".join(x for x in choosable(array) if x not in array.single) or NONE
