"""Chains of layers of which some may be fused, and the least total of all choices."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil

from hypothesis import strategies as st

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.workloads.formats import with_formats
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer, LayerRun, Network, merge
from tests.studies.network.tiny import limited, tiny_request
from tests.whole_spaces import every_row

DIVISORS = SpaceOptions(divisors_only=True)


def chain_of(runs):
    layers = merge(Layer(run.source, run.nest, run.count, (run.source,)) for run in runs)
    return Network("chain", layers, order=tuple(runs), unordered="")


def asked(objective, bram18k, **others):
    """A question about the chains: one dataflow, no padding."""
    given = {"space": DIVISORS, "dataflow": ("i", "j"), **others}
    limits = (Limit("dsp", Fraction(400)), Limit("bram18k", Fraction(bram18k)))
    return limited(tiny_request(objective, **given), *limits)


def image(nest):
    """Bits of what a product reads first, which is kept in them."""
    return int(dict(nest.formats).get("A", "fp32").lstrip("fpint"))


@cache
def points(problem):
    """Metrics and off-chip words by tensor of every configuration, nothing being kept."""
    design = systolic(problem)
    found = []
    for values in every_row(problem.space):
        if problem.feasible_value(values) is not None:
            fractions = {name: Fraction(number) for name, number in values.items()}
            found.append((design.metrics(fractions, FRACTION), design.costs(values).words))
    return tuple(found)


def least(problem, objective, bram18k, kept):
    """The least objective with tensors on chip: their words cost no DRAM, a buffer access each, and
    block RAM as a whole."""
    own = image(systolic(problem).nest), systolic(problem).data.format.bits
    # lines of 64 bytes: 15 blocks of 36 bits beside each other, 512 rows deep
    blocks = sum(15 * ceil(Fraction(words, 512 // own[0] * 512)) for words in kept.values())
    technology = systolic(problem).technology
    share = Fraction(*own)  # sums leave the chip as words of the type
    less = {
        "A": (technology.dram - technology.buffer) * share * technology.mac_pj,  # pJ a word
        "C": (technology.dram - technology.buffer * share) * technology.mac_pj,
    }
    values = []
    for metrics, words in points(replace(problem, limits=(), objective=parse_objective("latency"))):
        moved = sum((words[tensor] for tensor in kept), Fraction(0))
        own = {
            "off_chip_words": metrics["off_chip_words"] - moved,
            "energy": metrics["energy"] - sum(words[name] * less[name] for name in kept),
        }
        if metrics["dsp"] <= 400 and metrics["bram18k"] + blocks <= bram18k:
            values.append({**metrics, **own}[objective])
    return min(values, default=None)


def every_choice(network, request, objective, bram18k):
    """The least total over all choices of what to keep."""
    posed = {part.layer.nest: part.problems for part in request.pose(network)}
    runs, totals = network.order, []
    able = [
        run.follows and image(before.nest) == image(run.nest)
        for before, run in zip(runs[:1] + runs, runs, strict=False)
    ]
    for choice in product(*((False, True) if follows else (False,) for follows in able)):
        total = Fraction(0)
        for number, run in enumerate(runs):
            kept = {}
            if choice[number]:
                before = runs[number - 1]
                kept["A"] = before.count * before.nest.sizes["i"] * before.nest.sizes["j"]
            if number + 1 < len(runs) and choice[number + 1]:
                kept["C"] = run.count * run.nest.sizes["i"] * run.nest.sizes["j"]
            each = [least(problem, objective, bram18k, kept) for problem in posed[run.nest]]
            known = [value for value in each if value is not None]
            if not known:
                break
            total += run.count * min(known)
        else:
            totals.append(total)
    return min(totals, default=None)


SIZES = st.sampled_from([2, 4])


@st.composite
def chains(draw, formats=(None,)):
    nests = [
        with_formats(
            workload("mm", {"i": draw(SIZES), "j": draw(SIZES), "k": draw(SIZES)}),
            draw(st.sampled_from(formats)),
            "format",
        )
        for _ in range(2)
    ]
    runs = []
    for number in range(draw(st.integers(1, 4))):
        follows = number > 0 and draw(st.booleans())
        runs.append(
            LayerRun(f"l{number}", draw(st.sampled_from(nests)), draw(st.integers(1, 2)), follows)
        )
    return chain_of(runs)
