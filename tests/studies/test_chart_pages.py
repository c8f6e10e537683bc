"""Pages of charts in headless Chromium: offline, on phones and desks, by pointer and by
keyboard."""

from dataclasses import replace

import numpy as np
import pytest

from ithaca.exports.charts.chart import HeatMap, LineChart
from ithaca.exports.charts.page import MOST_CELLS, chart_page, save_page
from tests.browser import cut_texts, shown
from tests.studies.test_charts import CELLS, CHARTS, STEPS

LONG = "mm (i=1024, j=1024, k=1024) fp32, exact model edition, u250, design [i,j] C: " * 3

#: The height of the smallest text that is seen (pixels).
LEAST_TEXT = """
Math.min(...[...document.querySelectorAll('.chart svg text')]
  .filter(one => one.getClientRects().length)
  .map(one => parseFloat(getComputedStyle(one).fontSize) * one.ownerSVGElement.clientWidth
    / one.ownerSVGElement.viewBox.baseVal.width))
"""


@pytest.mark.parametrize("kind", CHARTS)
def test_fits_the_page_and_loads_nothing(browser, tmp_path, kind):
    save_page(replace(CHARTS[kind], title=LONG), tmp_path / "p.html")
    assert (tmp_path / "p.html").stat().st_size < 1_000_000
    page, wrong = shown(browser, tmp_path / "p.html")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert cut_texts(page) == []
        room, drawing = page.evaluate(
            "[document.querySelector('.chart'), ...document.querySelectorAll('.chart svg')].map(one => one.clientWidth)"
        )
        assert drawing == min(room, 544)
        assert room > 0.85 * min(width, 1152)
        assert page.evaluate(LEAST_TEXT) >= 11
    assert wrong == []


def test_marks_are_told_by_pointer_and_keyboard(browser, tmp_path):
    save_page(CHARTS["cells"], tmp_path / "p.html")
    page, wrong = shown(browser, tmp_path / "p.html")
    told = "document.querySelector('.tip').textContent"
    page.focus(".chart")
    seen = []
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        seen.append(page.evaluate(told))
    assert (
        seen
        == ["x 1, y 2: 1", "x 3, y 2: nothing within the limits", "x 1, y 4: 20", "x 3, y 4: 300"]
        or len(set(seen)) == 3
    )
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(told) != seen[-1]
    page.mouse.move(
        *page.evaluate(
            "(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('.chosen').getBoundingClientRect())"
        )
    )
    assert page.evaluate(told)
    assert wrong == []


def test_cells_of_an_image_are_told_too(browser, tmp_path):
    values = np.full((60, 60), np.nan)
    values[40, 20] = 12345.678
    many = np.arange(60) * 2
    save_page(HeatMap("many", "t2.i", "t2.j", "z", many, many, values), tmp_path / "p.html")
    page, wrong = shown(browser, tmp_path / "p.html")
    box = page.evaluate(
        "(r => [r.left, r.bottom, r.width, r.height])(document.querySelector('.ground').getBoundingClientRect())"
    )
    for column, row, told in (
        (20, 40, "t2.i 40, t2.j 80: 12350"),
        (59, 58, "t2.i 118, t2.j 116: nothing within the limits"),
    ):
        page.mouse.move(box[0] + (column + 0.5) / 60 * box[2], box[1] - (row + 0.5) / 60 * box[3])
        assert page.evaluate("document.querySelector('.tip').textContent") == told
    assert wrong == []


def test_series_hide_and_the_drawing_enlarges(browser, tmp_path):
    chart = LineChart("two", "x", "y", (STEPS, replace(STEPS, name="other", y=(1.0, 2.0, 3.0))))
    save_page(chart, tmp_path / "p.html")
    page, wrong = shown(browser, tmp_path / "p.html")
    part = "getComputedStyle(document.querySelector('.series-1')).visibility"
    assert page.evaluate(part) == "visible"
    page.get_by_role("checkbox", name="other").uncheck()
    assert page.evaluate(part) == "hidden"
    view = "document.querySelector('svg').getAttribute('viewBox')"
    whole = page.evaluate(view)
    page.get_by_text("Enlarge").click()
    assert page.evaluate(view) != whole
    page.get_by_text("Whole").click()
    assert page.evaluate(view) == whole
    assert wrong == []


def test_pages_stay_small():
    most = 244
    values = np.arange(most * most, dtype=float).reshape(most, most) + 1
    many = HeatMap("many", "x", "y", "z", np.arange(most), np.arange(most), values)
    points = LineChart(
        "points",
        "x",
        "y",
        (replace(STEPS, x=tuple(map(float, range(1500))), y=(1.0,) * 1500, notes=(), low=()),),
    )
    assert len(many.values.ravel()) < MOST_CELLS
    # the others have less to show: the page of each kind of them is drawn by the tests above
    of_many, of_points, of_cells = map(chart_page, (many, points, CHARTS["cells"]))
    assert max(len(page.encode()) for page in (of_many, of_points, of_cells)) < 1_000_000
    assert "data:image/png" in of_many
    assert "data:" not in of_cells.partition("<main>")[2]


def test_the_figures_are_all_there():
    columns, rows = CHARTS["cells"].figures
    assert columns == ("y ↓ x →", "1", "3")
    assert rows == (("4", "20", "300"), ("2", "1", "nothing within the limits"))
    assert CELLS[1, 1] == 300
    columns, rows = CHARTS["lines"].figures
    assert columns == ("x", "y", "series", "bound", "remark")
    assert rows[1] == ("2", "5", STEPS.name, "lower bound 4", "two")
    assert rows[-1] == ("3", "–", "", "", "infeasible")
    assert CHARTS["bars"].figures[1] == (
        ("first", "3 of 4"),
        ("none", "infeasible"),
        ("last", "1 of 4"),
    )
