"""``ithaca verify``: check a result anew, its values and its proofs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ithaca.api.options import ResultFile
from ithaca.api.parsing import parse_search
from ithaca.commands.outcome import NOTHING_FOUND, say
from ithaca.formulations.json_numbers import refuse
from ithaca.results.result import Result
from ithaca.solver.options import SolveOptions
from ithaca.solver.verification import verify as verify_claim
from ithaca.studies.network.loading import load_answer
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.verification import Check, verify_network
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import Interrupt


def verify(
    *,
    file: ResultFile,
    time_limit: Annotated[
        str | None, Option("--time-limit", metavar="S", help="Seconds for each design, of a network for each layer.")
    ] = None,
) -> None:
    """``ithaca verify``."""
    if not verify_result(file, parse_search(time_limit)):
        raise typer.Exit(NOTHING_FOUND)


def verify_result(path: Path, options: SolveOptions) -> bool:
    """Check every design of a result, of a network's of every layer; whether all that it claims was confirmed.

    Loading re-derives the designs and re-evaluates every metric by the Fraction reference. What is claimed to be optimal or
    infeasible is then proven again by another engine than the recorded one, bounds and shortfalls by a further search. Raises
    `InputError` if the file claims what is false, and no engine says so, `DisagreementError` if engines contradict
    each other.
    """
    result, confirmed = load_answer(path), True
    with Interrupt() as interrupt:
        stopped = replace(options, stop=interrupt)
        try:
            for check in _checks(result, stopped):
                say(f"{check.place:<{_width(result)}} {check.line}")
                sys.stdout.flush()
                confirmed &= check.confirmed
        except InputError as error:
            raise refuse(path, error) from None
    return confirmed


def _checks(result: Result | NetworkResult, options: SolveOptions) -> Iterator[Check]:
    if isinstance(result, NetworkResult):
        yield from verify_network(result, options)
        return
    for index, recorded in enumerate(result.designs):
        yield Check(recorded.design, *verify_claim(recorded, options, f"designs[{index}]"))


def _width(result: Result | NetworkResult) -> int:
    return max(len(r.layer.name) for r in result.layers) if isinstance(result, NetworkResult) else 10
