"""A problem that could not be solved because something broke."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A problem without an answer, not even that there is none.

    Attributes
    ----------
    place : str
        What was to be solved, such as layer and design.
    reason : str
        What went wrong, in one line.
    refused : bool
        Whether the engine refused the problem, so that it would fail everywhere.
    """

    place: str
    reason: str
    refused: bool = False
