"""Architectures for a network: every layer on its own array, one array for all, several arrays in a
row; the paper prints nothing of them.

The released scripts search four: one array (run_arch1.sh; run_arch1_free.sh: layer by layer),
several arrays that share the device, each for consecutive layers (run_arch2.sh, at most 8, 16 or
24), layers that take turns on several arrays in batches of 16 (run_arch3.sh), and several arrays
with all data in URAM (run_arch4.sh). The last two Ithaca does not model; they are left out.
Dataflow [o,r], the best single one of both networks (Figures 13 and 14), permutation cout, in the
odyssey model edition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

from benchmarks.paper.experiment import Run
from benchmarks.paper.published_networks import network, request, vgg16
from ithaca.files.errors import InputError
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.codesign.studies.arrays.arrays import solve_multi_array, solve_shared_array
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution
from ithaca.studies.network.layers import solve_per_layer
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.networks.network import Layer, Network

#: The dataflow of all arrays.
DATAFLOW = ("o", "r")

#: Most arrays, and seconds and relative gap at which a search for several arrays ends.
FULL_ARRAYS, FULL_SECONDS, FULL_GAP = (2, 4, 8), 1800.0, 0.0

#: Quick mode: the first layers of VGG16, and two arrays.
QUICK_LAYERS, QUICK_ARRAYS, QUICK_GAP = ("conv1_1", "conv1_2"), (2,), 0.02


@dataclass(frozen=True)
class Architecture:
    """A network on an architecture."""

    network: str
    name: str
    """The architecture."""
    result: NetworkResult
    """How each layer is run."""
    interval: Fraction
    """Cycles from one input to the next: of all layers on one array, of the slowest of several."""
    bound: Fraction
    """No such architecture has a shorter interval."""

    @property
    def latency(self) -> Fraction:
        """Cycles of one input: all layers, one after the other."""
        return sum(
            (layer.count * solution.metrics["latency"] for layer, solution in self.layers),
            start=Fraction(0),
        )

    @property
    def layers(self) -> list[tuple[Layer, Solution]]:
        """Every layer and how it is run, in order."""
        return [
            (r.layer, r.answer.configured)
            for r in self.result.layers
            if r.answer.configured is not None
        ]

    def resource(self, metric: str) -> Fraction:
        """DSP blocks or block RAM in all: those of several arrays together, else of the layer that
        needs most."""
        if self.result.arrays:
            return sum((array.resources[metric] for array in self.result.arrays), start=Fraction(0))
        return max(solution.metrics[metric] for _, solution in self.layers)


FREE, ONE = "an array for each layer", "one array"


def several(arrays: int) -> str:
    """Name of the architecture of several arrays."""
    return f"up to {arrays} arrays"


def architectures(how: Run) -> Iterator[Architecture]:
    """Solve every network on every architecture: VGG16 and ResNet50 in full mode, two layers of
    VGG16 in quick mode."""
    counts = FULL_ARRAYS if how.full else QUICK_ARRAYS
    wanted = request(Edition.ODYSSEY, DATAFLOW)
    for net in [network("vgg16"), network("resnet50")] if how.full else [_quick_network()]:
        exact = RunOptions(search=how.search, threads=how.threads)
        how.step(f"{net.name}: {FREE}")
        yield _architecture(net, FREE, solve_per_layer(net, wanted, exact), how)
        how.step(f"{net.name}: {ONE}")
        yield _architecture(net, ONE, solve_shared_array(net, wanted, exact), how)
        for count in counts:
            how.step(f"{net.name}: {several(count)}")
            asked = replace(wanted, arrays=count, minimise=Minimise.SLOWEST)
            search = SolveOptions(_seconds(how), FULL_GAP if how.full else QUICK_GAP, how.stop)
            yield _architecture(
                net, several(count), solve_multi_array(net, asked, RunOptions(search=search)), how
            )


def by_network(
    found: Iterable[Architecture],
) -> Iterator[tuple[str, Architecture, Architecture, list[Architecture]]]:
    """Each network with one array, with an array for each layer, and with several arrays."""
    for net, group in groupby(found, lambda of: of.network):
        mine = {of.name: of for of in group}
        free, one = mine.pop(FREE), mine.pop(ONE)
        yield net, one, free, list(mine.values())


def architecture_settings(how: Run) -> dict[str, object]:
    """The networks and search limits that a document states."""
    seconds = _seconds(how)
    several_arrays: dict[str, object] = {"gap": FULL_GAP if how.full else QUICK_GAP}
    if seconds is not None:
        several_arrays["seconds"] = seconds
    return {
        "networks": ["vgg16", "resnet50"]
        if how.full
        else [f"vgg16, layers {', '.join(QUICK_LAYERS)}"],
        "dataflow": ",".join(DATAFLOW),
        "permutation": "cout",
        "edition": "odyssey",
        "several arrays": several_arrays,
    }


def _seconds(how: Run) -> float | None:
    """Seconds of a search for several arrays."""
    return how.least_seconds(FULL_SECONDS if how.full else None)


def _architecture(net: Network, name: str, result: NetworkResult, how: Run) -> Architecture:
    how.check()
    if (
        result.total is None
        or result.total.value is None
        or result.total.certificate.lower_bound is None
    ):
        # what is feasible for one array is for several; only time can be too short
        raise InputError(f"nothing was found for {net.name}, {name}; allowed: more --run-seconds")
    return Architecture(
        net.name, name, result, result.total.value, result.total.certificate.lower_bound
    )


def _quick_network() -> Network:
    whole = vgg16()
    return replace(
        whole, layers=tuple(layer for layer in whole.layers if layer.name in QUICK_LAYERS)
    )
