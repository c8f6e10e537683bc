"""The view of a model's phase: tokens a second, where time goes, and whether memory holds it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ithaca.files.numbers import counted, number, percent, rounded
from ithaca.formulations.platform import Memory
from ithaca.results.view import Fact
from ithaca.results.wording import microjoules
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.network import Run

#: Bytes of a MB and of a GB, as bandwidths count them.
_MB, _GB = 10**6, 10**9

#: Phases whose positions come one by one, and those without positions.
_DECODE, _IMAGE = "decode", "image"


def run_facts(
    result: NetworkResult, word_bytes: int | None = None, memory: Memory | None = None
) -> Iterator[Fact]:
    """Facts on a phase of a model, layer after layer; none where the network is no such, or layers
    run side by side, and no times where multiplications are left out.

    Parameters
    ----------
    result : NetworkResult
        The answer.
    word_bytes : int, optional
        Bytes of a word of weights, and of what is kept of earlier positions; words are counted
        where they are not known.
    memory : Memory, optional
        The memory beside the device.
    """
    run = result.network.run
    if run is None or len(result.arrays) > 1:
        return
    metric = "time" if result.sum_of("time") else "latency"
    total = result.sum_of(metric) if result.share.whole else None
    if total:
        energy = result.sum_of("energy")
        yield Fact(run.phase, "; ".join(_speed(run, total, energy, in_time=metric == "time")))
        without = "; what is left out is not counted" if result.network.unsupported else ""
        yield Fact("shares", f"{_shares(result, metric, total)}{without}")
    yield Fact("memory", _memory(run, word_bytes, memory))
    if total and metric == "time" and word_bytes is not None:
        read = Fraction(run.read * word_bytes, _MB)
        rate = read / total  # MB a ms: GB/s
        of = ""
        if memory is not None:
            whole = memory.bandwidth.total
            of = f" of {rounded(whole)} ({percent(rate / whole)})"
        yield Fact("weights", f"{rounded(read)} MB to be read each run: {rounded(rate)} GB/s{of}")


def _speed(run: Run, total: Fraction, energy: Fraction | None, *, in_time: bool) -> Iterator[str]:
    """Tokens or images a second, how long one takes, and its energy."""
    what, each = ("image", run.batch) if run.phase == _IMAGE else ("token", run.rows)
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
        name = layer.layer.name.rpartition(".")[2]
        own = layer.layer.count * layer.answer.metrics[metric]
        parts[name] = parts.get(name, Fraction(0)) + own
    largest = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {percent(part / total)}" for name, part in largest)


def _memory(run: Run, word_bytes: int | None, memory: Memory | None) -> str:
    """Sizes of weights and of what is kept, beside what the memory holds."""
    unit, each = ("million words", 1) if word_bytes is None else ("MB", word_bytes)
    weights, kept = run.weights * each, run.cache * each
    text = f"weights {rounded(Fraction(weights, _MB))} {unit}"
    if kept:
        text += f", kept of earlier positions {rounded(Fraction(kept, _MB))} {unit}"
    if word_bytes is None:
        return text
    if memory is None or memory.capacity is None:
        return f"{text}; the platform states no capacity"
    whole = f"{rounded(Fraction(weights + kept, _GB))} GB of {rounded(memory.capacity)} GB"
    fits = weights + kept <= memory.capacity * _GB
    return f"{text}: {whole}" if fits else f"{text}: {whole}, which DO NOT FIT"
