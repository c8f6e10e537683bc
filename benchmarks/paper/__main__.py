"""``python -m benchmarks.paper``: tables and figures of the paper, remade against proven optima."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from rich.markup import escape
from typer import Argument, Option, Typer

from benchmarks.paper.experiment import (
    ALL,
    NAMES,
    Cell,
    Experiment,
    Mode,
    Outcome,
    Run,
    find_experiment,
)
from benchmarks.paper.files import file_names, write_experiment
from ithaca import cli
from ithaca.commands.api.keywords import StatedOptions
from ithaca.commands.api.live_line import LiveLine
from ithaca.commands.api.options import RandomSeed
from ithaca.commands.api.outputs import WRITTEN
from ithaca.commands.display import console, show
from ithaca.commands.outcome import nothing_found, wrote
from ithaca.commands.typed import as_typed
from ithaca.exports.charts.files import check_plot
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.files.signals import Interrupt
from ithaca.files.words import parse_integer, parse_number
from ithaca.files.writing import check_folder
from ithaca.results.view import tabled

#: Most rows of a table that are printed; the file holds all.
ROWS = 40


def experiment(
    *,
    name: Annotated[
        str | None,
        Argument(
            metavar="[NAME]", help="Name of an experiment, or all; without it they are listed."
        ),
    ] = None,
    list_all: Annotated[
        bool, Option("--list", help="List the experiments and what the paper says of each.")
    ] = False,
    quick: Annotated[
        bool,
        Option("--quick", help="Small sizes and budgets (default): a minute at most for each."),
    ] = False,
    full: Annotated[
        bool, Option("--full", help="The paper's sizes and budgets; some take hours.")
    ] = False,
    output: Annotated[
        Path, Option("-o", "--output", metavar="FOLDER", help="Folder to write."), WRITTEN
    ] = Path("ithaca-experiments"),
    seed: RandomSeed = 0,
    threads: Annotated[
        str, Option("--threads", metavar="N", help="Runs at a time, where an experiment has many.")
    ] = "1",
    run_seconds: Annotated[
        str | None,
        Option(
            "--run-seconds",
            metavar="S",
            help="Seconds of each run of a method (figures 7 and 8), of each search for several arrays (network-arrays).",
        ),
    ] = None,
    given: StatedOptions,
) -> None:
    """Remake a table or figure of the Odyssey paper against proven optima: table (CSV), plot,
    claims (JSON)."""
    if quick and full:
        raise InputError(
            "--quick and --full are both given; allowed: one of them, or none for --quick"
        )
    how = Run(
        Mode.FULL if full else Mode.QUICK,
        parse_integer("--seed", seed, least=0),
        parse_integer("--threads", threads, least=1),
        None if run_seconds is None else parse_number("--run-seconds", run_seconds, positive=True),
    )
    if name is None or list_all:
        if given - {"--list"}:
            raise InputError(
                "--list goes with no name and no other option; allowed: --list alone, or NAME"
            )
        print_experiments()
        return
    asked = plan(name, how, output)
    try:
        run(asked, how, output)
    except KeyboardInterrupt:
        nothing_found(
            "ithaca: interrupted; experiments that had finished have their files, the others none"
        )


def plan(name: str, how: Run, folder: Path) -> tuple[Experiment, ...]:
    """Find the experiments, and refuse what could not be written.

    Raises `InputError` if there is no such experiment, the seconds of a run say nothing to it, or
    the folder cannot be written.
    """
    names = NAMES if name == ALL else (name,)
    found = tuple(find_experiment(each) for each in names)
    if how.run_seconds is not None and not any(experiment.budgeted for experiment in found):
        allowed = ", ".join(each for each in NAMES if find_experiment(each).budgeted)
        raise InputError(f"--run-seconds says nothing to {name}; allowed with it: {allowed}, {ALL}")
    check_folder(folder, [file for each in names for file in file_names(each)])
    if folder.is_dir():
        check_plot(folder / f"{names[0]}.png")
    return found


def run(experiments: Sequence[Experiment], how: Run, folder: Path) -> None:
    """Run experiments; each one's files are written once all of it is computed.

    Raises `KeyboardInterrupt` if it was interrupted: the files of finished experiments are whole,
    of the others there are none.
    """
    for experiment in experiments:
        print_outcome(experiment, how, _run_one(experiment, how, folder))


def _run_one(experiment: Experiment, how: Run, folder: Path) -> Outcome:
    with Interrupt() as interrupt, LiveLine("starting") as line:
        steps = replace(
            how, stop=interrupt, tell=lambda step: line.show(f"{experiment.name} · {step}")
        )
        outcome = experiment.run(steps)
        steps.step("writing")
        for path in write_experiment(folder, experiment, how, outcome):
            wrote(path)
    if interrupt():
        raise KeyboardInterrupt
    return outcome


def print_outcome(experiment: Experiment, how: Run, outcome: Outcome) -> None:
    """Print the table, then claim by claim what is published and what is measured."""
    out = console()
    out.print(
        f"[bold]{experiment.name}[/bold]: {escape(experiment.title)} ({how.mode.value} mode, seed {how.seed})"
    )
    columns = outcome.table.columns
    rows = [list(zip(columns, map(_text, row), strict=True)) for row in outcome.table.rows[:ROWS]]
    show(tabled(rows, columns))
    hidden = len(outcome.table.rows) - ROWS
    if hidden > 0:
        out.print(f"and {hidden} more rows in {experiment.name}.csv")
    if experiment.inference:
        out.print(f"Inferred: {escape(experiment.inference)}.")
    for claim in outcome.claims:
        out.print(f"[bold]{claim.verdict:<7}[/bold] {escape(claim.statement)}")
        out.print(f"        published: {escape(claim.published)}")
        measured = f"{number(claim.measured)} {claim.relation} {number(claim.bound)}"
        if not claim.holds:
            measured = f"not {measured}"
        out.print(f"        measured:  {escape(measured)}: {escape(claim.quantity)}")
        if claim.why:
            out.print(f"        {escape(claim.why)}")
    out.print()


def print_experiments() -> None:
    """Print the experiments: their names, what they are and what the paper says."""
    rows = []
    for name in NAMES:
        experiment = find_experiment(name)
        rows.append(
            [
                ("name", name),
                ("what", experiment.title),
                ("published", experiment.published),
                ("inferred", experiment.inference or "–"),
            ]
        )
    show(tabled(rows, {heading for heading, _ in rows[0]}))


def _text(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int | float | Fraction):
        return number(cell)
    return cell


def main() -> None:
    """Run it as the program `ithaca` runs its commands: the same exit status, errors in one
    line."""
    program = Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    program.command()(as_typed(experiment))
    cli.main(program, "python -m benchmarks.paper")


if __name__ == "__main__":
    main()
