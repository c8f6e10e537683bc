"""The text of ``array_pe.sv`` of recurrences: loops, channels, and statements as pipelines."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ithaca.exports.rtl.array_text import channel_ports
from ithaca.exports.rtl.recurrence_loops import bounds, least, sum_text, sums
from ithaca.exports.templates import template
from ithaca.formulations.recurrence.array import FIFO_DEPTH, Place, RecurrenceArray
from ithaca.workloads.recurrence import Case, Point


@dataclass(frozen=True)
class Link:
    """What later iterations read of a value, all as far away."""

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
    def links(self) -> Mapping[str, Link]:
        """What later iterations read, by the names of channels."""
        array, links = self.array, dict[str, Link]()
        for case in array.nest.cases:
            for access, depth in zip(case.reads, array.timing.depths(case.result), strict=True):
                away = tuple(-subscript.constant for subscript in access)
                if access.tensor in array.ready and any(away):
                    steps = zip(array.nest.loops, away, strict=True)
                    far = tuple(step for loop, step in steps if loop in array.space)
                    link = Link(access.tensor, away, far, {})
                    needs = links.setdefault("_".join((link.value, *map(str, away))), link).needs
                    lag = array.ready[case.value] - depth
                    needs[case] = min(lag, needs.get(case, lag))
        return links

    @property
    def obstacles(self) -> Iterator[str]:
        """Why it cannot be written."""
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
        """When something leaves or stays, by the names of channels."""
        written, links = self.array.nest.written.items(), self.links.items()
        own = {access.tensor: self._when([case]) for case, access in written}
        return {**own, **{name: self._when(link.needs, link.away) for name, link in links}}

    @cached_property
    def stays(self) -> Collection[str]:
        """The channels that begin and end in it."""
        return [name for name, link in self.links.items() if not any(link.far)]

    @property
    def text(self) -> str:
        """``array_pe.sv``."""
        array = self.array
        ports = [f"    input  wire signed [{self.bits - 1}:0] at_{loop}" for loop in array.space]
        for name in self.inputs.keys() - self.stays:
            ports += channel_ports(f"{name}_in_", 32, reads=True)
        for name in self.outputs.keys() - self.stays:
            ports += channel_ports(f"{name}_out_", 32, reads=False)
        return template(
            "rtl/recurrence_pe.sv.txt",
            statement=array.nest,
            design=",".join(array.space),
            ports=",\n".join(ports),
            conditions="\n".join(self._conditions()),
            last_channel=len(self.inputs) + len(self.outputs) - 1,
            loops="\n".join(self._loops()),
            rest=array.refill - 1,
            inner=array.own[-1],
            values=", ".join(f"{name}_value" for name in self._values),
            channels="\n".join(self._channels()),
            pipelines="\n".join(self._pipelines()),
        )

    @cached_property
    def _values(self) -> Mapping[str, list[int]]:
        """The numbers of the statements of each value and output."""
        nest, values = self.array.nest, dict[str, list[int]]()
        for number, case in enumerate(nest.cases):
            name = nest.written[case].tensor if case in nest.written else case.value
            values.setdefault(name, []).append(number)
        return values

    def _conditions(self) -> Iterator[str]:
        """Functions that say where statements hold: where no earlier one of the value does."""
        nest = self.array.nest
        names = {name: str(value) for name, value in nest.parameters}
        names |= {loop: f"of_{loop}" for loop in nest.loops} | {"min": "least", "max": "most"}
        here = ", ".join(f"of_{loop}" for loop in nest.loops)
        ports = f"input integer {here.replace(', ', ', input integer ')}"
        domain = " && ".join(f"{sum_text(each, 'of_')} >= 0" for each in sums(nest))
        yield f"    function automatic iterates({ports});\n        iterates = {domain};"
        for numbers in self._values.values():
            for at, number in enumerate(numbers):
                tests = [f"iterates({here})", *(f"!holds_{n}({here})" for n in numbers[:at])]
                for test in nest.cases[number].conditions:
                    tests.append(
                        re.sub(r"[A-Za-z_]\w*", lambda found: names[found[0]], f"({test})")
                    )
                yield f"    endfunction\n    function automatic holds_{number}({ports});"
                yield f"        holds_{number} = {' && '.join(tests)};"

    def _when(self, cases: Collection[Case], away: Point = ()) -> str:
        """When one of these holds, so far away."""
        nest = self.array.nest
        steps = zip(nest.loops, away or [0] * len(nest.loops), strict=True)
        here = ", ".join(f"at_{loop} + {step}" for loop, step in steps)
        return " || ".join(f"holds_{n}({here})" for n, c in enumerate(nest.cases) if c in cases)

    def _loops(self) -> Iterator[str]:
        own, bits, every = self.array.own, self.bits, bounds(self.array)
        for loop in self.array.space:
            yield f"    wire signed [31:0] first_{loop} = at_{loop}, next_{loop} = at_{loop};"
        for loop in own:
            yield f"    reg signed [{bits - 1}:0] at_{loop};"
            yield f"    wire signed [31:0] first_{loop} = {least(every, loop, 'first_', 1)};"
            yield f"    wire last_{loop} = at_{loop} == {least(every, loop, 'at_', -1)};"
        for number, loop in enumerate(own, 1):
            inner = "".join(f"!last_{x} ? at_{loop} : " for x in own[number:])
            yield f"    wire signed [31:0] next_{loop} = {inner}last_{loop}"
            yield f"        ? {least(every, loop, 'next_', 1)} : at_{loop} + 1;"
            yield f"    always @(posedge clk)\n        if (rst) at_{loop} <= {bits}'(first_{loop});"
            yield f"        else if (turn) at_{loop} <= {bits}'(next_{loop});"

    def _channels(self) -> Iterator[str]:
        array, links = self.array, self.links
        for name in self.stays:
            yield f"    wire {name}_in_valid, {name}_in_ready;\n    wire [31:0] {name}_in_data;"
        for number, (name, cases) in enumerate(self.inputs.items()):
            yield f"    wire {name}_reads = {self._when(cases)};"
            yield f"    assign {name}_in_ready = turn && {name}_reads;"
            yield f"    assign waits[{number}] = {name}_reads && !{name}_in_valid;"
        for number, (name, when) in enumerate(self.outputs.items(), len(self.inputs)):
            value = links[name].value if name in links else name
            late = array.ready[array.nest.cases[self._values[value][0]].value]
            room, put = f"{name}_out_room", f"{name}_writes"
            text = f".clk(clk), .rst(rst), .{{}}(turn && {put}), .in_data({value}_value)"
            yield f"    wire {put} = {when};\n    wire {room};"
            yield f"    assign waits[{number}] = {put} && !{room};"
            if name in self.stays:
                need = max(links[name].needs.values())
                words = array.registers.get(value, 1) + max(need - late, 0)
                yield f"    assign {room} = 1'b1;"
                sizes = f".WORDS({words}), .READY({late}), .NEED({need})"
                yield f"    ithaca_keep #({sizes}) {name}_kept ("
                yield f"        {text.format('put')}, .there({name}_in_valid),"
                yield f"        .take({name}_in_ready), .out_data({name}_in_data)\n    );"
            else:
                stages = f".LATE({late}), .STAGES({array.timing.hop - 1})"
                yield f"    ithaca_fifo #(.BITS(32), .DEPTH({FIFO_DEPTH}), {stages}) {name}_fifo ("
                yield f"        {text.format('in_valid')}, .in_ready({room}),"
                yield f"        .out_valid({name}_out_valid), .out_ready({name}_out_ready),"
                yield f"        .out_data({name}_out_data)\n    );"

    def _pipelines(self) -> Iterator[str]:
        """Operators of every statement, and of each value the result of the one that holds."""
        for value, numbers in self._values.items():
            for number in numbers:
                case = self.array.nest.cases[number]
                late, when = self.array.ready[case.value], self._when([case])
                yield from self._computed(case, case.result, late, f"case_{number}")
                yield f"    wire held_{number};\n    ithaca_delay #(.CYCLES({late})) late_{number}("
                yield f"        .clk(clk), .in({when}), .out(held_{number})\n    );"
            others = "".join(f"held_{n} ? case_{n} : " for n in numbers[:-1])
            yield f"    assign {value}_value = {others}case_{numbers[-1]};"

    def _computed(self, case: Case, node: ast.expr, age: int, name: str) -> Iterator[str]:
        """A wire of this name that has part of a statement, so many cycles after its begin."""
        yield f"    wire [31:0] {name};"
        if isinstance(node, ast.BinOp):
            cycles = self.array.timing.cycles(node.op)
            yield from self._computed(case, node.left, age - cycles, f"{name}a")
            yield from self._computed(case, node.right, age - cycles, f"{name}b")
            kind = f'.KIND("{type(node.op).__name__}"), .CYCLES({cycles})'
            yield f"    ithaca_operator #({kind}) {name}_operator (\n        .clk(clk),"
            yield f"        .a({name}a), .b({name}b), .result({name})\n    );"
        else:
            access = case.reads[int(ast.unparse(node)[1:])]
            link = "_".join((access.tensor, *(str(-each.constant) for each in access)))
            source = f"{link if link in self.links else access.tensor}_in_data"
            since = self.links[link].needs[case] if link in self.stays else 0
            if link not in self.links and access.tensor in self.array.ready:
                source, since = f"{access.tensor}_value", self.array.ready[access.tensor]
            yield f"    ithaca_delay #(.BITS(32), .CYCLES({age - since})) {name}_late ("
            yield f"        .clk(clk), .in({source}), .out({name})\n    );"
