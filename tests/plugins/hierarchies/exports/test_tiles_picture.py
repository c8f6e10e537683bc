"""The picture of tiles on the guide's page of uneven mappings is what ``ithaca report`` draws.

``UPDATE_TILES=1 pytest tests/plugins/hierarchies/exports/test_tiles_picture.py`` draws it anew.
"""

import json
import os
import re

from tests.command_line import succeed
from tests.test_readme import ROOT, standalone

PAGE, PICTURE = ROOT / "docs" / "uneven-mappings.md", ROOT / "docs" / "tiles.svg"


def test_the_picture_is_what_report_draws_and_squares_are_words(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r'title="arch.yaml"\n(.*?)```', page, re.DOTALL)
    arch, result, report = (tmp_path / name for name in ("small.yaml", "r.json", "r.html"))
    arch.write_text(found[1])
    arguments = ("mm", "-s", "i=64,j=64,k=64", "--arch", arch, "--divisors-only")
    succeed("map", *arguments, "--edition", "uneven", "--objective", "energy", "-o", result)
    succeed("report", result, "-o", report)
    drawn = standalone(report.read_text(encoding="utf-8"), "tiles-broad")
    if os.environ.get("UPDATE_TILES"):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn
    assert f"]({PICTURE.name})" in page
    metrics = json.loads(result.read_text())["best"]["metrics"]
    squares = re.findall(r'width="([\d.]+)" height="\1"[^>]*><title>(\w+) ([\d,]+)<', drawn)
    whole = float(squares[0][0]) ** 2 / int(squares[0][2].replace(",", ""))
    assert len(squares) == 9
    for number, (side, level, words) in enumerate(squares):
        held = metrics[f"{level}.{'ABC'[number // 3]}.capacity"]
        assert int(words.replace(",", "")) == held
        assert abs(float(side) ** 2 - whole * held) <= 0.02 * float(side)
