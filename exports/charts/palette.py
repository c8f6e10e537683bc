"""Colours of charts: one meaning each, and all told apart from what they stand on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

#: Colours by role. In a page they are its style sheet's (`chart.css`), which may be others in the
#: dark.
ROLES = {
    "ink": "#17202a",
    "soft": "#4a5765",
    "rule": "#d5dbe1",
    "main": "#3f7cac",
    "rest": "#cfdfec",  # what of a bar is not put to use
    "answer": "#b3541e",  # what is best
    "limit": "#8e3b80",  # what nothing can go beyond, and what makes it so
    "hatch": "#b9c1c9",
    "hatch-ground": "#f1f3f5",
}

#: Colours of series: each contrasts 3 : 1 with the grounds of pages by day and in the dark.
SERIES = (
    ROLES["main"],
    "#c14953",
    "#2e8b57",
    "#9b59b6",
    "#a67c00",
    "#17889b",
    "#d0508f",
    "#7f7f7f",
    "#95694a",
    "#6b8e23",
)

#: Least contrast of the text in a cell with its colour (WCAG 2 asks for 4.5): colours between dark
#: and light are left out.
LEAST_CONTRAST = 5.5

#: So few colours that a key of them is no picture of its own in SVG.
_HEAT_COLOURS = 48


@cache
def heat(most: bool = False) -> Any:
    """The colours of a quantity, dark where it is best: at the least, unless the most is the
    best."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    fills = colormaps["viridis"](np.linspace(0, 1, 64), bytes=True) / 255
    legible = [
        fill
        for fill in fills
        if contrast(fill, (1, 1, 1)) >= LEAST_CONTRAST
        or contrast(fill, (0, 0, 0)) >= LEAST_CONTRAST
    ]
    colours = ListedColormap(legible).resampled(_HEAT_COLOURS)
    return colours.reversed() if most else colours


def ink(colour: Sequence[float]) -> str:
    """Black or white, whichever contrasts more with a colour."""
    return "#ffffff" if contrast(colour, (1, 1, 1)) >= contrast(colour, (0, 0, 0)) else "#000000"


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """Contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Sequence[float]) -> float:
    """Relative luminance of red, green and blue as WCAG 2 defines it, from 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))
