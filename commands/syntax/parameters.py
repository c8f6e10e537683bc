"""Every argument and option of the command line, declared once.

A command lists those it has in its signature, with its default. Where two commands say the same
thing of an option but one must know whether it was given, they share the declaration and
differ in its type (``str | None``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

# -- the problem -------------------------------------------------------------------------

Workload = Annotated[str, Argument(help="Name of a loop nest (ithaca list workloads).")]
Sizes = Annotated[list[str] | None, Option("--sizes", "-s", help="Extents, e.g. i=1024,j=1024,k=1024.")]

_platform = Option("--platform", help="Name of a platform, or a path to a file of your own.")
Platform = Annotated[str, _platform]
GivenPlatform = Annotated[str | None, _platform]
FixedPlatform = Annotated[str | None, Option("--platform", help="Name of a platform, or a path; default: u250.")]

_dtype = Option("--dtype", help="fp32, int16 or int8.")
DType = Annotated[str, _dtype]
GivenDType = Annotated[str | None, _dtype]
FixedDType = Annotated[str | None, Option("--dtype", help="fp32 (default), int16 or int8.")]

Limits = Annotated[
    list[str] | None,
    Option("--limit", help="Upper limits, e.g. dsp=8601,latency*dsp<=1e9; they replace the platform's."),
]
StudyLimits = Annotated[list[str] | None, Option("--limit", help="Upper limits, e.g. dsp=8601; they replace the platform's.")]
SeedLimits = Annotated[list[str] | None, Option("--limit", help="Upper limits, as in solve.")]

Dataflow = Annotated[str | None, Option("--dataflow", help="Loops mapped to space, e.g. i,j; default: all.")]
SeedDataflow = Annotated[str | None, Option("--dataflow", help="Loops mapped to space, e.g. i,j; default: the best.")]
Permutation = Annotated[str | None, Option("--permutation", help="Array whose reuse loops are innermost; default: all.")]
SeedPermutation = Annotated[
    str | None, Option("--permutation", help="Array whose reuse loops are innermost; default: the best.")
]

Edition = Annotated[str, Option("--edition", help="exact, or odyssey: the published estimator to the digit.")]
GivenEdition = Annotated[str | None, Option("--edition", help="exact or odyssey.")]
FixedEdition = Annotated[str | None, Option("--edition", help="exact (default) or odyssey.")]
Descriptor = Annotated[Path | None, Option("--descriptor", help="Published design description (JSON) to solve.")]

_objective = Option("--objective", help="What to minimise: an expression over metrics.")
Objective = Annotated[str, _objective]
GivenObjective = Annotated[str | None, _objective]
FixedObjective = Annotated[str | None, Option("--objective", help="What to minimise; default: latency.")]
Objectives = Annotated[str, Option("--objectives", help="What to minimise: two or more expressions, e.g. latency,dsp.")]

IncludeUnbuildable = Annotated[bool, Option("--include-unbuildable", help="Consider designs that HLS cannot build, too.")]
_min_lanes = Option("--min-lanes", metavar="N", help="Fewest PEs along each space loop.")
MinLanes = Annotated[str, _min_lanes]
GivenMinLanes = Annotated[str | None, _min_lanes]
DivisorsOnly = Annotated[
    bool, Option("--divisors-only", help="Let array partitioning factors divide the extents (no padding).")
]

# -- the search --------------------------------------------------------------------------

Method = Annotated[str, Option("--method", help="auto, exact, cpsat, gp, nlp or evolve.")]
ProvingMethod = Annotated[str, Option("--method", help="auto, exact or cpsat.")]
ProveWith = Annotated[
    str | None, Option("--prove-with", metavar="A,B", help="Two engines to prove with, e.g. exact,cpsat; they must agree.")
]
TimeLimit = Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for all designs together.")]
StudyTimeLimit = Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for the whole study.")]
FrontTimeLimit = Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for the whole front.")]
ReportTimeLimit = Annotated[
    str | None, Option("--time-limit", metavar="S", help="Seconds for finding what to change first; default: 60.")
]
DesignTimeLimit = Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for each design.")]
SeedTimeLimit = Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for solving a workload first.")]
Gap = Annotated[str, Option("--gap", metavar="G", help="Relative gap at which a design counts as done; 0 asks for a proof.")]
PointGap = Annotated[str, Option("--gap", metavar="G", help="Relative gap at which a point counts as done.")]
_threads = Option("--threads", metavar="N", help="Designs solved at a time.")
Threads = Annotated[str, _threads]
GivenThreads = Annotated[str | None, _threads]
Start = Annotated[Path | None, Option("--start", help="A result whose configurations to improve on.")]
Seed = Annotated[str, Option("--seed", metavar="N", help="Seed of randomised methods; the exact engine needs none.")]
Samples = Annotated[str | None, Option("--samples", metavar="N", help="Configurations to evaluate at most, for each design.")]
RandomSeed = Annotated[str, Option("--seed", metavar="N", help="Seed of the random numbers.")]

# -- studies -----------------------------------------------------------------------------

Vary = Annotated[
    list[str] | None,
    Option(
        "--vary",
        help="What to vary: a size (i=256,512), a limit (dsp=2000,4000), platform, dtype, edition, objective, "
        "permutation (A,C) or dataflow (i,j:i,k). Several make a grid.",
    ),
]
Marginal = Annotated[
    str | None, Option("--marginal", metavar="PERCENT", help="Prove what each limit is worth, raised by so much.")
]
MaxPoints = Annotated[str | None, Option("--max-points", metavar="N", help="End after so many points.")]
Results = Annotated[
    Path | None, Option("--results", metavar="DIR", help="Folder to keep results in; what it holds is not solved again.")
]
StudyPlot = Annotated[Path | None, Option("--plot", help="Plot to .png, .svg, .pdf or .html (one or two --vary).")]
FrontPlot = Annotated[Path | None, Option("--plot", help="Plot to .png, .svg, .pdf or .html (two or three objectives).")]

# -- networks ----------------------------------------------------------------------------

NetworkName = Annotated[
    str, Argument(metavar="NAME|FILE", help="A network that comes with Ithaca, or a file: .yaml, or a model as .onnx.")
]
NetworkSizes = Annotated[list[str] | None, Option("--sizes", "-s", help="Parameters of the network, e.g. batch=1,image=224.")]
Layers = Annotated[
    list[str] | None,
    Option(
        "--layers", metavar="PATTERN", help="Only layers of this name or kernel, e.g. conv2d or 'conv3_*'; may be repeated."
    ),
]
Mode = Annotated[str, Option("--mode", help="What layers share: per-layer, shared-dataflow, shared-array or multi-array.")]
Arrays = Annotated[str | None, Option("--arrays", metavar="N", help="How many arrays share the budget.")]
Minimise = Annotated[str | None, Option("--minimise", help="Of several arrays: slowest, or total.")]
NetworkMethod = Annotated[str, Option("--method", help="exact (finds the same in every run), auto, cpsat, gp, nlp or evolve.")]
NetworkTimeLimit = Annotated[
    str | None,
    Option("--time-limit", metavar="S", help="Seconds for the whole network; problems get equal shares of what is left."),
]
ProblemGap = Annotated[
    str, Option("--gap", metavar="G", help="Relative gap at which a problem counts as done; 0 asks for a proof.")
]
NetworkThreads = Annotated[
    str, Option("--threads", metavar="N", help="Problems solved at a time, beyond 1 in processes of their own.")
]
Scheduler = Annotated[
    str | None,
    Option("--scheduler", metavar="ADDRESS", help="Dask scheduler to solve on, e.g. tcp://host:8786; local starts one here."),
]
NetworkTable = Annotated[Path | None, Option("--table", metavar="FILE", help="Write a table of the layers (CSV) to this file.")]

# -- grids -------------------------------------------------------------------------------

Around = Annotated[
    str | None, Option("--around", metavar="N", help="Only factors at most N from the result's; default: full ranges.")
]
GridLoops = Annotated[
    str | None, Option("--loops", help="Loops whose factors vary, e.g. i,j; default: all. The others keep the result's.")
]
FreePacks = Annotated[bool, Option("--free-packs", help="Vary the data packing factors, too (all legal values).")]
GridPlot = Annotated[
    Path | None, Option("--plot", help="Heat map of two factors to .png, .svg, .pdf or .html; needs --x and --y.")
]
PlotX = Annotated[str | None, Option("--x", metavar="FACTOR", help="Factor to the right, e.g. t2.i, lanes.i or pack.A.")]
PlotY = Annotated[str | None, Option("--y", metavar="FACTOR", help="Factor upwards.")]
PlotMetric = Annotated[
    str | None, Option("--metric", help="Metric to show of the best design with each pair; default: latency.")
]
ReportAround = Annotated[
    str, Option("--around", metavar="N", help="In the landscape, only factors at most N from the result's.")
]
GridOutput = Annotated[Path | None, Option("-o", "--output", help="Write the grid as NetCDF (.nc).")]

# -- experiments -------------------------------------------------------------------------

ExperimentName = Annotated[
    str | None, Argument(metavar="[NAME]", help="Name of an experiment, or all; without it they are listed.")
]
ListExperiments = Annotated[bool, Option("--list", help="List the experiments and what the paper says of each.")]
QuickMode = Annotated[bool, Option("--quick", help="Small sizes and budgets (default): a minute at most for each.")]
FullMode = Annotated[bool, Option("--full", help="The paper's sizes and budgets; some take hours.")]
ExperimentThreads = Annotated[
    str | None, Option("--threads", metavar="N", help="Runs at a time, where an experiment has many; default: 1.")
]
ExperimentSeed = Annotated[str | None, Option("--seed", metavar="N", help="Seed of the random numbers; default: 0.")]
RunSeconds = Annotated[
    str | None,
    Option(
        "--run-seconds",
        metavar="S",
        help="Seconds of each run of a method (figures 7 and 8), of each search for several arrays (table 6, figure 15).",
    ),
]
ExperimentOutput = Annotated[
    Path | None, Option("-o", "--output", metavar="FOLDER", help="Folder to write; default: ithaca-experiments.")
]

# -- files -------------------------------------------------------------------------------

ResultFile = Annotated[Path, Argument(help="A result as written by solve -o.")]
ResultOrWorkload = Annotated[
    str, Argument(metavar="RESULT|WORKLOAD", help="A result of solve -o (JSON), or a loop nest to solve.")
]
Design = Annotated[
    str | None, Option("--design", metavar="'LOOPS ARRAY'", help="Dataflow and permutation, e.g. 'i,j C'; default: the best.")
]
Quick = Annotated[bool, Option("--quick", help="Leave out what has to be solved again.")]
Points = Annotated[Path, Option("--points", help="CSV with one configuration a row, or a result of solve -o (JSON).")]
Target = Annotated[str, Option("--to", help="Target: autosa, timeloop or scalesim.")]
Nearest = Annotated[bool, Option("--nearest", help="Export the best configuration that the target can take instead.")]
Tool = Annotated[str, Option("--for", metavar="TOOL", help="optuna, pymoo, nevergrad, opentuner, odyssey or csv.")]
Count = Annotated[str, Option("--count", metavar="N", help="How many seeds.")]
AsJson = Annotated[bool, Option("--json", help="Print one JSON document on stdout.")]
Output = Annotated[Path | None, Option("-o", "--output", help="Write the result (JSON) to this file.")]
StudyOutput = Annotated[Path | None, Option("-o", "--output", help="Write the study as NetCDF (.nc).")]
FrontOutput = Annotated[Path | None, Option("-o", "--output", help="Write the front as NetCDF (.nc).")]
ExportOutput = Annotated[Path, Option("-o", "--output", help="Folder to write.")]
ReportOutput = Annotated[Path, Option("-o", "--output", help="Page to write (HTML).")]
SeedOutput = Annotated[Path, Option("-o", "--output", help="File to write; for opentuner a folder.")]
