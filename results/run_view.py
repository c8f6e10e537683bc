"""The view of a model's phase: tokens a second, where time goes, and whether memory holds it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ithaca.files.numbers import percent, rounded
from ithaca.formulations.platform import Memory
from ithaca.results.view import Fact
from ithaca.results.wording import microjoules
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.network import Run

#: Bytes of a MB and of a GB, as bandwidths count them.
_MB, _GB = 10**6, 10**9

#: Phases whose positions come one by one, and those without positions.
_DECODE, _IMAGE = "decode", "image"


def run_facts(result: NetworkResult, word_bytes: int, memory: Memory | None) -> Iterator[Fact]:
    """Facts on a phase of a model, layer after layer; none where the network is no such, or layers
    run side by side.

    Parameters
    ----------
    result : NetworkResult
        The answer.
    word_bytes : int
        Bytes of a word of weights, and of what is kept of earlier positions.
    memory : Memory or None
        The memory beside the device.
    """
    run, time = result.network.run, result.sum_of("time")
    if run is None or len(result.arrays) > 1:
        return
    if time:
        yield Fact(run.phase, _speed(run, time, result.sum_of("energy")))
        yield Fact("time", f"{_shares(result, time)}; what is left out is not counted")
    yield Fact("memory", _memory(run, word_bytes, memory))
    if time:
        read = run.read * word_bytes
        rate = Fraction(read) / time / _MB  # MB a ms: GB/s
        of = f" of {rounded(memory.bandwidth.total)}" if memory else ""
        share = f" ({percent(rate / memory.bandwidth.total)})" if memory else ""
        yield Fact(
            "weights",
            f"{rounded(Fraction(read, _MB))} MB are read once a run at the least: "
            f"{rounded(rate)} GB/s{of}{share}",
        )


def tokens_per_second(run: Run, time: Fraction) -> Fraction:
    """New positions of all sequences a second, of a run that takes so long (ms)."""
    return run.rows * 1000 / time


def _speed(run: Run, time: Fraction, energy: Fraction | None) -> str:
    """Tokens or images a second, how long one takes, and its energy."""
    if run.phase == _IMAGE:
        rate, what, each = Fraction(run.batch * 1000) / time, "images", run.batch
    else:
        rate, what, each = tokens_per_second(run, time), "tokens", run.rows
    side = f", {run.batch:,} side by side" if run.batch > 1 else ""
    taken = f"{rounded(time)} ms"
    if run.phase == _DECODE:
        taken += " a token of each sequence" if run.batch > 1 else " a token"
    elif run.phase != _IMAGE:
        taken += f" to the first token after {run.tokens:,}"
    spent = "" if energy is None else f"; {microjoules(energy / each)} µJ {_one(what)}"
    return f"{rounded(rate)} {what}/s{side}; {taken}{spent}"


def _one(what: str) -> str:
    return "an image" if what == "images" else "a token"


def _shares(result: NetworkResult, time: Fraction) -> str:
    """The share of each kind of work in the time, largest first."""
    parts: dict[str, Fraction] = {}
    for layer in result.layers:
        name = layer.layer.name.rpartition(".")[2]
        own = layer.layer.count * layer.answer.metrics["time"]
        parts[name] = parts.get(name, Fraction(0)) + own
    largest = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {percent(part / time)}" for name, part in largest)


def _memory(run: Run, word_bytes: int, memory: Memory | None) -> str:
    """Bytes of weights and of what is kept, beside what the memory holds."""
    weights, kept = run.weights * word_bytes, run.cache * word_bytes
    text = f"weights {rounded(Fraction(weights, _MB))} MB"
    if kept:
        text += f", kept of earlier positions {rounded(Fraction(kept, _MB))} MB"
    if memory is None or memory.capacity is None:
        return f"{text}; the platform states no capacity"
    holds = memory.capacity
    whole = f"{rounded(Fraction(weights + kept, _GB))} GB of {rounded(holds)} GB"
    fits = weights + kept <= holds * _GB
    return f"{text}: {whole}" if fits else f"{text}: {whole}, which DO NOT FIT"
