"""``ithaca verify``: check a result anew, its values and its proofs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ithaca.api.options import ResultFile
from ithaca.api.parsing import parse_search
from ithaca.commands.outcome import NOTHING_FOUND, say
from ithaca.formulations.json_numbers import refuse
from ithaca.results.files import load_result
from ithaca.solver.options import SolveOptions
from ithaca.solver.verification import verify as verify_claim
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import Interrupt


def verify(
    *,
    file: ResultFile,
    time_limit: Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for each design.")] = None,
) -> None:
    """``ithaca verify``."""
    if not verify_result(file, parse_search(time_limit)):
        raise typer.Exit(NOTHING_FOUND)


def verify_result(path: Path, options: SolveOptions) -> bool:
    """Check every design of a result; whether all that it claims was confirmed.

    Loading re-derives the designs and re-evaluates every metric by the Fraction reference. What is claimed to be optimal or
    infeasible is then proven again by another engine than the recorded one, bounds and shortfalls by a further search. Raises
    `InputError` if the file claims what is false, and no engine says so, `DisagreementError` if engines contradict
    each other.
    """
    result = load_result(path)
    confirmed = True
    with Interrupt() as interrupt:
        for index, recorded in enumerate(result.designs):
            try:
                line, agreed = verify_claim(recorded, replace(options, stop=interrupt), f"designs[{index}]")
            except InputError as error:
                raise refuse(path, error) from None
            say(f"{recorded.design:<10} {line}")
            sys.stdout.flush()
            confirmed &= agreed
    return confirmed
