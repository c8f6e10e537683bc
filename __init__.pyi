"""What `ithaca` offers those who check types, by `tests/test_python_signatures.py`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ithaca import refine as refine
from ithaca.commands.api.grids import Grid as Grid
from ithaca.commands.api.lists import list_networks as list_networks
from ithaca.commands.api.lists import list_platforms as list_platforms
from ithaca.commands.api.lists import list_workloads as list_workloads
from ithaca.commands.api.live_line import SearchProgress as SearchProgress
from ithaca.commands.api.points import EvaluatedPoints
from ithaca.commands.systolic.points import Points as Points
from ithaca.exports.programs.solved import SolvedModel
from ithaca.files.answer import Answer, Check, Wrote
from ithaca.files.answer import Verification as Verification
from ithaca.files.answer import Words as Words
from ithaca.files.errors import DisagreementError as DisagreementError
from ithaca.files.errors import InputError as InputError
from ithaca.files.errors import NothingFoundError as NothingFoundError
from ithaca.formulations.data_types import DataType
from ithaca.formulations.goals import Objective
from ithaca.formulations.platform import Platform as Platform
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.plugins.codesign.commands.spaces import list_spaces as list_spaces
from ithaca.plugins.codesign.commands.study import CodesignStudy as CodesignStudy
from ithaca.plugins.codesign.formulations.space import HardwareSpace as HardwareSpace
from ithaca.plugins.codesign.studies.result import CodesignResult as CodesignResult
from ithaca.plugins.cpsat.solver.from_pyomo import solve_pyomo as solve_pyomo
from ithaca.plugins.flow.commands import list_graphs as list_graphs
from ithaca.plugins.hierarchies.commands.layers import MappedLayers
from ithaca.plugins.hierarchies.commands.lists import list_architectures as list_architectures
from ithaca.plugins.hierarchies.commands.matching import Matches as Matches
from ithaca.plugins.hierarchies.formulations.architecture import Architecture as Architecture
from ithaca.plugins.rtl.commands.building import Build as Build
from ithaca.plugins.rtl.commands.building import NetworkBuild
from ithaca.plugins.rtl.formulations.compared import Simulation as Simulation
from ithaca.plugins.unrolling.commands.unrolling import Unrolling
from ithaca.solver.certificate import Certificate as Certificate
from ithaca.solver.certificate import Status as Status
from ithaca.solver.result import Result as Result
from ithaca.solver.solution import Solution as Solution
from ithaca.studies.front import Front as Front
from ithaca.studies.grid import StudyAxis
from ithaca.studies.network.front import NetworkFront as NetworkFront
from ithaca.studies.network.result import NetworkResult as NetworkResult
from ithaca.studies.network.study import NetworkStudy as NetworkStudy
from ithaca.studies.whatif import Study as Study
from ithaca.workloads.nest import LoopNest as LoopNest
from ithaca.workloads.networks.network import Network as Network

__version__: str

__all__ = [
    "Architecture",
    "Build",
    "Certificate",
    "CodesignResult",
    "CodesignStudy",
    "DisagreementError",
    "Front",
    "Grid",
    "HardwareSpace",
    "InputError",
    "LoopNest",
    "Matches",
    "Network",
    "NetworkFront",
    "NetworkResult",
    "NetworkStudy",
    "NothingFoundError",
    "Platform",
    "Points",
    "Result",
    "SearchProgress",
    "Simulation",
    "Solution",
    "Status",
    "Study",
    "Verification",
    "Words",
    "__version__",
    "build",
    "calibrate",
    "codesign",
    "estimate",
    "evaluate",
    "explain",
    "export",
    "grid",
    "list_architectures",
    "list_designs",
    "list_graphs",
    "list_networks",
    "list_platforms",
    "list_spaces",
    "list_workloads",
    "load",
    "map",
    "match",
    "model",
    "nest",
    "network",
    "pareto",
    "programs",
    "refine",
    "report",
    "seed",
    "simulate",
    "solve",
    "solve_pyomo",
    "timeloop_mapper",
    "unroll",
    "verify",
    "whatif",
]

def build(
    folder: str | Path,
    *,
    stalls: int | None = None,
    vcd: str | Path | None = None,
    memory: Mapping[str, int] | Sequence[str] | None = None,
    synthesize: bool = False,
    block_ram: bool = False,
    trust: bool = False,
    time_limit: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Build | NetworkBuild:
    """Simulate exported hardware by Verilator or Icarus Verilog, and synthesize it by Yosys; of a
    network that of every layer, one after the other."""

def calibrate(
    reports: str | Path,
    output: str | Path,
    *,
    platform: str | Path = "u250",
    total: Mapping[str, int] | list[str] | None = None,
    workload: str | None = None,
    dtype: str | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
) -> Wrote:
    """Fit look-up tables and flip-flops of a platform to synthesis reports."""

def codesign(
    space: str | PathLike[str] | HardwareSpace | Mapping[str, Any],
    workloads: str
    | LoopNest
    | Network
    | Sequence[str | LoopNest | Network]
    | Mapping[Any, float | str]
    | None = None,
    *,
    workload: str
    | LoopNest
    | Network
    | Sequence[str | LoopNest | Network]
    | Mapping[Any, float | str]
    | None = None,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    layers: Sequence[str] | None = None,
    objective: str | None = None,
    objectives: str | Sequence[str] | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    divisors_only: bool = False,
    fuse: bool = False,
    vary: Mapping[str, Sequence[Any]] | Sequence[str] | None = None,
    method: str = "proof",
    trials: int | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    gap: float = 0,
    seed: int = 0,
    scheduler: str | None = None,
    results: str | Path | None = None,
    recheck: int | str | None = None,
    trust_results: bool = False,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> CodesignResult | CodesignStudy | NetworkResult | NetworkStudy:
    """Choose an accelerator and every layer's mapping together, and prove that no other of the
    space is better."""

def estimate(
    arch: str | Path,
    output: str | Path | None = None,
    *,
    components: Sequence[str | Path] | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
) -> Wrote:
    """Estimate the energies of an architecture's components, and write them as a table (ERT)."""

