"""Colours of charts: one meaning each, and all told apart from what they stand on."""

from __future__ import annotations

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

#: Colours of quantities, dark at the least: of matplotlib's viridis, without those between dark and
#: light, on which no text contrasts by `LEAST_CONTRAST`.
_VIRIDIS = (
    "44015445065a460c5f47126547186a481d6f472777472c7b46317e453681433b834044873e49893c4d8a3a538b38578c"
    "345f8d32638d30678d2e6b8e2d6f8e1f968b1e998a1e9d881fa18720a58523a8832ab07e2fb37b35b7783bba7542be71"
    "51c46859c76464cb5d6dce5877d0528bd54695d73f9fd938aadb32b5dd2bcae01ed4e11adfe318e9e419f3e51efde724"
)
HEAT = tuple(f"#{_VIRIDIS[at : at + 6]}" for at in range(0, len(_VIRIDIS), 6))

#: Least contrast of the text in a cell with its colour (WCAG 2 asks for 4.5).
LEAST_CONTRAST = 5.5


def heat(share: float, most: bool = False) -> str:
    """The colour of a quantity at a share of its range, dark where it is best: at the least, unless
    the most is the best."""
    at = min(int(share * len(HEAT)), len(HEAT) - 1)
    return HEAT[-1 - at if most else at]


def ink(colour: str) -> str:
    """Black or white, whichever contrasts more with a colour."""
    return max("#ffffff", "#000000", key=lambda text: contrast(colour, text))


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance of red, green and blue as WCAG 2 defines it, from 0 to 1."""
    shares = [part / 255 for part in bytes.fromhex(colour[1:])]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(c * weight for c, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
