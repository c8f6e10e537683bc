"""The networks of the published study of convolutions (Figures 13 and 14), and what is asked of
them.

The layers are those of the published program (AutoSA, autosa_scripts/odyssey/workload/vgg16.json
and resnet50.json): VGG16's 13 convolutions, and 49 of ResNet50, all at stride 1, without the
shortcuts.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.experiment import PUBLICATION
from benchmarks.paper.matrix_product import BRAM18K, DSP
from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Layer, Network

LIMITS = (Limit("dsp", DSP), Limit("bram18k", BRAM18K))
FP32 = data_type("fp32")

#: MAC units that the DSPs of the budget make, and what they do at 300 MHz (Gop/s, two operations
#: per MAC).
MAC_UNITS = int(DSP / FP32.dsp_per_mac)
PEAK = MAC_UNITS * 2 * 0.3


def vgg16() -> Network:
    """The 13 convolutions of VGG16, equal ones merged into 9."""
    full = find_network("vgg16")
    return Network(full.name, tuple(layer for layer in full.layers if layer.nest.name == "conv2d"))


def resnet50() -> Network:
    """The 49 convolutions of the published ResNet50, equal ones merged into 17."""
    layers = []
    for i, o, size, kernel, count in PUBLICATION["resnet50"]:
        nest = workload("conv2d", {"i": i, "o": o, "r": size, "c": size, "p": kernel, "q": kernel})
        name = f"{i}-{o} {kernel}×{kernel}"
        layers.append(Layer(f"{name} at {size}", nest, count, (name,)))
    return Network("resnet50", tuple(layers))


def network(name: str) -> Network:
    """One of the two networks of the study."""
    return {"vgg16": vgg16, "resnet50": resnet50}[name]()


def request(edition: Edition, dataflow: tuple[str, ...] | None = None) -> ArrayQuestion:
    """The paper's problem: least latency on the U250 at 70 %, fp32, over the 10 designs that can be
    built."""
    objective = parse_objective("latency")
    return ArrayQuestion(
        data=FP32,
        platform=replace(load_platform("u250"), resources={}),
        bounds={limit.metric: limit.bound for limit in LIMITS},
        objective=objective,
        edition=edition,
        dataflow=dataflow,
    )
