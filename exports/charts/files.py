"""Charts written to files whose endings choose the renderer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ithaca.exports.charts.chart import Chart
from ithaca.exports.charts.page import save_page
from ithaca.exports.charts.picture import draw_picture
from ithaca.exports.charts.svg import svg_file
from ithaca.files.errors import InputError
from ithaca.files.writing import check_writable, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)


def check_plot(path: Path) -> None:
    """Refuse, before any work is done for it, a file that `save_plot` could not write."""
    suffix = path.suffix.lower()
    if suffix not in PICTURES + PAGES:
        raise InputError(
            f"cannot plot to {path}: unknown kind of file; allowed: a name that "
            f"ends in {', '.join(PICTURES + PAGES)}"
        )
    check_writable(path)


def save_plot(chart: Chart, path: str | Path | None) -> Figure:
    """Draw a chart, and write it to a file if there is one, whose ending chooses the kind."""
    if path is None:
        return draw_picture(chart)
    file = Path(path)
    check_plot(file)
    with whole_file(file) as temporary:
        if file.suffix.lower() == ".svg":
            temporary.write_text(svg_file(chart), encoding="utf-8")
        elif file.suffix.lower() in PAGES:
            save_page(chart, temporary)
        else:
            return draw_picture(chart, temporary)
    return draw_picture(chart)
