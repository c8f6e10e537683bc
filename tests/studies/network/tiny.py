"""A network of three tiny layers, and what is asked of it."""

from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.workloads.networks.find import find_network
from tests.problems import array_question

#: What takes little: cycles as they fall make the same facts, at three times the seconds.
QUICK = ("--divisors-only", "--edition=exact", "--limit", "dsp=400,bram18k=400")
MODES = [(), ("--mode", "shared-dataflow"), ("--mode", "shared-array", "--layers", "mm")]


TINY = """\
name: tiny
layers:
  - {op: kernel, name: wide, kernel: mm, sizes: {i: 4, j: 6, k: 8}}
  - {op: kernel, name: deep, kernel: mm, sizes: {i: 6, j: 2, k: 12}, count: 3}
  - {op: kernel, name: image, kernel: conv2d, sizes: {o: 2, r: 3, c: 3, i: 2, p: 2, q: 2, s: 1, d: 1}, count: 2}
elementwise: {Relu: 2}
"""


def tiny_file(folder):
    """The network as a file."""
    path = folder / "tiny.yaml"
    path.write_text(TINY)
    return path


def tiny_network(folder):
    """The network."""
    return find_network(str(tiny_file(folder)))


def tiny_request(objective="latency", dsp=400, **others):
    """A question about the tiny network."""
    limits = (Limit("dsp", Fraction(dsp)), Limit("bram18k", Fraction(400)))
    more = {"edition": Edition.EXACT} | others
    return array_question(data_type("fp32"), limits, objective, **more)


def limited(request, *limits):
    """The question within other limits."""
    return replace(request, bounds={limit.metric: limit.bound for limit in limits})
