"""``ithaca report`` as one types it."""

from __future__ import annotations

import sys

from ithaca.commands.syntax import parameters as given
from ithaca.workloads.errors import InputError

#: Seconds for what to change first, unless told.
SECONDS = "60"


def report(
    file: given.ResultFile,
    output: given.ReportOutput,
    around: given.ReportAround = "10",
    quick: given.Quick = False,
    time_limit: given.ReportTimeLimit = None,
) -> None:
    """Report a result as one self-contained page: the answer, its proof, what limits it, the array drawn."""
    from ithaca.commands.options import parse_integer, parse_search
    from ithaca.commands.report import write_report
    from ithaca.exports.report.landscape import FARTHEST
    from ithaca.workloads.writing import check_writable

    if quick and time_limit is not None:
        raise InputError("--time-limit cannot be given with --quick, which solves nothing")
    search, distance = parse_search(SECONDS if time_limit is None else time_limit), parse_integer("--around", around, least=0)
    if distance > FARTHEST:
        raise InputError(f"--around is '{around}'; allowed: at most {FARTHEST}")
    check_writable(output)
    if output.resolve() == file.resolve():
        raise InputError(f"--output is '{output}', the result itself; allowed: another file")
    # on stderr: the page may go to /dev/stdout
    print(write_report(file, output, None if quick else search, distance), file=sys.stderr)
