"""``ithaca report``: a result as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.api.keywords import Given
from ithaca.api.live_line import tell
from ithaca.api.options import WRITTEN, Quick, ResultFile
from ithaca.api.parsing import parse_integer
from ithaca.commands.explain import parse_changes
from ithaca.solver.options import SolveOptions
from ithaca.workloads.errors import InputError
from ithaca.workloads.writing import check_writable, write_text_atomically


def report(
    *,
    file: ResultFile,
    output: Annotated[Path, Option("-o", "--output", help="Page to write (HTML)."), WRITTEN],
    around: Annotated[
        str, Option("--around", metavar="N", help="In the landscape, only factors at most N from the result's.")
    ] = "10",
    quick: Quick = False,
    time_limit: Annotated[float, Option("--time-limit", metavar="S", help="Seconds for finding what to change first.")] = 60,
    given: Given,
) -> None:
    """``ithaca report``."""
    from ithaca.exports.report.landscape import FARTHEST

    search, distance = parse_changes(time_limit, given, quick=quick), parse_integer("--around", around, least=0)
    if distance > FARTHEST:
        raise InputError(f"--around is '{around}'; allowed: at most {FARTHEST}")
    check_writable(output)
    if output.resolve() == file.resolve():
        raise InputError(f"--output is '{output}', the result itself; allowed: another file")
    # on stderr: the page may go to /dev/stdout
    tell(write_report(file, output, search, distance))


def write_report(file: Path, output: Path, options: SolveOptions | None, around: int) -> str:
    """Write the page of a result; returns one line on what was written.

    Raises `InputError` if the file is no result, or the page cannot be written.
    """
    from ithaca.commands.explain_words import explain_result, statements
    from ithaca.exports.report.page import report_page
    from ithaca.results.files import load_result

    result = load_result(file)
    explanation = explain_result(result, None, options)
    page = report_page(result, explanation, statements(result, explanation), around)
    write_text_atomically(output, page)
    what = explanation.failure if explanation.solution is None else f"design {explanation.solution.design}"
    return f"wrote {output}: {what}"