def evaluate(
    source: str | PathLike[str] | LoopNest | Answer | Mapping[str, Any] | object | None = None,
    *,
    layer: str | None = None,
    points: str
    | Path
    | Result
    | Mapping[str, Any]
    | Iterable[Mapping[str, Any]]
    | SolvedModel
    | None = None,
    dtype: str | DataType | None = None,
    edition: str | None = None,
    arch: str | Path | None = None,
    sums: str | None = None,
    platform: str | PathLike[str] | Platform | None = None,
    accumulator: int | None = None,
    compare: str | PathLike[str] | None = None,
    time_limit: float | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> EvaluatedPoints:
    """Compute all metrics of given configurations afresh, by the exact reference."""

def explain(
    result: str | Path | Answer,
    *,
    layer: str | None = None,
    design: str | None = None,
    quick: bool = False,
    time_limit: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Words:
    """Explain a result: what limits it, what it could reach, and what to change first."""

def export(
    result: str | Path | Answer,
    to: str,
    output: str | Path,
    *,
    nearest: bool = False,
    layer: str | None = None,
    time_limit: float | None = None,
    target: str | None = None,
    accumulator: int | None = None,
    memory: str | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Wrote:
    """Export the best configuration of a result for another tool, or those of a network's layers,
    each to a folder in it; or as hardware that `ithaca.build` runs."""

def grid(
    result: str | Path | Answer,
    *,
    layer: str | None = None,
    around: int | str | None = None,
    loops: str | Sequence[str] | None = None,
    free_packs: bool = False,
    time_limit: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Grid:
    """Evaluate the cost model exactly around the best configuration of a result."""

def list_designs(
    workload: str | PathLike[str] | LoopNest,
    *,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    edition: str = "exact",
    dtype: str | DataType = "fp32",
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    **extents: int,
) -> tuple[SystolicDesign, ...]:
    """Every design of a workload, buildable or not: a dataflow and a permutation."""

def load(
    path: str | Path,
    *,
    layer: str | None = None,
) -> Result | NetworkResult | Front | Study | Answer:
    """Read a result, and check it against the model: of a workload, a network, a co-design, or a
    layer of one; a front, a what-if study, matches, a simulation, or mapped layers."""

def map(
    workload: str | PathLike[str] | LoopNest | None = None,
    *,
    problem: str | PathLike[str] | LoopNest | None = None,
    problems: str | PathLike[str] | None = None,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    format: dict[str, str] | Sequence[str] | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    edition: str = "timeloop",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    divisors_only: bool = False,
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    objective: str | Objective = "edp",
    method: str = "auto",
    prove_with: str | Sequence[str] | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    gap: float = 0,
    seed: int = 0,
    start: str
    | Path
    | Result
    | Mapping[str, Any]
    | Iterable[Mapping[str, Any]]
    | SolvedModel
    | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
    **extents: int,
) -> Result | MappedLayers:
    """Find the best mapping of a problem, or of every layer of a file, onto a memory hierarchy, and
    prove it."""

def match(
    workload: str | PathLike[str] | LoopNest,
    *,
    intrinsic: str = "gemm",
    intrinsic_sizes: Mapping[str, int] | Sequence[str] | None = None,
    tile: Mapping[str, int] | Sequence[str] | None = None,
    partial: bool = False,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    **extents: int,
) -> Matches:
    """List every legal way to run a workload on an intrinsic."""

def model(
    workload: str | PathLike[str] | LoopNest,
    *,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    platform: str | PathLike[str] | Platform = "u250",
    dtype: str | DataType = "fp32",
    format: dict[str, str] | Sequence[str] | None = None,
    accumulator: int | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    dataflow: str | Sequence[str] | None = None,
    permutation: str | None = None,
    edition: str | None = None,
    include_unbuildable: bool = False,
    untiled: str | Sequence[str] | None = None,
    simd: str | None = None,
    block_sparse: str | None = None,
    min_lanes: int = 1,
    divisors_only: bool = False,
    ports: int | None = None,
    no_host_serialize: bool = False,
    uram: bool = False,
    two_level: bool = False,
    double_buffer: str | Sequence[str] | None = None,
    regime: str | None = None,
    sums: str | None = None,
    target: str | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    objective: str | Objective = "latency",
    linear: bool = False,
    relaxed: bool = False,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    **extents: int,
) -> Any:
    """Make the program of a design as a Pyomo model: its quantities as integer variables, metrics
    as expressions, limits as constraints."""

def nest(
    statement: str,
    *,
    name: str | None = None,
    untiled: Sequence[str] | None = None,
    simd: str | None = None,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    **extents: int,
) -> LoopNest:
    """Make a loop nest of a statement; names that only multiply loops, such as a stride, are
    parameters."""

def network(
    name: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    sizes: dict[str, int] | Sequence[str] | None = None,
    weights: str | Sequence[int] | None = None,
    phase: str | None = None,
    batch: int | None = None,
    tokens: int | None = None,
    context: int | None = None,
    experts: str | None = None,
    elementwise: bool = False,
    layers: Sequence[str] | None = None,
    mode: str = "per-layer",
    arrays: int | None = None,
    minimise: str | None = None,
    fuse: bool = False,
    all_designs: bool = False,
    platform: str | PathLike[str] | Platform = "u250",
    dtype: str | DataType = "fp32",
    format: dict[str, str] | Sequence[str] | None = None,
    accumulator: int | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    dataflow: str | Sequence[str] | None = None,
    permutation: str | None = None,
    edition: str | None = None,
    include_unbuildable: bool = False,
    untiled: str | Sequence[str] | None = None,
    simd: str | None = None,
    block_sparse: str | None = None,
    min_lanes: int = 1,
    divisors_only: bool = False,
    ports: int | None = None,
    no_host_serialize: bool = False,
    uram: bool = False,
    two_level: bool = False,
    double_buffer: str | Sequence[str] | None = None,
    regime: str | None = None,
    sums: str | None = None,
    target: str | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    objective: str | Objective = "latency",
    method: str | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    gap: float = 0,
    seed: int = 0,
    scheduler: str | None = None,
    results: str | Path | None = None,
    recheck: int | str | None = None,
    trust_results: bool = False,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
    **parameters: int,
) -> NetworkResult:
    """Solve all layers of a network, alone or together, and prove the total."""

def pareto(
    workload: str | PathLike[str] | LoopNest,
    *,
    objectives: str | Sequence[str | Objective],
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    platform: str | PathLike[str] | Platform = "u250",
    dtype: str | DataType = "fp32",
    format: dict[str, str] | Sequence[str] | None = None,
    accumulator: int | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    dataflow: str | Sequence[str] | None = None,
    permutation: str | None = None,
    edition: str | None = None,
    include_unbuildable: bool = False,
    untiled: str | Sequence[str] | None = None,
    simd: str | None = None,
    block_sparse: str | None = None,
    min_lanes: int = 1,
    divisors_only: bool = False,
    ports: int | None = None,
    no_host_serialize: bool = False,
    uram: bool = False,
    two_level: bool = False,
    double_buffer: str | Sequence[str] | None = None,
    regime: str | None = None,
    sums: str | None = None,
    target: str | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    method: str = "exact",
    time_limit: float | None = None,
    threads: int = 1,
    max_points: int | None = None,
    phase: str | None = None,
    batch: int | None = None,
    tokens: int | None = None,
    context: int | None = None,
    experts: str | None = None,
    elementwise: bool = False,
    layers: Sequence[str] | None = None,
    mode: str = "per-layer",
    arrays: int | None = None,
    minimise: str | None = None,
    fuse: bool = False,
    results: str | Path | None = None,
    recheck: int | str | None = None,
    trust_results: bool = False,
    before: Callable[[Sequence[Objective]], None] | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
    **extents: int,
) -> Front | NetworkFront:
    """Compute the Pareto front of several objectives, every point proven."""

def programs(
    workload: str | PathLike[str] | LoopNest,
    to: str,
    output: str | Path,
    *,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    platform: str | PathLike[str] | Platform = "u250",
    dtype: str | DataType = "fp32",
    format: dict[str, str] | Sequence[str] | None = None,
    accumulator: int | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    dataflow: str | Sequence[str] | None = None,
    permutation: str | None = None,
    edition: str | None = None,
    include_unbuildable: bool = False,
    untiled: str | Sequence[str] | None = None,
    simd: str | None = None,
    block_sparse: str | None = None,
    min_lanes: int = 1,
    divisors_only: bool = False,
    ports: int | None = None,
    no_host_serialize: bool = False,
    uram: bool = False,
    two_level: bool = False,
    double_buffer: str | Sequence[str] | None = None,
    regime: str | None = None,
    sums: str | None = None,
    target: str | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    objective: str | Objective = "latency",
    time_limit: float | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
    **extents: int,
) -> Wrote:
    """Write the programs of all designs of a question, unsolved, each to a folder of its own."""

def report(
    result: str | Path | Answer,
    output: str | Path,
    *,
    layer: str | None = None,
    around: int = 10,
    quick: bool = False,
    time_limit: float = 60,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Wrote:
    """Report a result as one self-contained page: the answer, its proof, what limits it, the array
    drawn."""

def seed(
    source: str | PathLike[str] | LoopNest | Result | NetworkResult,
    to: str,
    output: str | Path | None = None,
    *,
    layer: str | None = None,
    count: int = 10,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    platform: str | PathLike[str] | Platform = "u250",
    dtype: str | DataType = "fp32",
    format: dict[str, str] | Sequence[str] | None = None,
    accumulator: int | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    dataflow: str | Sequence[str] | None = None,
    permutation: str | None = None,
    edition: str | None = None,
    include_unbuildable: bool = False,
    untiled: str | Sequence[str] | None = None,
    simd: str | None = None,
    block_sparse: str | None = None,
    min_lanes: int = 1,
    divisors_only: bool = False,
    ports: int | None = None,
    no_host_serialize: bool = False,
    uram: bool = False,
    two_level: bool = False,
    double_buffer: str | Sequence[str] | None = None,
    regime: str | None = None,
    sums: str | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    objective: str | Objective = "latency",
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
    **extents: int,
) -> Any:
    """Find diverse, feasible configurations, a start population for another search tool."""

def simulate(
    source: str | Path | Result,
    *,
    layer: str | None = None,
    design: str | None = None,
    regime: str | None = None,
    param: Mapping[str, int] | Sequence[str] | None = None,
    fifo_depth: int | None = None,
    memory: Mapping[str, int] | Sequence[str] | None = None,
    sums: str | None = None,
    check_values: bool = False,
    time_limit: float | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Simulation | Answer:
    """Run the best configuration of a result, every word of it, and say where the time went."""

def solve(
    workload: str | PathLike[str] | LoopNest,
    *,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    platform: str | PathLike[str] | Platform = "u250",
    dtype: str | DataType = "fp32",
    format: dict[str, str] | Sequence[str] | None = None,
    accumulator: int | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    dataflow: str | Sequence[str] | None = None,
    permutation: str | None = None,
    edition: str | None = None,
    include_unbuildable: bool = False,
    untiled: str | Sequence[str] | None = None,
    simd: str | None = None,
    block_sparse: str | None = None,
    min_lanes: int = 1,
    divisors_only: bool = False,
    ports: int | None = None,
    no_host_serialize: bool = False,
    uram: bool = False,
    two_level: bool = False,
    double_buffer: str | Sequence[str] | None = None,
    regime: str | None = None,
    sums: str | None = None,
    target: str | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    descriptor: str | Path | None = None,
    objective: str | Objective = "latency",
    method: str = "auto",
    prove_with: str | Sequence[str] | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    gap: float = 0,
    seed: int = 0,
    scheduler: str | None = None,
    start: str
    | Path
    | Result
    | Mapping[str, Any]
    | Iterable[Mapping[str, Any]]
    | SolvedModel
    | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
    **extents: int,
) -> Result:
    """Find the best configuration of a workload, and prove it."""

def timeloop_mapper(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    objective: str | Objective | None = None,
    output: str | PathLike[str] = ".",
    time_limit: float | None = None,
    threads: int = 1,
    gap: float = 0,
    seed: int = 0,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Result:
    """Do what Timeloop's mapper does with its files, and prove it: factors divide extents, levels
    keep what constraints leave open or not, and the mapper's metrics are minimised in order."""

def unroll(
    network: str | PathLike[str],
    *,
    folding: str | Path | None = None,
    to: str | None = None,
    objective: str = "interval,multipliers",
    limit: Mapping[str, float | str] | Sequence[str] | None = None,
    weight_bits: int | None = None,
    layers: Sequence[str] | None = None,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    output: str | Path | None = None,
    time_limit: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Unrolling:
    """Prove how far to unroll each layer of a pipeline, as FINN and hls4ml build them."""

def verify(
    result: str | Path | Answer,
    *,
    layer: str | None = None,
    time_limit: float | None = None,
    hear: Callable[[Check], None] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Verification:
    """Check a result anew: every value by the exact reference, every proof by another engine."""

def whatif(
    workload: str | PathLike[str] | LoopNest,
    *,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    vary: Mapping[str, Sequence[Any]] | Sequence[str] | None = None,
    marginal: float | None = None,
    price: Mapping[str, float] | Sequence[str] | None = None,
    phase: str | None = None,
    batch: int | None = None,
    tokens: int | None = None,
    context: int | None = None,
    experts: str | None = None,
    elementwise: bool = False,
    layers: Sequence[str] | None = None,
    mode: str = "per-layer",
    arrays: int | None = None,
    minimise: str | None = None,
    fuse: bool = False,
    platform: str | PathLike[str] | Platform = "u250",
    dtype: str | DataType = "fp32",
    format: dict[str, str] | Sequence[str] | None = None,
    accumulator: int | None = None,
    limit: Mapping[str, float | str | None] | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
    metric: Mapping[str, str] | Sequence[str] | None = None,
    dataflow: str | Sequence[str] | None = None,
    permutation: str | None = None,
    edition: str | None = None,
    include_unbuildable: bool = False,
    untiled: str | Sequence[str] | None = None,
    simd: str | None = None,
    block_sparse: str | None = None,
    min_lanes: int = 1,
    divisors_only: bool = False,
    ports: int | None = None,
    no_host_serialize: bool = False,
    uram: bool = False,
    two_level: bool = False,
    double_buffer: str | Sequence[str] | None = None,
    regime: str | None = None,
    sums: str | None = None,
    target: str | None = None,
    arch: str | PathLike[str] | Architecture | None = None,
    constraints: str | Path | None = None,
    bypass: str = "fixed",
    fanout: str = "mesh",
    nodes: str = "free",
    drains: str = "charged",
    off_chip: str = "free",
    remainders: bool = False,
    strict: bool = False,
    explain_files: bool = False,
    objective: str | Objective = "latency",
    method: str | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    gap: float = 0,
    seed: int = 0,
    results: str | Path | None = None,
    recheck: int | str | None = None,
    trust_results: bool = False,
    before: Callable[[Sequence[StudyAxis]], None] | None = None,
    include_from: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
    **extents: int,
) -> Study | NetworkStudy:
    """Prove the best configuration over sizes, limits, platforms and so on."""
