"""The edition ``timeloop``: Timeloop's costs of a mapping (`docs/mapping-model.md`).

Stated once, in plain arithmetic, for every number system; what costs are of is counted in
`ithaca.plugins.hierarchies.formulations.counts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, reduce

from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.counts import MappingCounts, Number


class TimeloopModel(MappingCounts):
    """Costs of a mapping: cycles and energy."""

    @remembered
    def instances(self, level: int) -> Number:
        """Instances of a level that work; of the multipliers, too."""
        return self._product(n for lanes in self._mapping.lanes[:level] for n in lanes.values())

    @property
    def pes(self) -> Number:
        """The number of multipliers that work."""
        return self.instances(len(self._levels))

    @property
    def computes(self) -> Number:
        """The number of multiply-accumulates of all multipliers, padding included."""
        return self.operations * self.pes

    @remembered
    def cycles(self, level: int) -> Number:
        """Cycles of the multipliers, or more where a level's words take longer."""
        waits = self.waits(level).values()
        return self._mapping.system.maximum(self.steps, *waits) if waits else self.steps

    @remembered
    def waits(self, place: int) -> Mapping[str, Number]:
        """Cycles that the words of a level take at its bandwidths, by what they are: reads, writes,
        words (both)."""
        number, level, waits = self._mapping.system.number, self._levels[place], dict[str, Number]()
        for what, rate, counts in level.rates:
            over = self.moved(place, counts) * number(Fraction(rate.denominator))
            under = number(Fraction(rate.numerator * self._units[place].word))
            waits[what] = self._mapping.system.ceil_div(over, under)
        return waits

    def moved(self, level: int, counts: Sequence[str]) -> Number:
        """Units of a level's words that an instance moves in time, of all tensors; ``counts`` are
        those of reads, fills or updates."""
        units = [
            self._weighed(level, tensor, getattr(self, count)(level, tensor))
            for count in counts
            for tensor in self._kept(level)
        ]
        return reduce(lambda a, b: a + b, units, self._one * 0)

    @cached_property
    def latency(self) -> Number:
        """Cycles of the slowest level."""
        return self._mapping.system.maximum(
            *(self.cycles(level) for level in range(len(self._levels)))
        )

    @remembered
    def level_energy(self, place: int) -> Number:
        """Energy of a level's accesses, and of what its instances that work leak, whether it keeps
        a tensor or none (pJ)."""
        numbers, level = self._mapping.system, self._levels[place]
        energy = self._one * 0
        for count, cost in level.prices.items():
            if not cost:
                continue
            for tensor in self._kept(place):
                over = self._weighed(place, tensor, getattr(self, count)(place, tensor))
                each = level.block * self._units[place].word
                accesses = (
                    over if each == 1 else numbers.ceil_div(over, numbers.number(Fraction(each)))
                )
                energy = energy + accesses * numbers.number(cost)
        working = self.instances(place)
        if level.cluster > 1:
            working = numbers.minimum(working, numbers.number(Fraction(level.charged)))
        energy = energy * working
        return (
            energy + self.latency * self.instances(place) * numbers.number(level.leak)
            if level.leak
            else energy
        )

    @cached_property
    def compute_energy(self) -> Number:
        """Energy of the multiply-accumulates (pJ)."""
        return self.computes * self._mapping.system.number(self._compute.energy)

    @cached_property
    def energy(self) -> Number:
        """Energy of everything (pJ)."""
        return reduce(
            lambda a, b: a + b,
            map(self.level_energy, range(len(self._levels))),
            self.compute_energy,
        )

    @property
    def edp(self) -> Number:
        """Energy times latency (pJ·cycles)."""
        return self.energy * self.latency

    def metric(self, name: str) -> Number:
        """A metric by its name, as in `ithaca.plugins.hierarchies.formulations.metrics`."""
        level, _, rest = name.partition(".")
        if not rest:
            return getattr(self, name)
        place = [each.name for each in self._levels].index(level)
        tensor, _, count = rest.rpartition(".")
        if tensor:
            return getattr(self, count)(place, tensor)
        return self.cycles(place) if count == "cycles" else self.level_energy(place)

    @property
    def details(self) -> Mapping[str, Number]:
        """The edition's further counts, by name; none by default."""
        return {}

    @property
    def parts(self) -> Mapping[str, Number]:
        """The parts of latency and energy, by name: cycles and energies of levels, and what they
        count of tensors."""
        named = {"computation": self.steps, "latency": self.latency, "energy": self.energy}
        for place, level in enumerate(self._levels):
            named |= {f"{level.name} {what}": wait for what, wait in self.waits(place).items()}
            named[level.name] = self.level_energy(place)
            named |= {
                f"{level.name} {tensor} {what}": getattr(self, what)(place, tensor)
                for what in level.prices
                for tensor in self._kept(place)
            }
        return {**named, self._compute.name: self.compute_energy}


class FirstFillsModel(TimeloopModel):
    """Costs as versions of the tool until 2022 count them: outputs take fills for the first time,
    too."""

    @remembered
    def fills(self, level: int, tensor: str) -> Number:
        if not level or tensor in dict(self._levels[level].resident):
            return self._one * 0
        return self._held(level, tensor, self.fills_of(level, tensor))


class LinkedLanesModel(TimeloopModel):
    """Costs as the tool counts them unless ``no_link_transfer`` is stated: multipliers take a word
    from a neighbour that had it in the cycle before. Counted is what all lanes along a loop share:
    it is read once for all cycles in which it stays."""

    @remembered
    def reads(self, level: int, tensor: str) -> Number:
        words, levels = super().reads(level, tensor), len(self._levels)
        inside = range(level + 1, levels)
        if self._is_output(tensor) or any(tensor in self._kept(place) for place in inside):
            return words
        access = next(each for each in self._nest.accesses if each.tensor == tensor)
        others = [loop for loop in self._nest.loops if not access.indexed_by(loop)]
        one, numbers, stays = self._one, self._mapping.system, self._one
        for place in range(levels):
            for loop in others:
                trips = self._mapping.trips[place][loop]
                still = 1 - self._moved_inside(levels, place, loop, access)
                stays = stays * (1 + (trips - 1) * still)
        lanes = self._mapping.lanes[-1]
        most = numbers.maximum(one, *(lanes[loop] for loop in others if loop in lanes))
        shared = numbers.minimum(most - 1, one)
        return words / (1 + (stays - 1) * shared)
