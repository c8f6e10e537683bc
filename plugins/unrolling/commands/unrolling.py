"""`ithaca.unroll`: the best folding of a pipeline of layers, and the one that a file states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.options import LayerPatterns, TimeLimit
from ithaca.commands.api.outputs import WRITTEN_FILE
from ithaca.commands.api.parsing import parse_search
from ithaca.files.answer import Answer
from ithaca.files.csv_text import csv_text
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import counted, json_ready, number
from ithaca.files.words import REPEATED, parse_choice, parse_counts, parse_integer, several
from ithaca.files.writing import SCHEMA, write_text_atomically
from ithaca.formulations.algebra.number_systems import FRACTION, exactly
from ithaca.formulations.goals import read_limited
from ithaca.formulations.limits import parse_limits
from ithaca.formulations.problem import Limit, Problem, read_objective
from ithaca.plugins.unrolling.formulations.files import configuration_document, read_folding
from ithaca.plugins.unrolling.formulations.folding import Folding, freedoms_of
from ithaca.plugins.unrolling.formulations.hls4ml import is_hls4ml, model_of
from ithaca.plugins.unrolling.formulations.layers import INTERVAL, weight_layers
from ithaca.plugins.unrolling.formulations.pipeline import (
    BLOCKS,
    METRICS,
    MULTIPLIERS,
    Pipeline,
    Unrolled,
)
from ithaca.results.view import Block, Fact, View, tabled
from ithaca.results.wording import proof_text
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.solution import Solution
from ithaca.studies.network.problems import only_layers
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.share import Share

if TYPE_CHECKING:
    import xarray as xr

TOOLS = ("finn", "hls4ml")


@dataclass(frozen=True, repr=False)
class Unrolling(Answer):
    """The best folding of a network's layers, beside the one that a file states."""

    network: str
    """The network's name."""
    tool: str
    """The tool that builds the pipeline."""
    solution: Solution = field(repr=False)
    """The best folding, with its proof."""
    share: Share = field(repr=False)
    """The share of the network's multiply-accumulates that the pipeline's layers are."""
    folding: Folding | None = field(default=None, repr=False)
    """The folding of a file."""
    output: str = ""
    """The file that the best one was written to."""

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline of layers."""
        design = self.solution.problem.design
        assert isinstance(design, Pipeline)
        return design

    @property
    def best(self) -> tuple[Unrolled, ...] | None:
        """The best unrolling of each layer; None where no folding keeps to the limits."""
        known = self.solution.configuration
        return None if known is None else self.pipeline.unrolled(known)

    @property
    def stated_metrics(self) -> Mapping[str, Fraction]:
        """The metrics of the file's folding; empty without a file."""
        if self.folding is None:
            return {}
        own = self.pipeline.configuration(self.folding.unrolled)
        return self.pipeline.metrics(exactly(own), FRACTION)

    @property
    def headline(self) -> str:
        known = self.solution.value
        value = "no folding" if known is None else f"{self._objective} {number(known)}"
        layers = counted(len(self.pipeline.layers), "layer")
        return f"{self.network}: {layers}, {value}{self.share.words}"

    @property
    def _objective(self) -> str:
        return self.solution.problem.objective.words

    @property
    def failure(self) -> str:
        if self.solution.configuration is not None:
            return ""
        known = self.solution.certificate
        if known.termination is Termination.TIME_LIMIT:
            return "time was over before a folding was found; allow more time"
        if known.status is not Status.INFEASIBLE:
            return known.failure
        why = self.solution.explain()
        return "no folding keeps to the limits (infeasible)" + (f": {why}" if why else "")

    @property
    def view(self) -> View:
        return tuple(self._blocks())

    def _blocks(self) -> list[Block]:
        ends = (
            f"{len(self.pipeline.layers)} layers side by side, as {called(self.tool)} builds them"
        )
        blocks: list[Block] = [Fact("pipeline", f"{self.network}: {ends}")]
        if self.folding is not None:
            blocks.append(Fact("file", _metrics_text(self.stated_metrics)))
        if self.solution.configuration is not None:
            known = self.solution.metrics
            blocks.append(Fact("best", _metrics_text(known)))
            value = number(self.solution.value)
            proof = proof_text(self.solution.certificate, self._objective, self.share.words)
            blocks.append(Fact("objective", f"{self._objective} {value}  ({proof})"))
        elif (bound := self.solution.certificate.lower_bound) is not None:
            blocks.append(Fact("objective", f"{self._objective} at least {number(bound)}"))
        if not self.share.whole:
            blocks.append(Fact("counted", self.share.statement))
        for limit in self.solution.problem.limits:
            blocks.append(Fact("limit", f"{limit.metric} {number(limit.bound)}"))
        if self.output:
            blocks.append(Fact("written", self.output))
        blocks.append(tabled(self._rows(), {"layer", "file", "best"}))
        return blocks

    def _rows(self) -> list[list[tuple[str, str]]]:
        """The cells of each layer, as pairs of column and text."""
        rows = []
        columns = [
            (name, unrolled, self.pipeline.figures(self.pipeline.configuration(unrolled)))
            for name, unrolled in (
                ("file", self.folding and self.folding.unrolled),
                ("best", self.best),
            )
            if unrolled
        ]
        for place, layer in enumerate(self.pipeline.layers):
            row = [
                ("layer", layer.name),
                ("inputs", number(layer.inputs)),
                ("outputs", number(layer.outputs)),
                ("positions", number(layer.positions)),
            ]
            for name, unrolled, figures in columns:
                row += [
                    (name, words(unrolled[place], self.tool)),
                    (f"{name}: cycles", number(figures[place][INTERVAL])),
                ]
            rows.append(row)
        return rows

    @property
    def document(self) -> dict[str, Any]:
        known = self.solution.certificate
        fields = {
            "schema": SCHEMA,
            "study": "unroll",
            "network": self.network,
            "tool": self.tool,
            "complete": self.share.whole and known.status.proven,
            "status": known.status.value,
            "objective": self._objective,
            "value": json_ready(self.solution.value),
            "lower_bound": json_ready(known.lower_bound),
            "limits": {x.metric: json_ready(x.bound) for x in self.solution.problem.limits},
            "metrics": json_ready(dict(self.solution.metrics)),
            "counted": self.share.document,
            "layers": self._layer_documents(self.best),
        }
        if self.folding is not None:
            fields["file"] = {
                "metrics": json_ready(dict(self.stated_metrics)),
                "layers": self._layer_documents(self.folding.unrolled),
            }
        return fields

    def _layer_documents(self, unrolled: Sequence[Unrolled] | None) -> list[dict[str, Any]]:
        if unrolled is None:
            return []
        figures = self.pipeline.figures(self.pipeline.configuration(tuple(unrolled)))
        return [
            {"layer": layer.name, **_choice(each, self.tool), **json_ready(known)}
            for layer, each, known in zip(self.pipeline.layers, unrolled, figures, strict=True)
        ]

    @property
    def table(self) -> str:
        rows = self.document["layers"]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return csv_text(columns, ([row[name] for name in columns] for row in rows))

    @property
    def chart(self) -> Any:
        """The picture that `plot` draws: the cycles of each layer."""
        return self.made("chart")

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the pipeline, and to a .png, .svg, .pdf or .html file if one is named."""
        return self.drawn(self.chart, path)

    def to_xarray(self) -> xr.Dataset:
        """The choices and costs of the best folding, layer by layer; numbers are doubles."""
        import xarray as xr

        rows = self.document["layers"]
        columns = dict.fromkeys(name for row in rows for name in row if name != "layer")
        return xr.Dataset(
            {name: ("layer", [float(row[name]) for row in rows]) for name in columns},
            {"layer": [row["layer"] for row in rows]},
        )


def _choice(unrolled: Unrolled, tool: str) -> dict[str, int]:
    """The numbers that a tool's file states."""
    if tool == "hls4ml":
        return {"reuse": unrolled.reuse}
    return {"pe": unrolled.pe, "simd": unrolled.simd}


