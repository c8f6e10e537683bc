"""The costs of a flow graph's components: cycles, energy, and the bottleneck of each interval.

In an interval every component receives its data in steps. Connected components are pipelined, and
an interval takes as long as the slowest of them, or work one after the other, and what they take is
added up; intervals follow each other. Where zeros are at random, the numbers are those of many
intervals drawn from a seed, and means are told with their standard errors; all else is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import number
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY
from ithaca.plugins.flow.formulations.component import FIELDS, TOTALS, check_name, library, named
from ithaca.plugins.flow.formulations.graph import Feed, FlowGraph, owner

#: Numbers drawn at once for a component, and how many intervals that may be at least and at most;
#: most steps of all copies in an interval where zeros are drawn, and most of anything that counts.
CELLS, LEAST_DRAWS, MOST_DRAWS, MOST_STEPS = 1 << 18, 16, 4096, 1 << 19

Stream = Mapping[str, Any]
"""A description of the data of a step: fields, ``steps`` of an interval, and whether zeros are
``random``. Arrays are by interval drawn, step and copy."""


@dataclass(frozen=True)
class ComponentRun:
    """The cycles and energy of a component in a run."""

    name: str
    """Its name, with the supernodes around it."""
    component: str
    """The kind of component."""
    copies: int
    """How many there are."""
    cycles: Fraction
    """Cycles it works, on average over its copies; of what waits, until all have come."""
    energy: Fraction | None
    """Energy of all copies (pJ); None where it is not known."""
    binds: Fraction
    """Cycles of intervals in which nothing takes longer."""


@dataclass(frozen=True)
class FlowRun:
    """The run of a flow graph: its cycles, and those of every component."""

    cycles: Fraction
    """Cycles of all intervals."""
    error: float
    """Their standard error; 0 where they are exact."""
    draws: int
    """How often each interval was drawn, at least; 0 where no zeros are."""
    parts: tuple[ComponentRun, ...]
    """The run of each component."""

    @property
    def energy(self) -> Fraction:
        """Energy of all components of which it is known (pJ)."""
        return sum((part.energy or Fraction(0) for part in self.parts), Fraction(0))

    @property
    def binding(self) -> tuple[ComponentRun, ...]:
        """The components that bind for longest: one, or several that take as long."""
        longest = max(part.binds for part in self.parts)
        return tuple(part for part in self.parts if part.binds == longest)


def run_graph(graph: FlowGraph, stated: Mapping[str, Fraction] | None = None) -> FlowRun:
    """Run all intervals of a graph.

    Parameters
    ----------
    graph : FlowGraph
        The graph.
    stated : mapping of str to Fraction, optional
        Its parameters where they are not as it states them.

    Raises
    ------
    InputError
        If a number of it is not what it may be: copies that are not whole, shares above 1.
    """
    values = {**graph.parameters, **(stated or {})}
    for name in values:
        check_name(name, graph.parameters, "parameters")
    copies = {"": 1}
    for name, node in graph.nodes.items():
        if not node.of:
            own = _value(node.copies, values, f"{graph.path(f'{name}.')}copies", whole=True)
            copies[name] = copies[owner(name)] * int(own)
    cycles, variance, draws = Fraction(0), 0.0, 0
    sums = {name: dict.fromkeys(("cycles", "energy", "binds"), Fraction(0)) for name in graph.order}
    unknown = set()
    for place, (name, interval) in enumerate(graph.intervals.items()):
        with errors_at(f"intervals.{name}"):
            repeat = _value(interval.repeat, values, "repeat")
            run = _Interval(graph, values, copies, place, interval.inputs)
        cycles += repeat * _mean(run.cycles)
        draws = min(draws or run.draws, run.draws or draws)
        if run.draws and np.ptp(run.cycles):
            variance += float(repeat) ** 2 * float(np.var(run.cycles)) / run.draws
        for part, did in run.did.items():
            for what, value in did.items():
                sums[part][what] += repeat * (value or 0)
                unknown |= {part} if value is None else set()
    return FlowRun(
        cycles,
        sqrt(variance),
        draws,
        tuple(
            ComponentRun(
                name,
                graph.nodes[name].of or "",
                copies[owner(name)],
                sums[name]["cycles"],
                None if name in unknown else sums[name]["energy"],
                sums[name]["binds"],
            )
            for name in graph.order
        ),
    )


class _Interval:
    """An interval, component by component."""

    def __init__(
        self,
        graph: FlowGraph,
        values: Mapping[str, Fraction],
        copies: Mapping[str, int],
        place: int,
        feeds: Mapping[str, Feed],
    ) -> None:
        self.graph, self.values, self.copies = graph, values, copies
        self.generator = np.random.default_rng([graph.seed, place])
        steps = {p: int(self._at(f.steps, f"inputs.{p}.steps", True)) for p, f in feeds.items()}
        self.draws, self.numbers = 0, FRACTION
        if any(self._density(feed)[1] for feed in feeds.values()):
            size = max(steps.values()) * max(copies.values())
            if size > MOST_STEPS:
                raise InputError(
                    f"has {size:,} steps of all copies; allowed where zeros are drawn: at most "
                    f"{MOST_STEPS:,}, and repeat for more"
                )
            self.numbers, self.draws = NUMPY, min(MOST_DRAWS, max(LEAST_DRAWS, CELLS // size))
        self.streams = {port: self._fed(feed, steps[port], port) for port, feed in feeds.items()}
        # cycles of a step with those before it in its stage, and of the slowest stage up to there
        self.stages: dict[str, Any] = {}
        self.reaches: dict[str, Any] = {}
        self.totals: dict[str, Any] = {}
        self.did: dict[str, dict[str, Fraction | None]] = {}
        for name in graph.order:
            self._run(name)
        self.cycles = self.numbers.maximum(*self.totals.values())
        longest = max(map(_mean, self.totals.values()))
        for name, total in self.totals.items():
            self.did[name]["binds"] = _mean(self.cycles) if _mean(total) == longest else Fraction(0)

    def _at(self, term: Expression, where: str, whole: bool = False) -> Fraction:
        return _value(term, self.values, where, whole=whole)

    def _density(self, feed: Feed) -> tuple[Fraction, bool]:
        """The density of a feed's tensor, and whether zeros are drawn."""
        tensor, where = self.graph.tensors[feed.of], f"tensors.{feed.of}.density"
        density = self._at(tensor.density, where)
        if density > 1:
            raise InputError(f"{where} is {number(density)}; allowed: 0 to 1")
        return density, tensor.zeros == "random" and 0 < density < 1

    def _fed(self, feed: Feed, steps: int, port: str) -> Stream:
        """The stream of items that a feed gives a port in each step."""
        tensor, (density, random) = self.graph.tensors[feed.of], self._density(feed)
        extents = (self._at(each, f"inputs.{port}.shape") for each in feed.shape)
        items = prod(extents, start=Fraction(1))
        stated = {"items": items, "density": density, "nonzeros": items * density}
        stated["bursts"] = self._at(feed.bursts, f"inputs.{port}.bursts")
        for part in ("bits", "index", "rows"):
            stated[part] = self._at(getattr(tensor, part), f"tensors.{feed.of}.{part}")
        known: dict[str, Any] = {n: self.numbers.number(value) for n, value in stated.items()}
        if random:
            known["nonzeros"] = self._drawn(known["items"], density, steps, owner(port))
        form = library().formats[tensor.format]
        return {
            **known,
            **{part: term.evaluate(known, self.numbers) for part, term in form.items()},
            "steps": steps,
            "random": random,
        }

    def _drawn(self, count: Any, share: Any, steps: int, name: str) -> Any:
        """The number of nonzeros among a count, in every step of every copy of every interval
        drawn."""
        counts, shares = np.asarray(count, dtype=float), np.asarray(share, dtype=float)
        if np.any(counts % 1) or np.any((shares < 0) | (shares > 1)):
            raise InputError(
                f"{name} draws a share of {number(float(shares.max()))} among "
                f"{number(float(counts.max()))}; allowed: shares up to 1, of whole numbers"
            )
        shape = self.draws, steps, self.copies[owner(name)]
        whole = np.broadcast_to(counts.astype(np.int64), shape)
        return self.generator.binomial(whole, shares).astype(float)

    def _moved(self, value: Any, source: str, sink: str, *, add: bool = False) -> Any:
        """A number of a step as a component in another supernode has it: of copies all together, or
        the largest; for copies to each the same."""
        around = owner(source)
        while not f"{owner(sink)}.".startswith(f"{around}." if around else ""):
            around = owner(around)
        common = self.copies[around]
        if not isinstance(value, np.ndarray):
            return value * (self.copies[owner(source)] // common) if add else value
        value = value.reshape(*value.shape[:2], common, -1)
        return np.repeat(
            value.sum(-1) if add else value.max(-1), self.copies[owner(sink)] // common, axis=-1
        )

    def _arriving(self, sink: str) -> Stream | None:
        """The data at an input port, if there are any."""
        source, _ = self.graph.sources.get(sink, (sink, True))
        stream = self.streams.get(source)
        if stream is None or source == sink:
            return stream
        ends = owner(source), owner(sink)
        moved = {f: self._moved(stream[f], *ends, add=f in TOTALS) for f in FIELDS}
        return {**stream, **moved}

    def _run(self, name: str) -> None:
        """Run a component for the interval, if it has data."""
        node, numbers = self.graph.nodes[name], self.numbers
        kind = self.graph.kinds[node.of or ""]
        arriving = {port: self._arriving(f"{name}.{port}") for port in kind.inputs}
        inputs = {port: stream for port, stream in arriving.items() if stream is not None}
        if not inputs:
            return
        steps, *others = sorted({stream["steps"] for stream in inputs.values()})
        if others:
            raise InputError(f"{name} receives {steps} and {others[0]} steps; allowed: as many")
        parameters = {
            parameter: self._at(term, f"{name}.{parameter}")
            for parameter, term in {**kind.parameters, **node.parameters}.items()
            if term is not None
        }
        known = {parameter: numbers.number(value) for parameter, value in parameters.items()}
        eighth = numbers.number(Fraction(1, 8))

        def see(port: str, stream: Stream) -> None:
            size = (stream["stored"] * stream["bits"] + stream["metadata"]) * eighth
            known.update(zip(named([port]), [*(stream[f] for f in FIELDS), size], strict=True))

        def value(term: Expression) -> Any:
            try:
                with np.errstate(all="ignore"):
                    return term.evaluate(known, numbers)
            except ZeroDivisionError:
                raise InputError(f"{name} divides by 0; allowed: other divisors") from None

        for port in kind.inputs:
            see(port, inputs.get(port, dict.fromkeys(FIELDS, 0)))
        first = next(iter(inputs.values()))
        random = any(stream["random"] for stream in inputs.values())
        for port, stated in kind.outputs.items():
            own = {str(field): value(term) for field, term in stated.items()}
            out = {**first, "random": random, **own}
            if (share := out.pop("keeps", None)) is not None:
                kept = out["nonzeros"] * share
                out["nonzeros"] = (
                    self._drawn(out["nonzeros"], share, steps, name) if random else kept
                )
                out["stored"] = out["nonzeros"]
            self.streams[f"{name}.{port}"] = out
            see(port, out)
        edges = [self.graph.sources.get(f"{name}.{port}", ("", True)) for port in kind.inputs]
        before = {owner(source): beside for source, beside in edges if source in self.streams}
        cycles = value(kind.cycles)
        held = (self._moved(self.stages[s], s, name) for s, beside in before.items() if not beside)
        self.stages[name] = stage = cycles + numbers.maximum(0, *held)
        ahead = (self._moved(self.reaches[source], source, name) for source in before)
        self.reaches[name] = reach = numbers.maximum(stage, *ahead)
        self.totals[name] = met = (
            self._met(reach, steps, name, parameters)
            if kind.waits
            else _summed(stage, steps, "max")
        )
        self.did[name] = {
            "cycles": _mean(met if kind.waits else _summed(cycles, steps, "mean")),
            "energy": _mean(_summed(value(kind.energy), steps, "mean")) * self.copies[owner(name)]
            if kind.energy is not None and kind.energy.symbols <= known.keys()
            else None,
        }

    def _met(self, times: Any, steps: int, name: str, parameters: Mapping[str, Fraction]) -> Any:
        """Cycles until all copies of a supernode have done all steps: they wait for each other
        after every few, or a step a cycle is given to all that have room for it in their queues,
        where it stays until it is done."""
        every, queue = (parameters.get(each, Fraction(0)) for each in ("every", "queue"))
        if max(every, queue) < 1 or every.denominator * queue.denominator > 1:
            raise InputError(
                f"{name}: every is {number(every)}, queue {number(queue)}; allowed: whole numbers, "
                "one of them from 1"
            )
        if not isinstance(times, np.ndarray):
            return steps * (self.numbers.maximum(times, 1) if queue else times)
        times = times.reshape(*times.shape[:2], self.copies[owner(owner(name))], -1)
        if not queue:
            starts = np.arange(0, steps, int(every))
            return np.add.reduceat(times, starts, axis=1).max(-1).sum(1).max(-1)
        room, done = int(queue), np.zeros((steps + 1, *times[:, 0].shape))
        start = done[0, ..., :1]
        for step in range(1, steps + 1):
            free = done[max(step - room, 0)].max(-1, keepdims=True)
            start = np.maximum(start + (step > 1), free)
            done[step] = np.maximum(done[step - 1], start) + times[:, step - 1]
        return done[steps].max((-2, -1))


def _summed(value: Any, steps: int, over: str) -> Any:
    """A number of all steps, the largest or the mean of copies, by interval drawn."""
    return getattr(value.sum(1), over)(-1) if isinstance(value, np.ndarray) else value * steps


def _mean(value: Any) -> Fraction:
    mean = float(value.mean()) if isinstance(value, np.ndarray) else value
    if isinstance(mean, float) and not np.isfinite(mean):
        raise InputError("divides by 0; allowed: other divisors")
    return Fraction(mean)


def _value(
    term: Expression, values: Mapping[str, Fraction], where: str, *, whole: bool = False
) -> Fraction:
    """The value of an expression over parameters."""
    try:
        value = Fraction(term.evaluate(values, FRACTION))
    except ZeroDivisionError:
        raise InputError(f"{where} divides by 0; allowed: other divisors") from None
    if value < 0 or (whole and not (value.denominator == 1 <= value <= MOST_STEPS)):
        kind = f"whole numbers of 1 to {MOST_STEPS:,}" if whole else "no negative numbers"
        raise InputError(f"{where} is {number(value)}; allowed: {kind}")
    return value
