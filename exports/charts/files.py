"""Charts written to files whose endings choose the renderer."""

from __future__ import annotations

from pathlib import Path

from ithaca.exports.charts.chart import Chart
from ithaca.exports.charts.page import save_page
from ithaca.exports.charts.picture import save_picture
from ithaca.files.errors import InputError
from ithaca.files.writing import check_writable, whole_file

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


def save_plot(chart: Chart, path: Path) -> None:
    """Draw a chart to a file; its ending chooses the kind."""
    check_plot(path)
    with whole_file(path) as temporary:
        (save_picture if path.suffix.lower() in PICTURES else save_page)(chart, temporary)
