"""Colours of pages and charts can be told apart and read upon."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from ithaca.exports.charts.page import STYLE
from ithaca.exports.charts.palette import (
    HEAT,
    LEAST_CONTRAST,
    ROLES,
    SERIES,
    contrast,
    heat,
    ink,
    luminance,
)


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(
        4.48, abs=0.005
    )  # the known grey that just fails


@pytest.mark.parametrize("most", [False, True])
def test_cells_can_be_read_on_every_colour_and_the_best_is_dark(most):
    fills = [heat(at / len(HEAT), most) for at in range(len(HEAT))]
    assert len(set(fills)) == len(HEAT) > 40
    assert all(contrast(fill, ink(fill)) >= LEAST_CONTRAST for fill in fills)
    # and without colour: lightness grows from the best to the worst
    from_best = reversed(fills) if most else fills
    assert all(luminance(a) < luminance(b) for a, b in pairwise(from_best))


def test_text_contrasts_in_both_schemes():
    import ithaca.exports.report as package

    style = STYLE + (Path(next(iter(package.__path__))) / "style.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{([^}]*--[^}]*)\}", style)
    assert len(blocks) == 4
    light, dark = (
        {
            k: v
            for part in blocks[at::2]
            for k, v in re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", part)
        }
        for at in (0, 1)
    )
    assert {role: light[role] for role in ROLES} == ROLES  # pictures are like pages by day
    for colours in (light, light | dark):
        for text, grounds in {
            "ink": ("ground", "sheet", "pe", "dram", "open-ground", "good-ground", "bad-ground"),
            "soft": ("ground", "sheet"),
            "link": ("ground", "sheet"),
            "good": ("good-ground",),
            "open": ("open-ground",),
            "bad": ("bad-ground",),
            "answer": ("sheet",),
        }.items():
            for ground in grounds:
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        assert all(contrast(colours["ink"], colours[f"g{n}-ground"]) >= 4.5 for n in range(6))
        assert all(
            contrast(colour, colours[ground]) >= 3
            for colour in SERIES[1:]
            for ground in ("sheet", "ground")
        )
        for shape in ("main", "answer", "limit", "g0", "g1", "g2", "g3", "g4", "g5"):
            assert contrast(colours[shape], colours["sheet"]) >= 3, shape
