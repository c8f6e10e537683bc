"""Inline SVG: a drawing is a tree of elements that names and describes itself."""

from __future__ import annotations

from math import ceil, floor, log10
from xml.etree import ElementTree as ET

from markupsafe import Markup

#: Width of a character of the charts' 12-pixel text (pixels); a little more than most fonts take.
CHARACTER = 7.2


class Drawing:
    """An SVG drawing under construction.

    Parameters
    ----------
    name : str
        Unique on the page; title and description are named after it.
    width, height : float
        Size (pixels).
    title, description : str
        What it is, and what it shows, for those who do not see it.
    """

    def __init__(self, name: str, width: float, height: float, title: str, description: str) -> None:
        self.name, self.width, self.height = name, width, height
        self._root = ET.Element("svg")
        for key, value in {
            "viewBox": f"0 0 {_text(width)} {_text(height)}",
            "width": _text(width),
            "height": _text(height),
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-desc",
        }.items():
            self._root.set(key, value)
        self._at = self._root
        self.add("title", title, id=f"{name}-title")
        self.add("desc", description, id=f"{name}-desc")

    def add(self, tag: str, text: str = "", inside: ET.Element | None = None, /, **attributes: object) -> ET.Element:
        """Add an element; ``_`` in names of attributes stands for ``-``, and ``classes`` for ``class``."""
        element = ET.SubElement(self._root if inside is None else inside, tag)
        for name, value in attributes.items():
            element.set("class" if name == "classes" else name.rstrip("_").replace("_", "-"), _text(value))
        element.text = text or None
        return element

    def rect(self, x: float, y: float, width: float, height: float, classes: str, title: str = "", **more: object) -> None:
        """Add a rectangle, with a tooltip."""
        made = self.add("rect", x=x, y=y, width=max(width, 0), height=max(height, 0), classes=classes, **more)
        if title:
            self.add("title", title, made)

    def text(self, x: float, y: float, text: str, classes: str = "", anchor: str = "start", **more: object) -> None:
        """Add a line of text."""
        self.add("text", text, x=x, y=y, text_anchor=anchor, classes=classes or "t", **more)

    def line(self, x1: float, y1: float, x2: float, y2: float, classes: str, **more: object) -> None:
        """Add a line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, classes=classes, **more)

    def hatch(self, name: str) -> str:
        """Define a hatched fill; returns what to fill with."""
        where = self.add("defs")
        made = self.add("pattern", "", where, id=name, width=6, height=6, patternUnits="userSpaceOnUse")
        made.set("patternTransform", "rotate(45)")
        self.add("rect", "", made, width=6, height=6, classes="hatch-ground")
        self.add("line", "", made, x1=0, y1=0, x2=0, y2=6, classes="hatch-line")
        return f"url(#{name})"

    def markup(self) -> Markup:
        """The drawing; ElementTree escapes every text in it."""
        return Markup(ET.tostring(self._root, encoding="unicode"))


def arrow(drawing: Drawing, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
    """Add a horizontal or vertical line with a head at its second end."""
    drawing.line(x1, y1, x2, y2, classes)
    length, half = 6, 3.5
    if y1 == y2:
        back = x2 - length if x2 > x1 else x2 + length
        points = f"{_text(x2)},{_text(y2)} {_text(back)},{_text(y2 - half)} {_text(back)},{_text(y2 + half)}"
    else:
        back = y2 - length if y2 > y1 else y2 + length
        points = f"{_text(x2)},{_text(y2)} {_text(x2 - half)},{_text(back)} {_text(x2 + half)},{_text(back)}"
    drawing.add("polygon", points=points, classes=f"{classes} head")


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, 1, 2 or 5 times a power of ten apart."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    base = 10 ** floor(log10(raw))
    step = next(factor * base for factor in (1, 2, 5, 10) if factor * base >= raw * (1 - 1e-9))
    return [step * n for n in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)
