"""The text of ``array_pe.sv`` of recurrences: loops, channels, and statements as pipelines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from ithaca.plugins.recurrences.exports.loops import bounds, least, sum_text, sums
from ithaca.plugins.recurrences.exports.templates import template
from ithaca.plugins.recurrences.formulations.array import FIFO_DEPTH, Place, RecurrenceArray
from ithaca.plugins.recurrences.workloads.recurrence import Case
from ithaca.plugins.recurrences.workloads.sums import Point


@dataclass(frozen=True)
class ForwardedValue:
    """A value that later iterations read, all at the same distance."""

    value: str
    away: Point
    """How far, along each loop."""
    far: Place
    """How far, along each space loop: nowhere where it stays in the PE."""
    needs: dict[Case, int]
    """The cases that read it, and after how many cycles each needs it."""


@dataclass(frozen=True)
class PE:
    """A PE of an array as hardware has it."""

    array: RecurrenceArray

    @cached_property
    def links(self) -> Mapping[str, ForwardedValue]:
        """The forwarded values by the names of their channels."""
        array, links = self.array, dict[str, ForwardedValue]()
        for case in array.nest.cases:
            for access, depth in zip(case.reads, array.timing.depths(case.result), strict=True):
                away = tuple(-subscript.constant for subscript in access)
                if access.tensor in array.ready and any(away):
                    steps = zip(array.nest.loops, away, strict=True)
                    far = tuple(step for loop, step in steps if loop in array.space)
                    link = ForwardedValue(access.tensor, away, far, {})
                    needs = links.setdefault("_".join((link.value, *map(str, away))), link).needs
                    lag = array.ready[case.value] - depth
                    needs[case] = min(lag, needs.get(case, lag))
        return links

    @property
    def obstacles(self) -> Iterator[str]:
        """Reasons why the PE cannot be written."""
        for link in self.links.values():
            if not any(link.far) and len(cycles := {*link.needs.values()}) > 1:
                yield f"{link.value} is needed after {sorted(cycles)} cycles; allowed: one number"
        for test in {test for case in self.array.nest.cases for test in case.conditions}:
            if test.count(",") > len(re.findall(r"m(in|ax)\(", test)):
                yield f"{test}; allowed: min and max of two"

    @property
    def bits(self) -> int:
        """Bits of the values of loops, and of the next ones."""
        return max(abs(at) for point in self.array.nest.iterations for at in point).bit_length() + 2

    @cached_property
    def inputs(self) -> Mapping[str, Collection[Case]]:
        """The cases that read what comes, by the names of channels."""
        nest = self.array.nest
        own = {access.tensor: [case] for case in nest.cases for access in nest.inputs_of(case)}
        return {**own, **{name: link.needs for name, link in self.links.items()}}

    @cached_property
    def outputs(self) -> Mapping[str, str]:
        """Conditions under which something leaves or stays, by the names of channels."""
        outputs, links = self.array.nest.outputs.items(), self.links.items()
        own = {access.tensor: self.when([case]) for case, access in outputs}
        return {**own, **{name: self.when(link.needs, link.away) for name, link in links}}

    @cached_property
    def stays(self) -> Collection[str]:
        """The channels that begin and end in the PE."""
        return [name for name, link in self.links.items() if not any(link.far)]

    @property
    def ports(self) -> Sequence[tuple[str, str]]:
        """The channels that enter or leave the PE, with their ways."""
        ways = ((self.inputs, "in"), (self.outputs, "out"))
        return [(name, way) for names, way in ways for name in names if name not in self.stays]

    @property
    def text(self) -> str:
        """The text of the PE's module, ``array_pe.sv``."""
        return template(
            "array_pe.sv.txt",
            statement=self.array.nest,
            design=",".join(self.array.space),
            pe=self,
            depth=FIFO_DEPTH,
            least=partial(least, bounds(self.array)),
        )

    @cached_property
    def values(self) -> Mapping[str, list[int]]:
        """The numbers of the statements of each value and output."""
        nest, values = self.array.nest, dict[str, list[int]]()
        for number, case in enumerate(nest.cases):
            name = nest.outputs[case].tensor if case in nest.outputs else case.value
            values.setdefault(name, []).append(number)
        return values

    @property
    def domain(self) -> str:
        """The condition that there is an iteration."""
        return " && ".join(f"{sum_text(each, 'of_')} >= 0" for each in sums(self.array.nest))

    def holds(self, number: int, earlier: Sequence[int]) -> str:
        """The condition that a statement applies: where no earlier one of the value does."""
        nest = self.array.nest
        names = {name: str(value) for name, value in nest.parameters}
        names |= {loop: f"of_{loop}" for loop in nest.loops} | {"min": "least", "max": "most"}
        here = ", ".join(f"of_{loop}" for loop in nest.loops)
        tests = [f"iterates({here})", *(f"!holds_{n}({here})" for n in earlier)]
        for test in nest.cases[number].conditions:
            tests.append(re.sub(r"[A-Za-z_]\w*", lambda name: names[name[0]], f"({test})"))
        return " && ".join(tests)

    def when(self, cases: Collection[Case], away: Point = ()) -> str:
        """The condition that one of these cases applies, so far away."""
        nest = self.array.nest
        steps = zip(nest.loops, away or [0] * len(nest.loops), strict=True)
        here = ", ".join(f"at_{loop} + {step}" for loop, step in steps)
        return " || ".join(f"holds_{n}({here})" for n, c in enumerate(nest.cases) if c in cases)

    def source(self, case: Case, read: str) -> tuple[str, int]:
        """The wire that has what a case reads, and after how many cycles."""
        access = case.reads[int(read[1:])]
        link = "_".join((access.tensor, *(str(-each.constant) for each in access)))
        if link in self.links:
            return f"{link}_in_data", self.links[link].needs[case] if link in self.stays else 0
        if access.tensor in self.array.ready:
            return f"{access.tensor}_value", self.array.ready[access.tensor]
        return f"{access.tensor}_in_data", 0
