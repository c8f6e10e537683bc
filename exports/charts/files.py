"""Charts written to files whose endings choose the kind."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from ithaca.exports.charts.chart import Chart
from ithaca.exports.charts.page import chart_page
from ithaca.exports.charts.rendering import Plot, pdf, png, script, svg
from ithaca.files.errors import InputError
from ithaca.files.extras import check_installed
from ithaca.files.messages import quoted
from ithaca.files.writing import check_writable, whole_file

#: What draws a chart, by the endings of files.
KINDS: dict[str, Callable[[Chart], str | bytes]] = {
    ".png": png,
    ".svg": svg,
    ".pdf": pdf,
    ".html": chart_page,
}


def check_plot(path: Path) -> None:
    """Refuse, before any work is done for it, a file that `save_plot` could not write."""
    if path.suffix.lower() not in KINDS:
        raise InputError(
            f"cannot plot to {path}: unknown kind of file; allowed: a name that "
            f"ends in {', '.join(KINDS)}"
        )
    check_writable(path)
    if path.suffix.lower() == ".html":
        script()  # kept by earlier charts, perhaps
    else:
        check_installed("vl_convert")


def save_plot(chart: Chart, path: str | Path | None) -> Plot:
    """Draw a chart for notebooks, and to a file if there is one, whose ending chooses the kind."""
    plot = Plot(chart)
    if path is None:
        return plot
    if not isinstance(path, str | PathLike):
        raise InputError(f"path is {quoted(path)}; allowed: the path of a file to plot to")
    file = Path(path)
    check_plot(file)
    drawn = KINDS[file.suffix.lower()](chart)
    with whole_file(file) as temporary:
        temporary.write_bytes(drawn if isinstance(drawn, bytes) else drawn.encode())
    return plot
