"""Turn words, of the command line or of Python, into sizes, engines and how far to search."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.registry import Registry
from ithaca.files.words import (
    SHARES,
    TIMES,
    assignments,
    parse_choice,
    parse_integer,
    parse_number,
    several,
)

if TYPE_CHECKING:
    from ithaca.solver.options import SolveOptions
    from ithaca.workloads.nest import LoopNest


def parse_sizes(sizes: Mapping[str, object] | Sequence[str]) -> dict[str, int]:
    """Extents from words such as ``i=1024,j=512``, which may be given several times, or by name."""
    if isinstance(sizes, Mapping):
        return {str(name): parse_extent(str(name), value) for name, value in sizes.items()}
    words = assignments("--sizes", several(sizes), "i=1024,j=1024")
    return {name: parse_extent(name, value, "--sizes: ") for name, value in words}


def parse_extents(
    sizes: Mapping[str, object] | Sequence[str] | None, by_name: Mapping[str, object]
) -> dict[str, int]:
    """Extents from ``--sizes`` and from keywords."""
    own, more = parse_sizes(sizes or {}), parse_sizes(by_name)
    for name in own.keys() & more.keys():
        raise InputError(
            f"{name} is given twice, as a keyword and in --sizes; allowed: one of them"
        )
    return own | more


def parse_extent(loop: str, value: object, where: str = "") -> int:
    """An extent; whether it is in range, the nest says.

    Parameters
    ----------
    loop : str
        The name of the loop, for messages.
    value : object
        The extent or its text (iterations).
    where : str, optional
        What the message begins with.

    Raises
    ------
    InputError
        If it is no integer of at most 18 digits.
    """
    text = str(value)
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        from ithaca.workloads.nest import MAX_EXTENT

        raise InputError(
            f"{where}loop '{loop}' is {quoted(text)}; allowed: an integer from 1 to {MAX_EXTENT}"
        )
    return int(text)


def check_sizes(workload: object, nest: LoopNest, sizes: Collection[str]) -> None:
    """Ask for the sizes of a nest that comes with Ithaca; those of loops inside PEs, such as a
    filter's, may be left out.

    Parameters
    ----------
    workload : object
        What was asked for; only names of the library are looked at.
    nest : LoopNest
        Its loop nest.
    sizes : collection of str
        The loops whose extents were given.

    Raises
    ------
    InputError
        If the extent of a tiled loop was not.
    """
    from ithaca.workloads.library import workload_names

    missing = [loop for loop in nest.band if loop not in sizes]
    if missing and workload in workload_names():
        raise InputError(
            f"sizes of {', '.join(missing)} of {nest.name} are missing; allowed: --sizes "
            f"{','.join(f'{loop}=N' for loop in missing)}"
        )


def parse_method(name: object) -> str:
    """Look up an engine."""
    return parse_choice("--method", name, Registry[object]("engines"))


def parse_engines(method: object, pair: str | Sequence[str] | None) -> tuple[str, str | None]:
    """The engine to solve with; or two that prove optimality, such as ``exact,enumeration``, where
    they are passed."""
    from ithaca.solver.engines import Method, proving

    one = parse_method(method)
    if pair is None:
        return one, None
    text = pair if isinstance(pair, str) else ",".join(pair)
    names = [part.strip() for part in text.split(",")]
    # of designs that offer stages, exact search is the staged one
    same, allowed = {Method.EXACT, Method.STAGED}, {*proving(), Method.STAGED}
    if not (len(names) == len({*names}) == 2 and same != {*names} <= allowed):
        raise InputError(
            f"--prove-with is {quoted(text)}; allowed: two different "
            f"ones of exact (or staged), {', '.join(proving()[1:])}"
        )
    return names[0], names[1]


def parse_search(time_limit: object, gap: object = 0, seed: object = 0) -> SolveOptions:
    """The limits of a search, from ``--time-limit``, ``--gap`` and ``--seed``.

    Parameters
    ----------
    time_limit : object
        Seconds, or a text such as ``5m``; None: no end.
    gap : object, optional
        A share of the value, or a text such as ``1%``.
    seed : object, optional
        Fixes what chance decides.

    Raises
    ------
    InputError
        If one of them is not such a number.
    """
    from ithaca.solver.options import SolveOptions

    seconds = (
        None
        if time_limit is None
        else parse_number("--time-limit", time_limit, positive=True, units=TIMES)
    )
    share = parse_number("--gap", gap, units=SHARES)
    if share > 1:
        raise InputError(f"--gap is {quoted(str(gap))}; allowed: at most 1, or a share such as 5%")
    return SolveOptions(
        seconds,
        share,
        seed=parse_integer("--seed", seed, least=0),
    )
