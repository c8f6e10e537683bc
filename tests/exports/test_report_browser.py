"""The report in headless Chromium: offline, at two widths, in two colour schemes, by keyboard and in print."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ithaca

playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
if CHROMIUM is None:
    pytest.skip("needs Chromium", allow_module_level=True)

FOCUSABLE = "document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    file, page = folder / "r.json", folder / "r.html"
    assert ithaca("solve", "mm", "-s", "i=256,j=200,k=128", "-o", file).returncode == 0
    assert ithaca("report", file, "-o", page, "--quick").returncode == 0
    return page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def shown(browser: Any, report: Path, width: int = 1280, scheme: str = "light") -> tuple[Any, list[str]]:
    """The page, and everything that went wrong."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True)
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda request: wrong.append(request.url))
    page.on("request", lambda request: None if request.url == report.as_uri() else wrong.append(request.url))
    page.goto(report.as_uri())
    return page, wrong


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_shown_without_errors_or_overflow(browser: Any, report: Path, width: int, scheme: str) -> None:
    page, wrong = shown(browser, report, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # the style sheet was let in by the content security policy, and follows the scheme
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(246, 247, 249)", "dark": "rgb(17, 22, 27)"}[scheme]
    assert wrong == []


def test_no_text_of_a_drawing_is_cut(browser: Any, report: Path) -> None:
    page, _ = shown(browser, report)
    outside = page.evaluate(
        """[...document.querySelectorAll('svg text')].filter(text => {
            const [inner, outer] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
            return inner.left < outer.left - 1 || inner.right > outer.right + 1
                || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
        }).map(text => text.textContent)"""
    )
    assert outside == []


def test_everything_is_reached_by_keyboard_in_order(browser: Any, report: Path) -> None:
    page, _ = shown(browser, report)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    count = page.evaluate(f"{FOCUSABLE}.length")
    assert count > 15
    reached = []
    for _ in range(count):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(f"[...{FOCUSABLE}].indexOf(document.activeElement)"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert reached == list(range(count))


def test_the_skip_link_leads_to_the_answer(browser: Any, report: Path) -> None:
    page, _ = shown(browser, report)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_details_open_by_keyboard(browser: Any, report: Path) -> None:
    page, _ = shown(browser, report)
    page.evaluate("document.querySelector('summary').focus()")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('details').open")


def test_print(browser: Any, report: Path) -> None:
    page, wrong = shown(browser, report, scheme="dark")
    content = page.pdf(format="A4")
    assert content.startswith(b"%PDF")
    assert 3 <= content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") <= 12
    assert b"/ToUnicode" in content  # text, not pictures of it
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.set_viewport_size({"width": 690, "height": 980})  # A4 within the margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 690
    assert wrong == []
