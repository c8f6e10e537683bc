"""Equations as MathML: browsers draw it by themselves, so the guide needs no script and no
network."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

#: What pymdownx.arithmatex leaves of an equation: TeX between \( \) in a span, or between \[ \] in
#: a div.
_EQUATION = re.compile(r'<(span|div) class="arithmatex">\s*\\[(\[](.*?)\\[)\]]\s*</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Replace every equation of a page (called by MkDocs)."""
    return _EQUATION.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    kind, tex = match[1], html.unescape(match[2]).strip()
    return convert(tex, display="block" if kind == "div" else "inline")
