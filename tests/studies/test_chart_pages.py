"""Pages of charts in headless Chromium: offline, on phones and desks, by pointer and by
keyboard."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from ithaca.exports.charts.chart import HeatMap, LineChart
from ithaca.exports.charts.files import save_plot
from ithaca.exports.charts.page import chart_page
from tests.browser import cut_texts, shown
from tests.studies.test_charts import CELLS, CHARTS, STEPS

LONG = "mm (i=1024, j=1024, k=1024) fp32, exact model edition, u250, design [i,j] C: " * 3

#: The height of the smallest text that is seen (pixels).
LEAST_TEXT = """
Math.min(...[...document.querySelectorAll('.plot svg text')]
  .filter(one => one.getClientRects().length && one.getAttribute('opacity') !== '0')
  .map(one => parseFloat(getComputedStyle(one).fontSize)))
"""

#: How much of the marks with a name is seen (from 0 to 1).
SEEN = """name => Math.max(...[...document.querySelectorAll('.plot .role-mark [aria-label]')]
  .filter(one => one.getAttribute('aria-label').startsWith(name))
  .map(one => Number(getComputedStyle(one).opacity)))"""


def until(page, condition, *arguments):
    """Wait for what the page does a little later."""
    for _ in range(200):
        if page.evaluate(condition, *arguments):
            return
        page.wait_for_timeout(25)
    raise AssertionError(condition)


def drawn(browser, chart, folder, width=1280, scheme="light"):
    """A page of a chart once it is drawn, and everything that went wrong."""
    save_plot(chart, folder / "p.html")
    page, wrong = shown(browser, folder / "p.html", width, scheme)
    page.wait_for_selector(".plot svg")
    return page, wrong


@pytest.mark.parametrize("kind", CHARTS)
def test_fits_the_page_and_loads_nothing(browser, tmp_path, kind):
    for width in (1280, 390):
        page, wrong = drawn(browser, replace(CHARTS[kind], title=LONG), tmp_path, width)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert cut_texts(page) == []
        room, drawing = page.evaluate(
            "['.plot', '.plot svg'].map(one => document.querySelector(one).getBoundingClientRect().width)"
        )
        assert drawing == pytest.approx(room, abs=2)
        assert room >= min(0.9 * width, 800) - 10
        assert page.evaluate(LEAST_TEXT) >= (11 if kind != "cells" else 10)
        assert wrong == []


def test_marks_are_told_by_pointer_and_keyboard(browser, tmp_path):
    page, wrong = drawn(browser, CHARTS["cells"], tmp_path)
    told = "document.querySelector('.tip').textContent"
    page.focus(".plot")
    seen = []
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        seen.append(page.evaluate(told))
    assert sorted(seen) == [
        "x 1, y 2: 1", "x 1, y 4: 20", "x 3, y 2: nothing within the limits", "x 3, y 4: 300",
    ]  # fmt: skip
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(told) == seen[-2]
    page.mouse.move(
        *page.evaluate(
            "(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('.chosen').getBoundingClientRect())"
        )
    )
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert page.inner_text("#vg-tooltip-element") == seen[-2]
    assert wrong == []


def test_names_below_choose_series_and_the_wheel_enlarges(browser, tmp_path):
    chart = LineChart("two", "x", "y", (STEPS, replace(STEPS, name="other", y=(1.0, 2.0, 3.0))))
    page, wrong = drawn(browser, chart, tmp_path)
    assert page.evaluate(SEEN, "other") == page.evaluate(SEEN, STEPS.name) == 1
    page.locator(".role-legend-label text", has_text="other").click(force=True)
    until(page, f"name => ({SEEN})(name) < 0.2", STEPS.name)
    assert page.evaluate(SEEN, "other") == 1
    ticks = "[...document.querySelectorAll('.plot .role-axis-label text')].map(one => one.textContent).sort().join()"
    whole = page.evaluate(ticks)
    page.mouse.move(400, 250)
    page.mouse.wheel(0, -400)
    assert page.evaluate(ticks) == whole  # the page scrolls
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Shift")
    until(page, f"{ticks} !== {json.dumps(whole)}")
    page.mouse.dblclick(400, 250)
    until(page, f"{ticks} === {json.dumps(whole)}")
    assert wrong == []


def test_names_below_are_chosen_by_keyboard(browser, tmp_path):
    chart = LineChart("two", "x", "y", (STEPS, replace(STEPS, name="other", y=(1.0, 2.0, 3.0))))
    page, wrong = drawn(browser, chart, tmp_path)
    until(page, "() => document.querySelectorAll('.role-legend-label text[tabindex]').length === 2")
    page.focus(".plot")
    focused = "document.activeElement.textContent"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "other"
    page.keyboard.press("Enter")
    until(page, f"name => ({SEEN})(name) < 0.2", STEPS.name)
    assert page.evaluate(SEEN, "other") == 1
    assert page.evaluate(focused) == "other"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Enter")
    until(page, f"name => ({SEEN})(name) === 1", STEPS.name)
    assert page.evaluate("document.querySelector('.tip').textContent") == ""
    assert wrong == []


def test_in_the_dark_and_in_print_words_contrast_with_the_ground(browser, tmp_path):
    page, wrong = drawn(browser, CHARTS["bars"], tmp_path, scheme="dark")
    ink = "getComputedStyle(document.querySelector('.plot .role-axis-title text')).fill"
    assert page.evaluate(ink) == "rgb(232, 237, 242)"
    page.emulate_media(media="print")
    assert page.evaluate(ink) == "rgb(23, 32, 42)"
    assert wrong == []


def test_tables_of_figures_sort_and_filter(browser, tmp_path):
    series = replace(
        STEPS, x=tuple(map(float, range(20))), y=tuple(float(n * 7 % 20) for n in range(20)),
        low=(), notes=(),
    )  # fmt: skip
    chart = LineChart("many", "x", "y", (series,), missing=((21.0, "infeasible"),))
    page, wrong = drawn(browser, chart, tmp_path)
    page.get_by_text("The figures").click()
    column = "[...document.querySelectorAll('tbody tr')].filter(one => !one.hidden).map(one => one.cells[1].textContent)"
    first = page.evaluate(column)
    page.get_by_role("button", name="y", exact=True).press("Enter")
    up = page.evaluate(column)
    assert up == [*sorted(first[:-1], key=int), "–"]
    page.get_by_role("button", name="y", exact=True).press("Enter")
    assert page.evaluate(column) == [*up[-2::-1], "–"]  # nothing is no number: it stays last
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "descending"
    page.get_by_role("searchbox").fill("INFEAS")
    assert page.evaluate(column) == ["–"]
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
    pages = [*map(chart_page, (many, points, CHARTS["cells"]))]
    least = len(pages[-1].encode())
    assert least < 1_000_000
    assert max(len(page.encode()) for page in pages) < least + 600_000


def test_a_page_runs_its_own_scripts_alone():
    page = chart_page(CHARTS["lines"])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 1 + page.count("<script>")


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
