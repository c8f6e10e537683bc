"""A drawing of boxes, lines of text and arrows, as SVG inside a page."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from markupsafe import Markup

#: The height of a line of text (pixels).
LINE = 15

#: Left, top, width and height.
Box = tuple[float, float, float, float]


class Drawing:
    """An SVG drawing under construction (pixels): a tree of elements that describes itself for
    those who do not see it.

    Title and description are named after its name, which is unique on the page.
    """

    def __init__(
        self, name: str, kind: str, width: float, height: float, title: str, description: str
    ) -> None:
        self.root = ET.Element("svg", {"class": kind})
        self.root.set("viewBox", f"0 0 {plain(width)} {plain(height)}")
        self.root.set("width", plain(width))
        self.root.set("height", plain(height))
        self.root.set("role", "img")
        self.root.set("aria-labelledby", f"{name}-title {name}-desc")
        self.add("title", title, id=f"{name}-title")
        self.add("desc", description, id=f"{name}-desc")

    def add(
        self, tag: str, text: str = "", inside: ET.Element | None = None, /, **attributes: object
    ) -> ET.Element:
        """Add an element; ``_`` in names of attributes stands for ``-``, and ``classes`` for
        ``class``.

        Parameters
        ----------
        tag : str
            The element.
        text : str, optional
            Its text.
        inside : ET.Element, optional
            The element that holds it; by default the drawing.
        """
        element = ET.SubElement(self.root if inside is None else inside, tag)
        for name, value in attributes.items():
            key = "class" if name == "classes" else name.replace("_", "-")
            element.set(key, plain(value))
        element.text = text or None
        return element

    def rect(self, box: Box, classes: str, title: str = "", **more: object) -> None:
        """Add a rectangle, with a tooltip.

        Parameters
        ----------
        box : Box
            Left, top, width and height (pixels).
        classes : str
            Its classes in the page's style.
        title : str, optional
            The tooltip.
        """
        x, y, width, height = box
        made = self.add(
            "rect", x=x, y=y, width=max(width, 0), height=max(height, 0), classes=classes, **more
        )
        if title:
            self.add("title", title, made)

    def text(self, x: float, y: float, text: str, classes: str, anchor: str = "middle") -> None:
        """Add a line of text.

        Parameters
        ----------
        x, y : float
            Where the line begins, is centred or ends (pixels).
        text : str
            The line.
        classes : str
            Its classes in the page's style.
        anchor : str, optional
            ``start``, ``middle`` or ``end``.
        """
        self.add("text", text, x=x, y=y, text_anchor=anchor, classes=classes)

    def upright(self, x: float, y: float, text: str) -> None:
        """Add a line of text that runs upwards, around a point.

        Parameters
        ----------
        x, y : float
            The middle of the line (pixels).
        text : str
            The line.
        """
        turn = f"rotate(-90 {plain(x)} {plain(y)})"
        self.add(
            "text", text, x=x, y=y + 4, text_anchor="middle", classes="t box strong", transform=turn
        )

    def lines(self, x: float, top: float, lines: Sequence[str]) -> None:
        """Add lines of text, the first one strong.

        Parameters
        ----------
        x : float
            The middle of all lines (pixels).
        top : float
            The foot of the first one (pixels).
        lines : sequence of str
            The lines.
        """
        for place, line in enumerate(lines):
            self.text(x, top + LINE * place, line, "t box" if place else "t box strong")

    def arrow(self, start: tuple[float, float], end: tuple[float, float], classes: str) -> None:
        """Add a horizontal or vertical line with a head at its end.

        Parameters
        ----------
        start, end : tuple of float, float
            Horizontal and vertical position (pixels).
        classes : str
            Its classes in the page's style.
        """
        (x1, y1), (x2, y2), length, half = start, end, 6, 3.5
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, classes=classes)
        if y1 == y2:
            back = x2 - length if x2 > x1 else x2 + length
            sides = (back, y2 - half), (back, y2 + half)
        else:
            back = y2 - length if y2 > y1 else y2 + length
            sides = (x2 - half, back), (x2 + half, back)
        points = " ".join(f"{plain(x)},{plain(y)}" for x, y in (end, *sides))
        self.add("polygon", points=points, classes=f"{classes} head")

    def markup(self) -> Markup:
        """The drawing; ElementTree escapes every text in it."""
        return Markup(ET.tostring(self.root, encoding="unicode"))


def plain(value: object) -> str:
    """A value of an attribute: numbers with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
