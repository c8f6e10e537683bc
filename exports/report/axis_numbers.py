"""Numbers in few characters, for the axes of charts."""

from __future__ import annotations


def short(value: float) -> str:
    """A number with a metric suffix, such as 640 k."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if scale <= abs(value) < 1e15:
            return f"{value / scale:.4g} {letter}"
    return f"{value:.3g}"
