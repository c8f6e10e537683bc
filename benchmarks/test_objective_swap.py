"""What is saved by swapping the objective of a model instead of building another.

Run with ``pytest benchmarks/test_objective_swap.py --benchmark-only -s``. A frame holds the candidate tables and trees of a
design for several objectives; each objective then costs the compilation of its own bounds only.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.data_types import data_type
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import systolic_problem
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_frame, build_model
from ithaca.workloads.library import workload

OBJECTIVES = ("latency", "comm", "-comp", "comm - comp", "energy")


def problems() -> list[Problem]:
    """1024³ on the U250, dataflow (i,j), permutation C, with every objective."""
    nest = workload("mm", {"i": 1024, "j": 1024, "k": 1024})
    limits = (Limit("dsp", Fraction("8601.6")), Limit("bram18k", Fraction("3763.2")))
    array = derive(nest, ("i", "j"), "C", Edition.EXACT)
    return [systolic_problem(nest, array, data_type("fp32"), limits, parse_objective(text)) for text in OBJECTIVES]


def test_swapping_the_objective(benchmark) -> None:  # type: ignore[no-untyped-def]
    build_model(problems()[0])  # imports
    began = time.perf_counter()
    own = [(build_model(problem), time.perf_counter()) for problem in problems()]
    apart = time.perf_counter() - began

    def together() -> list[float]:
        started = time.perf_counter()
        frame = build_frame(problems())
        seconds = [time.perf_counter() - started]
        for problem in problems():
            started = time.perf_counter()
            model = frame.model(problem)
            seconds.append(time.perf_counter() - started)
            assert model.trees is frame.trees
        return seconds

    shared, *swaps = benchmark.pedantic(together, rounds=1)
    print(f"\n{len(OBJECTIVES)} models built apart: {apart:.2f} s; one frame {shared:.2f} s, then per objective:")
    for text, seconds in zip(OBJECTIVES, swaps, strict=True):
        print(f"{text:<12} {seconds * 1000:7.1f} ms")
    share = sum(swaps) / len(swaps) / (apart / len(OBJECTIVES))
    print(f"a swap costs {share:.0%} of building a model")
    frame = build_frame(problems())
    for problem, (model, _) in zip(problems(), own, strict=True):
        swapped = Search(frame.model(problem), SolveOptions(time_limit=20)).run()
        alone = Search(replace(model), SolveOptions(time_limit=20)).run()
        assert swapped.value == alone.value
