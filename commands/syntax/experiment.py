"""``ithaca experiment`` as one types it."""

from __future__ import annotations

from pathlib import Path

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found

#: Folder to write, unless told.
FOLDER = Path("ithaca-experiments")


def experiment(
    name: given.ExperimentName = None,
    list_all: given.ListExperiments = False,
    quick: given.QuickMode = False,
    full: given.FullMode = False,
    output: given.ExperimentOutput = None,
    seed: given.ExperimentSeed = None,
    threads: given.ExperimentThreads = None,
    run_seconds: given.RunSeconds = None,
) -> None:
    """Remake a table or figure of the Odyssey paper against proven optima: table (CSV), plot (PNG), claims (JSON)."""
    from ithaca.commands import experiment as command
    from ithaca.commands.options import parse_integer, parse_number
    from ithaca.experiments.experiment import Mode, Run
    from ithaca.workloads.errors import InputError

    if quick and full:
        raise InputError("--quick and --full are both given; allowed: one of them, or none for --quick")
    how = Run(
        Mode.FULL if full else Mode.QUICK,
        parse_integer("--seed", "0" if seed is None else seed, least=0),
        parse_integer("--threads", "1" if threads is None else threads, least=1),
        None if run_seconds is None else parse_number("--run-seconds", run_seconds, positive=True),
    )
    if name is None or list_all:
        if name is not None or quick or full or any(option is not None for option in (output, seed, threads, run_seconds)):
            raise InputError(
                "--list goes with no name and no other option; allowed: ithaca experiment --list, or ithaca experiment NAME"
            )
        command.print_experiments()
        return
    asked = command.plan(name, how, FOLDER if output is None else output)
    try:
        command.run(asked)
    except KeyboardInterrupt:
        nothing_found("ithaca: interrupted; experiments that had finished have their files, the others none")
