"""``ithaca solve``: the proven-best configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from ithaca.commands.interrupt import Interrupt
from ithaca.commands.progress_line import ProgressLine
from ithaca.formulations.data_types import DataType
from ithaca.formulations.dataflows import dataflows, find_dataflow
from ithaca.formulations.derivation import derive
from ithaca.formulations.metrics import METRICS
from ithaca.formulations.permutations import loop_order, permutations
from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Limit, Objective, Problem, SpaceOptions
from ithaca.formulations.systolic_array import Edition, SystolicArray
from ithaca.formulations.tiling import Tiling
from ithaca.solver.agreement import prove_again
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import best_solution, solve_designs
from ithaca.solver.result import Result
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class Request:
    """What ``ithaca solve`` was asked for.

    Attributes
    ----------
    nest, data, platform : LoopNest, DataType, Platform
        Workload, data type and device.
    limits : mapping of str to Fraction
        Limits that replace or extend the platform's.
    objective : Objective
        What to minimise.
    edition : Edition
        Statement of the cost model.
    dataflow : tuple of str or None
        The dataflow; None for all.
    permutation : str or None
        The permutation; None for all.
    descriptor : Path or None
        A published description to solve instead of derived designs.
    include_unbuildable : bool
        Whether to consider designs that HLS cannot build.
    space : SpaceOptions
        Restrictions of the design space.
    """

    nest: LoopNest
    data: DataType
    platform: Platform
    limits: Mapping[str, Fraction]
    objective: Objective
    edition: Edition
    dataflow: tuple[str, ...] | None = None
    permutation: str | None = None
    descriptor: Path | None = None
    include_unbuildable: bool = False
    space: SpaceOptions = field(default_factory=SpaceOptions)


def requested_designs(request: Request) -> tuple[SystolicArray, ...]:
    """The designs to solve.

    Raises
    ------
    InputError
        If none is left, or the descriptor and the other options contradict each other.
    """
    if request.descriptor is not None:
        return (_described_design(request),)
    chosen = dataflows(request.nest) if request.dataflow is None else (find_dataflow(request.nest, request.dataflow),)
    orders = permutations(request.nest) if request.permutation is None else (request.permutation,)
    loop_order(request.nest, orders[0])  # refuses an unknown permutation
    found = tuple(derive(request.nest, dataflow, order, request.edition) for dataflow in chosen for order in orders)
    kept = tuple(a for a in found if a.buildable or request.include_unbuildable)
    if not kept:
        names = "; ".join(f"{a.name}: {a.obstacle}" for a in found[:1])
        raise InputError(f"no buildable design is left ({names}); allowed: --include-unbuildable")
    return kept


def _described_design(request: Request) -> SystolicArray:
    from ithaca.formulations.descriptors import load_descriptor

    assert request.descriptor is not None
    if request.edition is not Edition.ODYSSEY:
        raise InputError(
            "--descriptor: published descriptions carry the omissions of --edition odyssey; allowed: that edition only"
        )
    array = load_descriptor(request.descriptor, request.nest)
    for option, asked, found in (
        ("--dataflow", request.dataflow and set(request.dataflow), set(array.dataflow)),
        ("--permutation", request.permutation, array.permutation),
    ):
        if asked is not None and asked != found:
            raise InputError(f"{option} does not match the descriptor, which describes {array.name}")
    return array


def problems(request: Request) -> tuple[Problem, ...]:
    """One problem per requested design."""
    bounds = {name: r.limit for name, r in request.platform.resources.items() if name in METRICS} | dict(request.limits)
    limits = tuple(Limit(name, bound) for name, bound in bounds.items())
    return tuple(
        Problem(request.nest, array, request.data, limits, request.objective, request.space, request.platform.technology)
        for array in requested_designs(request)
    )


def run(
    request: Request,
    options: SolveOptions,
    threads: int,
    start: Mapping[tuple[str, ...], Tiling],
    method: Method = Method.AUTO,
    prove_again_with: Method | None = None,
) -> Result:
    """Solve every requested design; Ctrl-C ends with what is known.

    Parameters
    ----------
    request : Request
        What to solve.
    options : SolveOptions
        How far.
    threads : int
        How many designs at a time.
    start : mapping
        Known tilings by dataflow and permutation, ``(*dataflow, permutation)``.
    method : Method
        The engine.
    prove_again_with : Method or None
        A second engine that is asked for the same proofs.

    Raises
    ------
    DisagreementError
        If the two engines contradict each other.
    """
    asked = problems(request)
    starts = [start.get((*p.array.dataflow, p.array.permutation)) for p in asked]
    with Interrupt() as interrupt, ProgressLine([p.array.name for p in asked]) as line:
        bounded = SolveOptions(options.time_limit, options.gap, interrupt)
        solutions = solve_designs(
            asked, bounded, method=method, threads=threads, starts=starts, report=line.report, finished=line.finished
        )
        if prove_again_with is not None:
            solutions = tuple(prove_again(s, prove_again_with, bounded) for s in solutions)
    return Result(
        nest=request.nest,
        data=request.data,
        platform_name=request.platform.name,
        technology=request.platform.technology,
        limits=asked[0].limits,
        edition=request.edition,
        objective_text=request.objective.text,
        space=request.space,
        best=best_solution(solutions),
        designs=solutions,
    )
