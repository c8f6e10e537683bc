"""What a flow graph's components take: cycles, energy, and which of them the others wait for.

In an interval every component receives its data in steps. Connected components are pipelined, and
an interval takes as long as the slowest of them, or work one after the other, and what they take is
added up; intervals follow each other. Where zeros are at random, the numbers are those of many
intervals drawn from a seed, and means are told with their standard errors; all else is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod, sqrt
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at
from ithaca.files.numbers import number
from ithaca.formulations.algebra.expression import ONE, Expression
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY, NumberSystem
from ithaca.formulations.flow.component import FIELDS, STATED
from ithaca.formulations.flow.graph import Feed, FlowGraph, Interval, Node, Port

#: Numbers drawn at once for a component, and how many intervals that may be at least and at most;
#: most steps of all copies of an interval where zeros are drawn.
CELLS, LEAST_DRAWS, MOST_DRAWS, MOST_STEPS = 1 << 20, 16, 4096, 1 << 22

#: Fields that add up over what copies send.
_TOTALS = ("items", "nonzeros", "stored", "metadata", "bursts")


@dataclass(frozen=True)
class Stream:
    """What describes the data of a step; arrays are by interval drawn, step and copy."""

    fields: Mapping[str, Any]
    """The numbers of `FIELDS` but bytes."""
    steps: int
    """How many steps there are in an interval."""
    random: bool
    """Whether zeros are at random."""


@dataclass(frozen=True)
class PartRun:
    """What a component does in a run."""

    name: str
    """The component."""
    kind: str
    """What it is."""
    copies: int
    """How many there are."""
    cycles: Fraction
    """Cycles it works, on average over its copies; of what waits, cycles until all have come."""
    energy: Fraction | None
    """Energy of all copies (pJ); None where that is not known."""
    binds: Fraction
    """Cycles of intervals in which nothing takes longer."""


@dataclass(frozen=True)
class FlowRun:
    """What a graph does."""

    cycles: Fraction
    """Cycles of all intervals."""
    error: float
    """Their standard error, where zeros are drawn; 0: they are exact."""
    draws: int
    """How often the interval was drawn that was drawn least; 0 where nothing is drawn."""
    parts: tuple[PartRun, ...]
    """What each component does."""

    @property
    def energy(self) -> Fraction:
        """Energy of all components of which it is known (pJ)."""
        return sum((part.energy or Fraction(0) for part in self.parts), Fraction(0))

    @property
    def binding(self) -> tuple[PartRun, ...]:
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
    known = {**graph.parameters, **(stated or {})}
    for name in known.keys() - graph.parameters.keys():
        raise InputError(f"{name} is no parameter of {graph.name}{among(name, graph.parameters)}")
    copies = {"": 1}
    for name, formula in graph.copies.items():
        around = copies[name.rpartition(".")[0]]
        copies[name] = around * _whole(formula, known, f"copies of {name}")
    cycles, variance, draws = Fraction(0), 0.0, 0
    own: dict[tuple[str, str], Fraction] = {}
    unknown = set[str]()
    for place, (name, interval) in enumerate(graph.intervals.items()):
        with errors_at(f"intervals.{name}"):
            repeat = _value(interval.repeat, known, "repeat")
            step = _Interval(graph, interval, known, copies, place)
            step.run()
            cycles += repeat * _mean(step.cycles)
            if step.draws:
                spread = float(np.var(step.cycles)) if np.ptp(step.cycles) else 0
                variance += float(repeat) ** 2 * spread / step.draws
                draws = min(draws or step.draws, step.draws)
            for (part, what), value in step.sums.items():
                if value is None:
                    unknown.add(part)
                else:
                    own[part, what] = own.get((part, what), Fraction(0)) + repeat * value
    parts = tuple(
        PartRun(
            node.name,
            node.component.name,
            copies[node.group],
            own.get((node.name, "cycles"), Fraction(0)),
            None if node.name in unknown else own.get((node.name, "energy"), Fraction(0)),
            own.get((node.name, "binds"), Fraction(0)),
        )
        for node in graph.nodes
    )
    return FlowRun(cycles, sqrt(variance), draws, parts)


@dataclass
class _Interval:
    """An interval, component by component."""

    graph: FlowGraph
    interval: Interval
    known: Mapping[str, Fraction]
    copies: Mapping[str, int]
    place: int
    numbers: NumberSystem = FRACTION
    draws: int = 0
    ports: dict[Port, Stream] = field(default_factory=dict)
    stages: dict[str, Any] = field(default_factory=dict)
    """Cycles of a step, with those that come before it in its stage."""
    reaches: dict[str, Any] = field(default_factory=dict)
    """Cycles of a step of the slowest stage up to a component."""
    totals: dict[str, Any] = field(default_factory=dict)
    """Cycles of the interval, by interval drawn."""
    sums: dict[tuple[str, str], Any] = field(default_factory=dict)

    @property
    def cycles(self) -> Any:
        """Cycles of the interval: of the component that takes longest."""
        return self.numbers.maximum(*self.totals.values())

    def run(self) -> None:
        """Run it."""
        steps = {
            port: _whole(feed.steps, self.known, f"inputs.{'.'.join(port)}.steps")
            for port, feed in self.interval.feeds.items()
        }
        if any(self._is_random(feed) for feed in self.interval.feeds.values()):
            size = max(steps.values()) * max(self.copies.values())
            if size > MOST_STEPS:
                raise InputError(
                    f"has {number(Fraction(size))} steps of all copies; allowed with zeros at "
                    f"random: at most {MOST_STEPS:,}, and repeat for more"
                )
            self.numbers, self.draws = NUMPY, min(MOST_DRAWS, max(LEAST_DRAWS, CELLS // size))
        self.generator = np.random.default_rng([self.graph.seed, self.place])
        for port, feed in self.interval.feeds.items():
            where = f"inputs.{'.'.join(port)}"
            self.ports[port] = self._stream(feed, steps[port], port[0], where)
        for node in self.graph.nodes:
            inputs = dict(self._inputs(node))
            if inputs:
                self._node(node, inputs)
        slowest = {name: _mean(total) for name, total in self.totals.items()}
        longest = max(slowest.values())
        for name, total in slowest.items():
            if total == longest:
                self.sums[name, "binds"] = _mean(self.cycles)

    def _is_random(self, feed: Feed) -> bool:
        density = _value(feed.tensor.density, self.known, "density")
        if not 0 <= density <= 1:
            raise InputError(f"density is {number(density)}; allowed: 0 to 1")
        return feed.tensor.random and 0 < density < 1

    def _stream(self, feed: Feed, steps: int, name: str, where: str) -> Stream:
        """What a feed gives in a step."""
        tensor, random = feed.tensor, self._is_random(feed)
        items = prod(_value(each, self.known, f"{where}.shape") for each in feed.shape)
        density = _value(tensor.density, self.known, "density")
        if random and items.denominator > 1:
            raise InputError(f"{where}.shape holds {number(items)} values; allowed: a whole number")
        group = name.rpartition(".")[0]
        known: dict[str, Any] = {
            "items": self.numbers.number(items),
            "nonzeros": self._drawn(items, density, steps, group)
            if random
            else self.numbers.number(items * density),
        }
        for part in ("index", "rows", "bits"):
            value = _value(getattr(tensor, part), self.known, part)
            known[part] = self.numbers.number(value)
        return Stream(
            {
                "items": known["items"],
                "density": self.numbers.number(density),
                "nonzeros": known["nonzeros"],
                "stored": tensor.format.stored.evaluate(known, self.numbers),
                "bits": known["bits"],
                "metadata": tensor.format.metadata.evaluate(known, self.numbers),
                "bursts": self.numbers.number(_value(feed.bursts, self.known, f"{where}.bursts")),
            },
            steps,
            random,
        )

    def _drawn(self, count: Any, share: Any, steps: int, group: str) -> Any:
        """How many of a count are not zero, in every step of every copy of every interval drawn."""
        shape = self.draws, steps, self.copies[group]
        if np.any(count != np.floor(count)):
            raise InputError(
                "zeros are drawn among values that are no whole number; allowed: zeros of all "
                "tensors random, or of all balanced"
            )
        counts = np.broadcast_to(np.asarray(count, dtype=np.int64), shape)
        return self.generator.binomial(counts, np.asarray(share, dtype=float)).astype(float)

    def _inputs(self, node: Node) -> Iterator[tuple[str, Stream]]:
        """The data of ports that have any."""
        for port in node.component.inputs:
            if (node.name, port) in self.ports:
                yield port, self.ports[node.name, port]
            elif edge := self.graph.edges.get((node.name, port)):
                stream = self.ports.get(edge.source)
                if stream is not None:
                    ends = edge.source[0].rpartition(".")[0], node.group
                    fields = {
                        name: self._moved(value, *ends, add=name in _TOTALS)
                        for name, value in stream.fields.items()
                    }
                    yield port, Stream(fields, stream.steps, stream.random)

    def _moved(self, value: Any, source: str, sink: str, *, add: bool) -> Any:
        """A number of a step as another supernode has it: copies send one after the other, and
        every copy receives all; what does not add up is that of the copy with most."""
        names = source.split(".") if source else []
        while names and not f"{sink}.".startswith(".".join(names) + "."):
            names.pop()
        common = self.copies[".".join(names)]
        if not isinstance(value, np.ndarray):
            return value * (self.copies[source] // common) if add else value
        value = value.reshape(*value.shape[:2], common, -1)
        value = value.sum(-1) if add else value.max(-1)
        return np.repeat(value, self.copies[sink] // common, axis=-1)

    def _node(self, node: Node, inputs: Mapping[str, Stream]) -> None:
        """What a component does."""
        component, name, numbers = node.component, node.name, self.numbers
        if len(counts := {stream.steps for stream in inputs.values()}) > 1:
            raise InputError(
                f"{name} receives data in {' and '.join(map(str, sorted(counts)))} steps; allowed: "
                "as many at every port"
            )
        steps, random = counts.pop(), any(stream.random for stream in inputs.values())
        known: dict[str, Any] = {}
        for parameter, default in component.parameters.items():
            if (formula := node.parameters.get(parameter, default)) is not None:
                known[parameter] = numbers.number(_value(formula, self.known, parameter))
        for port in component.inputs:
            fields = inputs[port].fields if port in inputs else dict.fromkeys(STATED[:-1], 0)
            known |= self._named(port, fields)
        first = next(iter(inputs.values()))
        for port, stated in component.outputs.items():
            fields = dict(first.fields)
            own = {part: self._evaluated(of, known, name) for part, of in stated.items()}
            if (share := own.pop("keeps", None)) is not None:
                count = own.get("nonzeros", fields["nonzeros"])
                if not np.all((0 <= np.asarray(share)) & (np.asarray(share) <= 1)):
                    raise InputError(f"{name} keeps more than all; allowed: shares of 0 to 1")
                own["nonzeros"] = (
                    self._drawn(count, share, steps, node.group) if random else count * share
                )
                own.setdefault("stored", own["nonzeros"])
            fields |= own
            self.ports[name, port] = Stream(fields, steps, random)
            known |= self._named(port, fields)
        before = [
            (edge.source[0], edge.pipelined)
            for port in component.inputs
            if (edge := self.graph.edges.get((name, port))) and edge.source[0] in self.stages
        ]

        def arrived(times: Mapping[str, Any], sources: list[str]) -> Any:
            groups = {source: source.rpartition(".")[0] for source in sources}
            moved = (self._moved(times[s], groups[s], node.group, add=False) for s in sources)
            return numbers.maximum(0, *moved)

        cycles = self._evaluated(component.cycles, known, name)
        stage = cycles + arrived(self.stages, [source for source, beside in before if not beside])
        reach = numbers.maximum(stage, arrived(self.reaches, [source for source, _ in before]))
        self.stages[name], self.reaches[name] = stage, reach
        working = _summed(cycles, steps, np.mean)
        if component.waits:
            self.totals[name] = working = self._met(reach, steps, node)
        else:
            self.totals[name] = _summed(stage, steps, np.max)
        self.sums[name, "cycles"] = _mean(working)
        energy = None
        if component.energy is not None and component.energy.symbols <= known.keys():
            step = self._evaluated(component.energy, known, name)
            energy = _mean(_summed(step, steps, np.mean)) * self.copies[node.group]
        self.sums[name, "energy"] = energy

    def _named(self, port: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a port as expressions call them."""
        eighth = self.numbers.number(Fraction(1, 8))
        stored = (fields["stored"] * fields["bits"] + fields["metadata"]) * eighth
        return {f"{port}.{name}": {**fields, "bytes": stored}[name] for name in FIELDS}

    def _met(self, times: Any, steps: int, node: Node) -> Any:
        """Cycles until all copies have done all steps: they wait for each other after every few, or
        each goes ahead of others by as many as its queue holds; a step a cycle is given out."""
        stated = {**node.component.parameters, **node.parameters}
        every, queue = (stated.get(name) for name in ("every", "queue"))
        ahead = queue is not None and _value(queue, self.known, f"{node.name}: queue")
        if not isinstance(times, np.ndarray):
            return steps * (self.numbers.maximum(times, 1) if ahead else times)
        around = self.copies[node.group.rpartition(".")[0]]
        times = times.reshape(*times.shape[:2], around, -1)
        if not ahead:
            together = _whole(every or ONE, self.known, f"{node.name}: every")
            firsts = np.arange(0, steps, together)
            return np.add.reduceat(times, firsts, axis=1).max(-1).sum(1).max(-1)
        assert queue is not None
        room = _whole(queue, self.known, f"{node.name}: queue")
        done = np.zeros((steps + 1, *times[:, 0].shape))
        given = np.zeros((*done.shape[1:3], 1))
        for step in range(1, steps + 1):
            free = done[step - room].max(-1, keepdims=True) if step > room else 0
            given = np.maximum(given + (step > 1), free)
            done[step] = np.maximum(done[step - 1], given) + times[:, step - 1]
        return done[steps].max((-2, -1))

    def _evaluated(self, formula: Expression, known: Mapping[str, Any], name: str) -> Any:
        try:
            with np.errstate(all="ignore"):
                return formula.evaluate(known, self.numbers)
        except ZeroDivisionError:
            raise InputError(f"{name} divides by 0; allowed: divisors that are positive") from None


def _summed(value: Any, steps: int, over: Any) -> Any:
    """A number of all steps, over copies, by interval drawn."""
    return over(value.sum(1), axis=-1) if isinstance(value, np.ndarray) else value * steps


def _mean(value: Any) -> Fraction:
    mean = np.mean(value) if isinstance(value, np.ndarray) else value
    if mean != mean or abs(mean) == float("inf"):
        raise InputError("divides by 0; allowed: divisors that are positive")
    return Fraction(float(mean) if isinstance(value, np.ndarray) else mean)


def _value(formula: Expression, known: Mapping[str, Fraction], where: str) -> Fraction:
    """The value of an expression over parameters."""
    try:
        value = Fraction(formula.evaluate(known, FRACTION))
    except ZeroDivisionError:
        raise InputError(f"{where} divides by 0; allowed: divisors that are positive") from None
    if value < 0:
        raise InputError(f"{where} is {number(value)}; allowed: no negative numbers")
    return value


def _whole(formula: Expression, known: Mapping[str, Fraction], where: str) -> int:
    value = _value(formula, known, where)
    if value.denominator > 1 or not 1 <= value <= MOST_STEPS:
        raise InputError(f"{where} is {number(value)}; allowed: whole numbers from 1")
    return int(value)