def called(tool: str) -> str:
    """The name that a tool gives itself."""
    return "FINN" if tool == "finn" else tool


def words(unrolled: Unrolled, tool: str) -> str:
    """The unrolling of a layer as a tool says it."""
    names = {"pe": "PE", "simd": "SIMD", "reuse": "reuse"}
    return ", ".join(f"{names[name]} {n:,}" for name, n in _choice(unrolled, tool).items())


def _metrics_text(metrics: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} {number(metrics[name])}" for name in METRICS if name in metrics)


@public
def unroll(
    network: Annotated[
        str | PathLike[str],
        Argument(
            metavar="NETWORK",
            help="A network by name, or its file; or a configuration of hls4ml that names an ONNX "
            "model.",
        ),
    ],
    *,
    folding: Annotated[
        str | Path | None,
        Option(
            "--folding",
            metavar="FILE",
            help="Folding of FINN (.json) or configuration of hls4ml (.yml): evaluated, and its "
            "resources are the limits.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        Option(
            "--to",
            metavar="finn|hls4ml",
            help="Tool that builds the pipeline, where no file says it. Default: finn.",
        ),
    ] = None,
    objective: Annotated[
        str,
        Option(
            "--objective",
            metavar="EXPR",
            help="Minimise interval, multipliers or bram18k, or one after the other.",
        ),
    ] = f"{INTERVAL},{MULTIPLIERS}",
    limit: Annotated[
        Mapping[str, float | str] | Sequence[str] | None,
        Option(
            "--limit",
            metavar="NAME=VALUE,...",
            help="Upper limits, e.g. multipliers=500,interval=1e5. Default: those of the file.",
        ),
        REPEATED,
    ] = None,
    weight_bits: Annotated[
        int | None,
        Option(
            "--weight-bits", metavar="N", help="Width of the weights in bits, to count bram18k."
        ),
    ] = None,
    layers: LayerPatterns = None,
    sizes: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option(
            "--sizes", "-s", metavar="NAME=N,...", help="Parameters of the network, e.g. image=32."
        ),
        REPEATED,
    ] = None,
    output: Annotated[
        str | Path | None,
        Option(
            "-o", "--output", metavar="FILE", help="Write the file of --folding with the best one."
        ),
        WRITTEN_FILE,
    ] = None,
    time_limit: TimeLimit = None,
) -> Unrolling:
    """Prove how far to unroll each layer of a pipeline, as FINN and hls4ml build them.

    All layers work at a time, each with its weights on chip; the slowest sets the interval between
    images. FINN unrolls a layer over PE outputs and SIMD inputs, hls4ml by its reuse factor.

    Parameters
    ----------
    network : str or path
        The network.
    folding : str or Path, optional
        A file with a folding. Its own multipliers (and block RAM) are the limits unless ``limit``
        states others.
    to : str, optional
        The tool that builds the pipeline, where no file says it.
    objective : str, optional
        An expression over interval, multipliers and bram18k.
    limit : mapping or sequence of str, optional
        Upper limits.
    weight_bits : int, optional
        Bits of a weight.
    layers : sequence of str, optional
        Names or kernels of the layers that the pipeline has.
    sizes : mapping of str to int, optional
        Parameters of the network.
    output : str or Path, optional
        The file to write, for the tool.
    time_limit : float, optional
        Seconds of the search.

    Returns
    -------
    Unrolling
        Both foldings, layer by layer, and the proof.

    Raises
    ------
    InputError
        If a file is of other layers, or states what cannot be built.

    Examples
    --------
    >>> ithaca.unroll("vgg16", layers=["fc8"], limit={"multipliers": 100})
    <Unrolling: vgg16: 1 layer, interval 40,960 of the 0.026 % counted>
    """
    source, path = _source(network, folding)
    if output is not None and path is None:
        raise InputError("-o needs --folding FILE, the file whose layers it writes")
    if to is not None and path is not None:
        raise InputError(f"--to does not go with {quoted(str(path))}, which says it")
    known = find_network(str(source), parse_counts("--sizes", sizes, "image=32"))
    whole = only_layers(known, several(layers))
    rows = weight_layers(whole)
    read = None if path is None else read_folding(path, rows)
    own_tool = parse_choice("--to", to or "finn", TOOLS) if read is None else read.tool
    freedoms = freedoms_of(own_tool, rows) if read is None else read.freedoms
    bits = None if weight_bits is None else parse_integer("--weight-bits", weight_bits, least=1)
    for remark in (*whole.remarks, *(() if read is None else read.remarks)):
        note(remark)
    pipeline = Pipeline(rows, freedoms, bits)
    problem = _problem(pipeline, read, objective, limit)
    options = parse_search(time_limit)
    with searching("building the pipeline", options, [pipeline.name]) as (stoppable, line):
        from ithaca.studies.best import solve_best

        solution = solve_best([problem], stoppable, report=line.show)
    answer = Unrolling(whole.name, own_tool, solution, whole.share, read)
    if output is None or read is None or answer.best is None:
        return answer
    write_text_atomically(output, read.text(answer.best))
    return replace(answer, output=str(output))


