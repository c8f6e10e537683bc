"""First uses of the glossary's terms on each page, linked to what they mean."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = "glossary.md"

#: What is no running text: code, links, headings, tables' rules, lines of HTML, equations.
_OTHER = re.compile(
    r"```.*?^```|`[^`\n]*`|\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?|^#.*?$|^\|.*?$|^ {4}.*?$|<[^>]*>"
    r"|\$\$.*?\$\$|\$[^$\n]*\$",
    re.MULTILINE | re.DOTALL,
)

_ENTRY = re.compile(r"^### (.*)$", re.MULTILINE)


def terms(text: str) -> dict[str, str]:
    """The terms of a glossary, longest first, with their anchors."""
    names = sorted(_ENTRY.findall(text), key=len, reverse=True)
    return {name: re.sub(r"[^\w]+", "-", name.lower()).strip("-") for name in names}


def linked(text: str, entries: dict[str, str], page: str = PAGE) -> str:
    """A page in Markdown whose first use of every term leads to its entry."""
    left = dict(entries)

    def in_prose(prose: str) -> str:
        if not left:
            return prose
        either = "|".join(map(re.escape, left))
        return re.sub(rf"(?<![\w-])({either})(s?)(?![\w-])", link, prose, flags=re.IGNORECASE)

    def link(match: re.Match[str]) -> str:
        anchor = left.pop(match[1].lower(), None)
        return match[0] if anchor is None else f"[{match[0]}]({page}#{anchor})"

    parts, end = [], 0
    for other in _OTHER.finditer(text):
        parts += [in_prose(text[end : other.start()]), other[0]]
        end = other.end()
    return "".join([*parts, in_prose(text[end:])])


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Link the terms of a page (called by MkDocs)."""
    if page.file.src_uri in (PAGE, "commands.md", "python.md"):
        return markdown
    entries = terms((Path(config.docs_dir) / PAGE).read_text(encoding="utf-8"))
    return linked(markdown, entries, "../" * page.file.src_uri.count("/") + PAGE)
