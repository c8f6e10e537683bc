"""The view of a model's phase: tokens a second, where time goes, and whether memory holds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction

from ithaca.files.numbers import counted, number, percent, rounded
from ithaca.formulations.platform import Memory
from ithaca.results.view import Fact
from ithaca.results.wording import microjoules
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.network import Run

#: Bytes of a word of weights, and of one of what is kept of earlier positions, where known.
WordBytes = tuple[Fraction | None, Fraction | None]

#: Bytes of a MB and of a GB, as bandwidths count them.
_MB, _GB = 10**6, 10**9

#: Phases whose positions come one by one, and those without positions.
_DECODE, _IMAGE = "decode", "image"


def run_facts(
    result: NetworkResult,
    sizes: Callable[[NetworkResult], WordBytes] | None = None,
    memory: Memory | None = None,
) -> Iterator[Fact]:
    """Facts on a phase of a model, layer after layer; none where the network is no such, or layers
    run side by side, and no times where multiplications are left out.

    Parameters
    ----------
    result : NetworkResult
        The answer.
    sizes : callable, optional
        Bytes of a word of weights, and of one of what is kept of earlier positions, of an answer;
        words are counted where they are not known.
    memory : Memory, optional
        The memory beside the device.
    """
    run = result.network.run
    if result.network.parts:
        yield from _parts(result, sizes, memory)
    if run is None or len(result.arrays) > 1:
        return
    metric = "time" if result.sum_of("time") else "latency"
    total = result.sum_of(metric) if result.share.whole else None
    if total:
        energy = result.sum_of("energy")
        yield Fact(run.phase, "; ".join(_speed(run, total, energy, in_time=metric == "time")))
        without = "; what is left out is not counted" if result.network.unsupported else ""
        yield Fact("shares", f"{_shares(result, metric, total)}{without}")
    weights, kept = (None, None) if sizes is None else sizes(result)
    yield Fact("memory", _memory(run, weights, kept, memory))
    if total and metric == "time" and weights is not None:
        read = run.read * weights / _MB
        rate = read / total  # MB a ms: GB/s
        of = ""
        if memory is not None:
            whole = memory.bandwidth.total
            of = f" of {rounded(whole)} ({percent(rate / whole)})"
        yield Fact("weights", f"{rounded(read)} MB to be read each run: {rounded(rate)} GB/s{of}")


def _parts(
    result: NetworkResult,
    sizes: Callable[[NetworkResult], WordBytes] | None,
    memory: Memory | None,
) -> Iterator[Fact]:
    """Facts on each of several networks, the one that takes most first."""
    if len(result.arrays) > 1:  # which may share out the runs of a layer, and work side by side
        yield from (Fact(part.name, counted(part.runs, "run")) for part in result.network.parts)
        return
    metric = "time" if result.sum_of("time") else "latency"
    parts = [(part, result.of_part(part)) for part in result.network.parts]
    taken = {part.name: part.runs * (own.sum_of(metric) or 0) for part, own in parts}
    whole = sum(taken.values())
    for part, own in sorted(parts, key=lambda each: -taken[each[0].name]):
        each, runs = own.sum_of(metric), counted(part.runs, "run")
        text = runs
        if each and whole:
            unit = "ms" if metric == "time" else "cycles"
            one = rounded(each) if metric == "time" else number(each)
            share = percent(taken[part.name] / whole)
            text = f"{share} of the {metric}: {runs} of {one} {unit}"
        yield Fact(part.name, text)
        for fact in run_facts(own, sizes, memory):
            term = "" if fact.term == part.name else f"{fact.term}: "
            yield Fact("", f"{term}{fact.text}", fact.detail)


def rate(result: NetworkResult) -> tuple[str, Fraction] | None:
    """The unit of work of a network, such as a token, and how many are done in a second; None where
    its time is not known, or not that of all its multiplications."""
    total, run = result.sum_of("time"), result.network.run
    if not total or not result.share.whole or len(result.arrays) > 1:
        return None
    if result.network.parts:  # of several networks all runs together
        return "round", 1000 / total
    each: int | None
    what, each = "input", dict(result.network.parameters).get("batch")
    if run is not None:
        what, each = _counted(run)
    return ("run", 1000 / total) if each is None else (what, each * 1000 / total)


def _counted(run: Run) -> tuple[str, int]:
    """The unit of work of a run, and how many it does."""
    return ("image", run.batch) if run.phase == _IMAGE else ("token", run.rows)


def _speed(run: Run, total: Fraction, energy: Fraction | None, *, in_time: bool) -> Iterator[str]:
    """Tokens or images a second, how long one takes, and its energy."""
    what, each = _counted(run)
    if in_time:
        side = f", {run.batch:,} side by side" if run.batch > 1 else ""
        yield f"{rounded(each * 1000 / total)} {what}s/s{side}"
    taken = f"{rounded(total)} ms" if in_time else f"{number(total)} cycles"
    if run.phase in (_DECODE, _IMAGE):
        yield f"{taken} for {'each of ' if run.batch > 1 else ''}{counted(run.batch, what)}"
    else:
        yield f"{taken} to the first token after {run.tokens:,}"
    if energy is not None:
        yield f"{microjoules(energy / each)} µJ each"


def _shares(result: NetworkResult, metric: str, total: Fraction) -> str:
    """The share of each kind of work, largest first."""
    parts: dict[str, Fraction] = {}
    for layer in result.layers:
        name = re.split(r"[./]", layer.layer.name)[-1]
        own = layer.layer.count * layer.answer.metrics[metric]
        parts[name] = parts.get(name, Fraction(0)) + own
    largest = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {percent(part / total)}" for name, part in largest)


def _memory(run: Run, each: Fraction | None, other: Fraction | None, memory: Memory | None) -> str:
    """Sizes of weights and of what is kept, beside what the memory holds; ``each`` and ``other``
    are bytes of a word of these."""

    def amount(words: int, size: Fraction | None) -> str:
        known = (Fraction(words), "million words") if size is None else (words * size, "MB")
        return f"{rounded(known[0] / _MB)} {known[1]}"

    text = f"weights {amount(run.weights, each)}"
    if run.cache:
        text += f", kept of earlier positions {amount(run.cache, other)}"
    if each is None:
        return text
    if memory is None or memory.capacity is None:
        return f"{text}; no capacity of the memory is stated"
    least, partly = run.weights * each + run.cache * (other or 0), run.cache and other is None
    whole = f"{rounded(least / _GB)} GB of {rounded(memory.capacity)} GB"
    if least > memory.capacity * _GB:
        return f"{text}: {'at least ' * bool(partly)}{whole}, which DO NOT FIT"
    return text if partly else f"{text}: {whole}"