def _source(
    network: str | PathLike[str], folding: str | Path | None
) -> tuple[str | PathLike[str], Path | None]:
    """The network and the file of a folding: one file may be the latter, and name the former."""
    path = None if folding is None else Path(folding)
    own = Path(network)
    if path is None and own.suffix.lower() in (".yaml", ".yml") and own.is_file():
        document = configuration_document(own)
        if is_hls4ml(document) and (model := model_of(document, own)) is not None:
            return model, own
    return network, path


def _problem(
    pipeline: Pipeline,
    read: Folding | None,
    objective: str,
    limit: Mapping[str, float | str] | Sequence[str] | None,
) -> Problem:
    """The problem: with a file's resources as limits, unless others are stated."""
    minimised = read_objective(objective, "--objective", pipeline.vocabulary)
    bounds: dict[str, Fraction] = {}
    for name, bound in parse_limits(limit or (), pipeline.vocabulary, requirements=False).items():
        read_limited(name, "--limit", pipeline.vocabulary)
        if not isinstance(bound, Fraction):
            raise InputError(f"--limit: {quoted(name)} is no number; allowed: a number")
        bounds[name] = bound
    if limit is None and read is not None:
        own = pipeline.metrics(exactly(pipeline.configuration(read.unrolled)), FRACTION)
        kept = (MULTIPLIERS, BLOCKS) if minimised.words == INTERVAL else (INTERVAL,)
        bounds = {name: own[name] for name in kept if name in own}
    limits = tuple(Limit(name, bound) for name, bound in bounds.items())
    return Problem(pipeline, limits, minimised)
