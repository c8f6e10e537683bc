"""Pictures of the guide: one a page at least, each used, readable on a phone, none of them cut.

What a command of a page draws is compared with it where that command runs (``test_guide.py``).
"""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.browser import cut_texts, shown

pytestmark = pytest.mark.ci

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.ipynb")])
PICTURES = sorted(DOCS.rglob("*.svg"))

#: Pages without a picture, and why.
WITHOUT = {
    "exporting-instructions": "files of other tools, one after the other",
    "glossary": "a list of words",
    "python": "a reference of functions",
    "security": "a table of files",
}

#: Largest schematic (bytes), and the widest: its text stays legible on a phone.
BYTES, WIDTH = 12_000, 420

SVG = "{http://www.w3.org/2000/svg}"


def pictures(page):
    """The pictures of a page or notebook, each with its words for those who do not see it."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    links = re.findall(r"^!\[([^\]]+)\]\(([^)]+\.svg)\)$", text, re.MULTILINE)
    return {(page.parent / link).resolve(): words for words, link in links}


def texts(picture):
    """The texts of a drawing, in order."""
    return [
        "".join(each.itertext()) for each in ElementTree.parse(picture).getroot().iter(SVG + "text")
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_pictures(page):
    assert bool(pictures(page)) is (page.stem not in WITHOUT)
    for picture, words in pictures(page).items():
        assert picture.is_file()
        assert len(words.split()) >= 5


def test_few_pages_have_none_and_no_picture_is_left_over():
    assert len(WITHOUT) <= 6
    assert WITHOUT.keys() <= {page.stem for page in PAGES}
    assert {picture for page in PAGES for picture in pictures(page)} == set(PICTURES)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_pictures_are_named_and_schematics_small(picture):
    root = ElementTree.parse(picture).getroot()
    assert root.tag == SVG + "svg"
    assert root.findtext(SVG + "title")
    text = picture.read_text(encoding="utf-8")
    assert not re.search(r"<script|<image|href=|url\((?!#)|@import", text)
    if 'id="desc"' in text:  # made by hand
        assert len(text) <= BYTES
        assert root.findtext(SVG + "desc")
        assert float(root.attrib["viewBox"].split()[2]) <= WIDTH


def test_no_text_of_a_picture_is_cut(browser, tmp_path):
    sheet = tmp_path / "sheet.html"
    sheet.write_text("".join(each.read_text(encoding="utf-8") for each in PICTURES))
    page, _ = shown(browser, sheet)
    assert page.locator("svg").count() == len(PICTURES)
    assert cut_texts(page) == []


def figures(text):
    """The numbers of a text that have four digits or more, or a decimal point."""
    return {each.replace(",", "") for each in re.findall(r"\d[\d,]*\.\d+|\d[\d,]{2,}\d", text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_of_schematics_are_those_of_their_page(page):
    known = figures(page.read_text(encoding="utf-8"))
    for picture in pictures(page):
        if 'id="desc"' in picture.read_text(encoding="utf-8"):
            assert figures("\n".join(texts(picture))) <= known
