"""Charts painted by matplotlib: as figures, and to files that are not SVG."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ithaca.exports.charts.chart import Chart, printable_chart
from ithaca.exports.charts.svg import drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Dots per inch of pictures.
RESOLUTION = 240

#: Pixels of drawings, in inches and in points.
INCH, POINT = 1 / 96, 0.75

_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def draw_picture(chart: Chart, to: Path | IO[bytes] | None = None) -> Figure:
    """Draw a chart: to a file whose ending is that of a kind of picture, or to a stream as PNG."""
    from matplotlib.figure import Figure  # not pyplot: no display, no global state
    from matplotlib.image import imread
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Corners

    chart = printable_chart(chart)
    root = drawn(chart, "chart", chart.title).root
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    figure = Figure(figsize=(width * INCH, height * INCH))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    for order, element in enumerate(root.iter()):
        look = {
            key: re.sub(r"var\(.*,(.*)\)", r"\1", value).replace("transparent", "none")
            for key, value in element.attrib.items()
        }
        x, y, *size = (float(look.get(key, 0)) for key in ("x", "y", "width", "height"))
        if element.tag == "path":
            corners = [*map(float, re.findall(r"[-\d.]+", look["d"]))]
            stroke, thick = look.get("stroke", "none"), float(look.get("stroke-width", 1)) * POINT
            dashes = re.findall(r"[\d.]+", look.get("stroke-dasharray", ""))
            patch = PathPatch(
                Corners([*zip(corners[::2], corners[1::2], strict=True)]),
                facecolor=look["fill"],
                edgecolor=stroke,
                linewidth=thick if stroke != "none" else 0,
                linestyle=(0, [float(dash) for dash in dashes]) if dashes else "-",
                alpha=float(look.get("opacity", 1)),
                zorder=order,
            )
            axes.add_patch(patch)
        elif element.tag == "text":
            turn = re.match(r"rotate\((-?\d+)", look.get("transform", ""))
            axes.text(
                x,
                y,
                element.text or "",
                size=float(look["font-size"]) * POINT,
                color=look["fill"],
                ha=_ANCHORS[look["text-anchor"]],
                va="baseline",
                rotation=-float(turn[1]) if turn else 0,
                rotation_mode="anchor",
                parse_math=False,  # names may have dollars in them
                zorder=order,
            )
        elif element.tag == "image":
            pixels = imread(BytesIO(b64decode(look["href"].partition(",")[2])))
            extent = (x, x + size[0], y + size[1], y)
            axes.imshow(pixels, extent=extent, aspect="auto", interpolation="nearest", zorder=order)
    axes.set(xlim=(0, width), ylim=(height, 0))
    if to is not None:
        figure.savefig(to, dpi=RESOLUTION)
    return figure
