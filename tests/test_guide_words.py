"""The guide is short and plain: pages of 250 lines, sentences of 30 words, no openings that make a
riddle of what follows."""

import re
from pathlib import Path
from runpy import run_path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))

#: Most lines of a page, and words of a sentence.
LINES, WORDS = 250, 30

#: Openings that make a riddle of what follows.
RIDDLES = re.compile(r"(?:Of which|What (?!if\b)[^?]*? (?:is|are)) [^?]*$")


def sentences(text):
    """The sentences of a page in Markdown: no code, tables, headings, targets of links, names."""
    text = re.sub(r"^```.*?^```$|^\$\$.*?\$\$$", "\n\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4,}|\||#|!\[|:::).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`|\$[^$\n]*\$", "x", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) ", text, flags=re.MULTILINE):
        for sentence in re.split(r"(?<=[.!?])[)\"*]*\s+", " ".join(paragraph.split())):
            if sentence:
                yield sentence.strip("*")


def long(text):
    """The sentences of more words than are read in one breath, and those that begin as riddles."""
    return [each for each in sentences(text) if len(each.split()) > WORDS or RIDDLES.match(each)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_are_short(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LINES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_sentences_are_short(page):
    over = long(page.read_text(encoding="utf-8"))
    assert not over, "\n\n".join(over)


def test_long_sentences_and_riddles_are_seen():
    page = "# What a title is\n\nA sentence. What divides is searched first. What is it? Of which "
    page += "none.\n\n" + "word " * 31 + "end.\n\n```text\n" + "word " * 40 + "\n```\n"
    assert [each[:9] for each in long(page)] == ["What divi", "Of which ", "word word"]
    assert not long("- " + "word " * 20 + "\n- " + "word " * 20)


def test_first_uses_of_terms_lead_to_the_glossary():
    hook = run_path(str(ROOT / "docs" / "hooks" / "glossary.py"))
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = hook["terms"](glossary)
    assert {"box", "pack", "lane", "array part"} <= entries.keys()
    page = "# Lanes\n\n`lane` [a lane](x.md) has lanes, and lanes in array parts.\n"
    assert hook["linked"](page, entries) == (
        "# Lanes\n\n`lane` [a lane](x.md) has [lanes](glossary.md#lane), and lanes in "
        "[array parts](glossary.md#array-part).\n"
    )
