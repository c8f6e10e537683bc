"""Charts as SVG that becomes a part of a page: described, and in the page's colours and fonts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from ithaca.exports.charts.axes import Tips
from ithaca.exports.charts.chart import Chart, printable_chart
from ithaca.exports.charts.palette import ROLES
from ithaca.exports.charts.picture import drawn


def inline_svg(chart: Chart, name: str) -> str:
    """A chart as an SVG element for a page: named and described, without scripts, links and styles
    of its own.

    The title is for those who do not see it: a page has captions. Identifiers start with the name,
    unique on the page. The style sheet (`chart.css`) gives it the width that the page has for it.
    """
    from matplotlib import rc_context

    stream, chart = io.StringIO(), printable_chart(chart)
    with (
        drawn(chart) as (figure, tips),
        rc_context({"svg.fonttype": "none"}),
    ):  # text stays text
        figure.savefig(
            stream,
            format="svg",
            transparent=True,
            metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")),
        )
    return _for_page(stream.getvalue(), name, chart, tips)


#: Colours of the page, where it has them.
_VARIABLES = {colour: f"var(--{role},{colour})" for role, colour in ROLES.items()}

_LONG_DECIMALS = re.compile(r"-?\d+\.\d{3,}")


def _for_page(text: str, name: str, chart: Chart, tips: Tips) -> str:
    """A drawing of matplotlib as a part of a page: with the page's colours and fonts, and
    identifiers of its own."""
    root = ET.fromstring(text)
    linked = dict.fromkeys(re.findall(r'(?:url\(|href=")#([^)"]+)', text))
    names = {old: f"{name}-{at}" for at, old in enumerate(linked)}
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    pixels = {"width": f"{width * 4 / 3:g}", "height": f"{height * 4 / 3:g}"}  # of points
    words = {"class": "both", "role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    made = ET.Element(
        "svg", {"viewBox": root.attrib["viewBox"], **pixels, **words, "stroke-linejoin": "round"}
    )
    ET.SubElement(made, "title", id=f"{name}-title").text = chart.title
    ET.SubElement(made, "desc", id=f"{name}-desc").text = chart.description
    made.extend(_cleaned(root, names, tips, iter(())))
    return ET.tostring(made, encoding="unicode")


def _cleaned(
    parent: ET.Element, names: Mapping[str, str], tips: Tips, words: Iterator[str]
) -> list[ET.Element]:
    """The parts of an element without namespaces, styles, and groups that only group; marks with
    what to say about them."""
    parts = []
    if parent.get("id") in tips:
        words = iter(tips[parent.attrib["id"]])
    for child in parent:
        tag = child.tag.rpartition("}")[2]
        if tag in ("metadata", "style"):
            continue
        element = ET.Element(tag, _attributes(child, names))
        element.extend(_cleaned(child, names, tips, iter(()) if tag == "defs" else words))
        if tag in ("g", "defs") and not (element.attrib and len(element)):
            parts += list(element) if tag == "g" else [element] if len(element) else []
            continue
        if tag == "text":
            element.text = child.text
        elif tag in ("path", "use") and (tip := next(words, "")):
            ET.SubElement(element, "title").text = tip
        if (
            element.get("fill") != "none" or "stroke" in element.attrib
        ):  # else nothing is seen of it
            parts.append(element)
    return parts


def _attributes(element: ET.Element, names: Mapping[str, str]) -> dict[str, str]:
    """The attributes that a page needs; styles are attributes, since a page allows no others."""
    attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    attributes |= {
        key.strip(): value.strip()
        for key, _, value in (s.partition(":") for s in attributes.pop("style", "").split(";"))
    }
    if font := re.search(r"[\d.]+px", attributes.pop("font", "")):
        attributes["font-size"] = font[0]
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    if "id" in attributes:
        if (
            attributes["id"].startswith(("series-", "answer", "ground"))
            or attributes["id"] == "cell"
        ):
            attributes["class"] = attributes["id"].partition(" ")[0]
        if attributes["id"] == "cells":
            attributes["shape-rendering"] = "crispEdges"  # no seams between cells
        attributes["id"] = names.get(attributes["id"], "")
    kept = {}
    for key, value in attributes.items():
        if not value or key in ("font-family", "stroke-linecap"):
            continue
        if key != "href" or not value.startswith("data:"):
            value = " ".join(_VARIABLES.get(value, value).split())
            value = re.sub("#([^),]+)", lambda match: f"#{names.get(match[1], match[1])}", value)
            value = _LONG_DECIMALS.sub(
                lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), value
            )
        kept[key] = value
    return kept
