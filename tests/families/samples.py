"""Small problems of every family that is installed."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

from ithaca.formulations.problem import Limit
from tests.families.custom import custom_problem
from tests.families.fir import fir_problem
from tests.families.sample import Sample, counted_front, counted_optimum
from tests.problems import mm_problem
from tests.solver.enumeration import enumerated_optimum
from tests.studies.brute_front import brute_front

#: Tests of plug-ins, which state problems of their families in a file ``samples.py``.
PLUGINS = Path(__file__).parents[1] / "plugins"

SAMPLES = (
    Sample(
        "fir",
        [
            fir_problem(24, 40, transposed=transposed, dsp=9, noise=4)
            for transposed in (False, True)
        ],
        counted_optimum,
        counted_front,
        Limit("dsp", Fraction(5)),
        Limit("noise", Fraction(1, 2)),
    ),
    Sample(
        "custom",
        [custom_problem(dsp=9, noise=4)],
        counted_optimum,
        counted_front,
        Limit("dsp", Fraction(5)),
        Limit("noise", Fraction(1, 2)),
    ),
    Sample(
        "systolic",
        [
            mm_problem((5, 3, 6), dataflow, permutation, dsp="90")
            for dataflow, permutation in ((("i", "j"), "C"), (("k",), "A"))
        ],
        enumerated_optimum,
        brute_front,
        Limit("dsp", Fraction(20)),
        Limit("dsp", Fraction(1)),
    ),
    *(
        sample
        for path in sorted(PLUGINS.glob("*/samples.py"))
        for sample in import_module(f"tests.plugins.{path.parent.name}.samples").SAMPLES
    ),
)


each_family = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
