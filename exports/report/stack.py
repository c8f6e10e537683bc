"""One bar in parts that add up, with a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ithaca.exports.report.svg import CHARACTER, Drawing

WIDTH, KEY_ROW = 760, 24


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the whole.

    Attributes
    ----------
    name : str
        What it is.
    share : float
        Of the whole.
    figures : str
        Its value in words.
    """

    name: str
    share: float
    figures: str


def stacked_bar(name: str, title: str, description: str, parts: Sequence[Part]) -> Markup:
    """Draw the parts side by side, numbered, with a key below."""
    height = 62 + KEY_ROW * len(parts)
    drawing = Drawing(name, WIDTH, height, title, description)
    place = 0.0
    for index, part in enumerate(parts):
        width = part.share * WIDTH
        drawing.rect(place, 8, max(width, 1.0), 34, f"part p{index}", f"{part.name}: {part.figures}")
        if width >= 2 * CHARACTER:
            drawing.text(place + width / 2, 30, str(index + 1), f"t on-part on-p{index}", "middle")
        place += width
        row = 62 + KEY_ROW * index
        drawing.rect(0, row, 16, 16, f"part p{index}", rx=2)
        drawing.text(8, row + 12.5, str(index + 1), f"t small on-part on-p{index}", "middle")
        drawing.text(26, row + 13, part.name, "t")
        drawing.text(WIDTH, row + 13, part.figures, "t figure", "end")
    return drawing.markup()
