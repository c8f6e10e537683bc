"""The report in headless Chromium: offline, at two widths, in two colour schemes, by keyboard and
in print."""

import pytest

from tests.browser import cut_texts, shown
from tests.command_line import succeed
from tests.studies.network.tiny import tiny_file

FOCUSABLE = (
    "document.querySelectorAll('a[href], summary, button, input, [tabindex=\"0\"], pre.scroll')"
)


def drawn(browser, report, width=1280, scheme="light"):
    """The page once its charts are drawn, and everything that went wrong."""
    page, wrong = shown(browser, report, width, scheme)
    page.wait_for_selector("#landscape .plot svg")
    return page, wrong


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    file, page = folder / "r.json", folder / "r.html"
    succeed("solve", "mm", "-s", "i=256,j=200,k=128", "-o", file)
    succeed("report", file, "-o", page, "--quick")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_shown_without_errors_or_overflow(browser, report, width, scheme):
    page, wrong = drawn(browser, report, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # the style sheet was let in by the content security policy, and follows the scheme
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(246, 247, 249)", "dark": "rgb(17, 22, 27)"}[scheme]
    assert wrong == []


@pytest.mark.parametrize("width", [390, 700, 1280])
def test_no_text_of_a_drawing_is_cut(browser, report, width):
    page, _ = drawn(browser, report, width)
    assert cut_texts(page) == []
    # one drawing of each, as wide as its card, as words are large enough; charts are wider only
    # in sections as wide as the page
    widths = page.evaluate(
        """[...document.querySelectorAll('.chart')].map(chart => [chart.getBoundingClientRect().width,
            chart.querySelector('.plot') === null, chart.closest('.wide > figure') !== null,
            [...chart.querySelectorAll('svg')].map(svg => svg.getBoundingClientRect().width)])"""
    )
    assert len(widths) > 5
    for room, drawing, wide, drawings in widths:
        whole = width > 704 if drawing else wide and width >= 1280
        most = room if whole else 480 if drawing else 640
        assert [drawn for drawn in drawings if drawn] == pytest.approx([min(room, most)], abs=2)


@pytest.mark.parametrize(("kind", "least"), [(".plot svg", 11), ("svg.narrow", 9)])
def test_words_in_charts_are_large_enough_on_phones(browser, report, kind, least):
    page, _ = drawn(browser, report, 390)
    heights = page.evaluate(
        """kind => [...document.querySelectorAll(`figure ${kind}`)].filter(svg => svg.clientWidth).map(svg => {
            const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            const texts = [...svg.querySelectorAll('text:not(.role-mark text)')].filter(text => text.getBoundingClientRect().width);
            return Math.min(...texts.map(t => parseFloat(getComputedStyle(t).fontSize) * scale));
        })""",
        kind,
    )
    assert len(heights) >= (5 if least == 11 else 1)
    assert min(heights) >= least


def test_everything_is_reached_by_keyboard_in_order(browser, report):
    page, _ = shown(browser, report)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    count = page.evaluate(f"{FOCUSABLE}.length")
    assert count > 10
    reached = []
    for _ in range(count):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(f"[...{FOCUSABLE}].indexOf(document.activeElement)"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert reached == list(range(count))


def test_the_skip_link_leads_to_the_answer(browser, report):
    page, _ = shown(browser, report)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_print(browser, report):
    page, wrong = drawn(browser, report, scheme="dark")
    content = page.pdf(format="A4")
    assert content.startswith(b"%PDF")
    assert 3 <= content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") <= 12
    assert b"/ToUnicode" in content  # text, not pictures of it
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.set_viewport_size({"width": 690, "height": 980})  # A4 within the margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 690
    assert wrong == []


@pytest.mark.ci
@pytest.mark.parametrize("width", [800, 1280])
def test_a_study_of_boards_prints_on_one_page(browser, tmp_path, width):
    file, page = tmp_path / "r.json", tmp_path / "r.html"
    boards, prices = "platform=u250,u280,u55c,zcu102", "u250=9000,zcu102=3000"
    vary = ("--vary", boards, "--price", prices)
    network = tiny_file(tmp_path)
    succeed("whatif", network, "--divisors-only", "--layers", "wide", *vary, "-o", file)
    succeed("report", file, "-o", page)
    opened, _ = shown(browser, page, width)
    opened.wait_for_selector(".plot svg")
    for paper in ("A4", "Letter"):
        content = opened.pdf(format=paper)
        assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") == 1


def test_the_summary_is_the_first_page_in_print_and_says_what_binds(browser, report):
    page, _ = drawn(browser, report)
    page.set_viewport_size({"width": 690, "height": 980})  # A4 within the margins
    page.emulate_media(media="print")
    bottom = page.evaluate("document.querySelector('.headline').getBoundingClientRect().bottom")
    assert bottom < 980
    bottom = page.evaluate("document.querySelector('#answer').getBoundingClientRect().bottom")
    assert bottom < 980
    assert page.inner_text(".headline .binding").startswith("Binding: ")


@pytest.mark.parametrize(
    ("width", "columns", "beside"), [(1280, 2, True), (1100, 1, True), (800, 1, False)]
)
def test_contents_stand_beside_where_there_is_room_and_sections_in_columns(
    browser, report, width, columns, beside
):
    page, _ = drawn(browser, report, width)
    lefts = page.evaluate(
        "[...document.querySelectorAll('main > section')].map(one => Math.round(one.getBoundingClientRect().left))"
    )
    assert len({*lefts}) == columns
    right = page.evaluate("document.querySelector('nav').getBoundingClientRect().right")
    assert (right <= min(lefts)) is beside
