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
    from ithaca.exports.files import check_writable
    from ithaca.exports.report.landscape import FARTHEST

    if quick and time_limit is not None:
        raise InputError("--time-limit cannot be given with --quick, which solves nothing")
    search, distance = parse_search(time_limit or SECONDS), parse_integer("--around", around, least=0)
    if distance > FARTHEST:
        raise InputError(f"--around is '{around}'; allowed: at most {FARTHEST}")
    check_writable(output)
    # on stderr: the page may go to /dev/stdout
    print(write_report(file, output, None if quick else search, distance), file=sys.stderr)
