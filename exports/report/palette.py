"""Colours of heat maps: from deep (least) to pale (most), with ink that can be read on each."""

from __future__ import annotations

from bisect import bisect_right

#: Level and colour (sRGB); lightness rises evenly.
STOPS = (
    (0.0, (16, 52, 92)),
    (0.25, (24, 106, 135)),
    (0.5, (62, 160, 150)),
    (0.75, (160, 208, 160)),
    (1.0, (246, 240, 205)),
)


def colour(level: float) -> str:
    """The colour of a level from 0 to 1, as ``#rrggbb``."""
    at = min(max(level, 0.0), 1.0)
    upper = min(bisect_right([stop for stop, _ in STOPS], at), len(STOPS) - 1)
    (low, first), (high, second) = STOPS[upper - 1], STOPS[upper]
    part = (at - low) / (high - low)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(first, second, strict=True))


def ink(fill: str) -> str:
    """Black or white, whichever contrasts more with a colour (WCAG 2 contrast)."""
    light = luminance(fill)
    return "#ffffff" if 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 else "#000000"


def luminance(fill: str) -> float:
    """Relative luminance of ``#rrggbb`` as WCAG 2 defines it, from 0 to 1."""
    channels = [int(fill[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
