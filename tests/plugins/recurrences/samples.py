"""Small systems of recurrences, and runs of every word."""

from fractions import Fraction
from functools import partial

import pytest

from ithaca.formulations.problem import Limit
from ithaca.plugins.recurrences.formulations.options import RecurrenceOptions
from ithaca.plugins.recurrences.formulations.question import RecurrenceQuestion
from ithaca.plugins.recurrences.formulations.simulation import simulate as simulate_by
from ithaca.plugins.recurrences.workloads.kind import find_recurrence
from tests.families.sample import Sample, counted_front, counted_optimum


def simulate(array):
    """Run an array with every word, where an engine is installed."""
    engine = pytest.importorskip("ithaca.plugins.rtl.formulations.engine")
    return simulate_by(array, engine.process_ends)


def every_run(problem):
    """The one configuration of an array; its cycles are those of a run."""
    design = problem.design
    cycles = Fraction(simulate(design.array).cycles)
    yield {"size": len(design.array.pes)}, {**design.figures, "latency": cycles}


SAMPLES = (
    Sample(
        "recurrence",
        RecurrenceQuestion.read(RecurrenceOptions()).problems(find_recurrence("lu", {"n": 4})),
        partial(counted_optimum, points=every_run),
        partial(counted_front, points=every_run),
        Limit("dsp", Fraction(20)),
        Limit("dsp", Fraction(1)),
        seeds=1,  # nothing is left to choose but the design
    ),
)
