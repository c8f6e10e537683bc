"""Area and power of accelerators of a space, as expressions over its quantities and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import SYMBOLIC, Expression
from ithaca.formulations.hardware.silicon import Silicon
from ithaca.formulations.platform_files import load_platform

#: What they give, with its unit.
UNITS = {"area": "mm²", "power": "W"}

#: What regressions are functions of: PEs, multipliers of each, bytes of memory private to a PE and
#: of all, words a cycle.
PARTS = ("pes", "lanes", "private_bytes", "shared_bytes", "bandwidth")


def regressions(
    stated: Any, sized: Mapping[str, Expression], read: Callable[[str, str], Expression]
) -> dict[str, Expression]:
    """Area and power by the technology that a file states.

    Parameters
    ----------
    stated : TechnologyDocument
        Name of the platform, and expressions for some of `PARTS`.
    sized : mapping of str to Expression
        The other parts, as the accelerator states them.
    read : callable
        The expression of a text, and of its place for error lines.

    Returns
    -------
    dict of str to Expression
        ``area`` (mm²) and ``power`` (W); Kwon et al., MICRO 2019.

    Raises
    ------
    InputError
        If a platform has no regressions, or a part is not known.
    """
    platform = load_platform(stated.name)
    if platform.technology.cost_tables is None:
        raise InputError(
            f"technology.name is {stated.name}, which has no cost tables; "
            "allowed: platforms that do (asic-28nm)"
        )
    parts = {}
    for part in PARTS:
        if (text := getattr(stated, part)) is not None:
            parts[part] = read(text, f"technology.{part}")
        elif part in sized:
            parts[part] = sized[part]
        else:
            raise InputError(
                f"technology.{part} is missing; allowed: it, as the accelerator does not say"
            )
    silicon = Silicon.of(SYMBOLIC, *(parts[part] for part in PARTS))
    return dict(zip(UNITS, (silicon.area, silicon.power), strict=True))
