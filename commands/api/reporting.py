"""`ithaca.report`: a result as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.explaining import (
    explain_result,
    parse_changes,
    refuse_changes,
    statements,
)
from ithaca.commands.api.keywords import StatedOptions, public
from ithaca.commands.api.opening import answer_of
from ithaca.commands.api.options import LayerName, Quick, ResultFile
from ithaca.commands.api.outputs import WRITTEN
from ithaca.exports.report.landscape import AROUND, FARTHEST
from ithaca.exports.report.page import report_page
from ithaca.files import signals
from ithaca.files.answer import Wrote
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.files.words import parse_integer
from ithaca.files.writing import check_writable, write_text_atomically
from ithaca.solver.options import Budget, SolveOptions
from ithaca.studies.network.networks import NetworksAnswer
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.points import PointAnswer

#: Share of the time limit for finding what to change first; the rest is for the run.
SEARCHING = 0.75


@public
def report(
    result: ResultFile,
    output: Annotated[str | Path, Option("-o", "--output", help="Page to write (HTML)."), WRITTEN],
    *,
    layer: LayerName = None,
    around: Annotated[
        int,
        Option(
            "--around",
            metavar="N",
            help="Show factors up to N steps from the result's in the landscape.",
        ),
    ] = AROUND,
    quick: Quick = False,
    time_limit: Annotated[
        float,
        Option("--time-limit", metavar="TIME", help="Time for the whole run: seconds, or 10m, 2h."),
    ] = 60,
    stated: StatedOptions,
) -> Wrote:
    """Report a result as one self-contained page: the answer, its proof, what limits it, the array
    drawn.

    Returns one line on what was written.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.report(r, "r.html", quick=True)
    'wrote r.html: design [i,j] C'
    """
    search, distance = (
        parse_changes(time_limit, stated, quick=quick),
        parse_integer("--around", around, least=0),
    )
    if distance > FARTHEST:
        raise InputError(f"--around is '{around}'; allowed: at most {FARTHEST}")
    if Path(output).suffix.lower() in (".png", ".svg", ".pdf"):
        raise InputError(
            f"--output is '{output}', a picture; allowed: a page, such as {Path(output).stem}.html"
        )
    check_writable(output)
    if isinstance(result, str | Path) and Path(output).resolve() == Path(result).resolve():
        raise InputError(f"--output is '{output}', the result itself; allowed: another file")
    answer = answer_of(result, layer)
    if isinstance(answer, NetworkResult):
        from ithaca.exports.report.network import network_page
        from ithaca.results.network_explanation import explain_network, network_statements

        refuse_changes(stated, "the result of a whole network", "with --layer NAME")
        explained = explain_network(answer)
        page = network_page(answer, explained, [*network_statements(answer, explained)])
        what = f"{counted(len(answer.layers), 'layer')} of {answer.network.name}, {answer.mode}"
    elif isinstance(answer, PointAnswer):
        from ithaca.exports.report.study import study_page

        refuse_changes(stated, "a front or a what-if study", "without it")
        page, what = study_page(answer), answer.headline
    elif isinstance(answer, NetworksAnswer):
        page, what = answer.made("page", search), answer.headline
    else:
        whole = Budget(search or SolveOptions())

        def checkpoint() -> None:
            signals.check()
            if whole.up:
                raise InputError(f"the time limit is over; allowed: more than {time_limit} s")

        changes = None if search is None else whole.part(SEARCHING)
        explanation = explain_result(answer, None, changes)
        page = report_page(
            answer,
            statements(answer, explanation),
            distance,
            None if quick else checkpoint,
        )
        what = (
            explanation.failure or f"design {explanation.solution and explanation.solution.design}"
        )
    write_text_atomically(output, page)
    return Wrote(output, what)
