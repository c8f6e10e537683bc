"""``ithaca report``: a result as one page."""

from __future__ import annotations

from pathlib import Path

from ithaca.commands.explain import explain_result
from ithaca.commands.explain_words import statements
from ithaca.exports.report.page import report_page
from ithaca.solver.options import SolveOptions
from ithaca.workloads.writing import write_text_atomically


def write_report(file: Path, output: Path, options: SolveOptions | None, around: int) -> str:
    """Write the page of a result; returns one line on what was written.

    Parameters
    ----------
    file : Path
        A result as written by ``solve -o``.
    output : Path
        The page (HTML).
    options : SolveOptions or None
        How far to search for what to change first; None leaves that out.
    around : int
        Largest distance of a factor from the answer's in the landscape.

    Raises
    ------
    InputError
        If the file is no result, or the page cannot be written.
    """
    result, explanation = explain_result(file, None, options)
    page = report_page(result, explanation, statements(result, explanation), around)
    write_text_atomically(output, page)
    what = explanation.failure if explanation.array is None else f"design {explanation.array.name}"
    return f"wrote {output}: {what}"
