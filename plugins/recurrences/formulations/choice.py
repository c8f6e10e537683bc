"""Choices of space loops whose arrays run to their end."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.plugins.recurrences.formulations.array import Timing, dataflows
from ithaca.plugins.recurrences.formulations.design import RecurrenceDesign
from ithaca.plugins.recurrences.workloads.recurrence import Recurrence

#: Why designs are left out.
HANGS = "the array hangs: PEs wait for each other's words and full FIFOs in a circle"


def choose_designs(
    nest: Recurrence,
    dataflow: Sequence[str] | None,
    timing: Timing,
    clock_mhz: Fraction,
    option: str,
) -> tuple[RecurrenceDesign, ...]:
    """The design of a choice, or those of all choices, that do not hang as far as is known.

    Raises `InputError`, which names ``option``, if there is no such choice, or none that runs.

    Parameters
    ----------
    nest : Recurrence
        The recurrences.
    dataflow : sequence of str, optional
        The loops mapped to space; None: all choices.
    timing : Timing
        Latencies of operators (cycles).
    clock_mhz : Fraction
        The clock (MHz).
    option : str
        The option that named the dataflow, for messages.
    """
    every = [RecurrenceDesign(nest, each, timing, clock_mhz) for each in dataflows(nest)]
    chosen = [each for each in every if dataflow is None or each.dataflow == tuple(dataflow)]
    running = tuple(each for each in chosen if not each.hangs)
    if running:
        return running
    allowed = [each.name for each in every if not chosen or not each.hangs]
    subject = nest.name if dataflow is None else f"{option} is {quoted(','.join(dataflow))}"
    why = f": {HANGS}" if chosen else ""
    none = "recurrences of which an array runs"
    raise InputError(f"{subject}{why}; allowed: {'; '.join(allowed) or none}")
