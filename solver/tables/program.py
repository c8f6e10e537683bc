"""Straight-line programs: expressions compiled for repeated evaluation on arrays.

A program of hundreds of operations on fresh arrays spends up to half its time in page faults:
memory is given back to the system after each run, and asked for again. So an array is freed as soon
as no later operation reads it, and long arrays are worked through in blocks that stay in the cache.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
)
from ithaca.formulations.remembered import remembered

if TYPE_CHECKING:
    from ithaca.solver.tables.machine_code import Machine, Placed

Array = Floats

#: Entries evaluated at once by `Program.gather`: enough to amortise calls into NumPy, and its work
#: arrays stay in the cache.
LONG = 4096

#: Operations on entries after which a program starts the machine, which takes 0.06 s; a call of
#: NumPy is as much as so many.
STARTED, CALL = 2 * 10**7, 2000

#: The module of the machine.
MACHINE = "ithaca.solver.tables.machine_code"


class Sources(tuple[tuple[int, Array], ...]):
    """For each symbol of a program the number of an axis, and the value on each of its nodes."""

    def __reduce__(self) -> Any:
        return Sources, (tuple(self),)

    @cached_property
    def placed(self) -> Placed:
        """The values where machine code finds them."""
        from ithaca.solver.tables.machine_code import placed

        return placed(self)


class Program:
    """Expressions over column statistics, as a list of array operations without repetition."""

    def __init__(self, outputs: Sequence[Expression]) -> None:
        self.symbols: list[str] = []
        self._steps: list[tuple[str, tuple[int, ...], float]] = []
        self._slots: dict[tuple[str, tuple[int, ...], float], int] = {}
        self._outputs = [self._compile(node) for node in outputs]
        self._work = 0

    @property
    def state(self) -> tuple[list[str], list[tuple[str, tuple[int, ...], float]], list[int]]:
        """The program as plain data: symbols, steps and the steps whose results are the outputs."""
        return self.symbols, self._steps, self._outputs

    @classmethod
    def restored(
        cls,
        symbols: list[str],
        steps: Iterable[tuple[str, Iterable[int], float]],
        outputs: list[int],
    ) -> Program:
        """The program of which that is the `state`.

        Parameters
        ----------
        symbols : list of str
            Its symbols.
        steps : iterable of tuple of str, iterable of int, float
            Its steps.
        outputs : list of int
            The steps whose results are its outputs.
        """
        program = cls(())
        program.symbols, program._outputs = symbols, outputs
        program._steps = [(name, tuple(own), constant) for name, own, constant in steps]
        return program

    def run(self, loaded: Sequence[Array]) -> list[Array]:
        """Evaluate all outputs; ``loaded`` holds the arrays of `symbols`, in their order."""
        slots = self._plan.slots.copy()
        for number, function, arguments, dead in self._plan.steps:
            slots[number] = (
                function(*[slots[a] for a in arguments]) if function else loaded[arguments[0]]
            )
            for slot in dead:
                slots[slot] = None
        return [slots[index] for index in self._outputs]

    def gather(
        self, sources: Sequence[tuple[int, Array]], nodes: NDArray[np.signedinteger]
    ) -> list[Array]:
        """Evaluate all outputs where each symbol is what its source has at the nodes of an axis.

        ``sources`` has for each of `symbols` the number of its axis and the value on each node;
        ``nodes`` has shape (axes, entries).
        """
        entries = nodes.shape[1]
        self._work += len(self._plan.steps) * (entries + CALL)
        if entries and (machine := self._machine):
            placed = (sources if isinstance(sources, Sources) else Sources(sources)).placed
            return list(machine.run(*self._code, placed, nodes, len(self._outputs)))
        outputs = np.empty((len(self._outputs), entries))
        for begin in range(0, entries, LONG):
            part = nodes[:, begin : begin + LONG].astype(np.intp)
            loaded = [values.take(part[axis]) for axis, values in sources]
            with np.errstate(all="ignore"):  # no number where a bound has no end
                values = self.run(loaded)
            for whole, value in zip(outputs, values, strict=True):
                whole[begin : begin + LONG] = value
        return list(outputs)

    def part(self, outputs: slice) -> Program:
        """The program of some of the outputs, with the same symbols."""
        program = copy(self)
        for derived in ("_plan", "_code"):
            program.__dict__.pop(derived, None)
        program._outputs = self._outputs[outputs]
        return program

    @cached_property
    def _plan(self) -> _Plan:
        last: dict[int, int] = {}
        for number in range(len(self._steps) - 1, -1, -1):
            if (number in last or number in self._outputs) and self._steps[number][0] != "load":
                last |= {a: number for a in self._steps[number][1] if a not in last}
        slots: list[Any] = [None] * len(self._steps)
        steps: list[_Step] = []
        for number, (operation, arguments, constant) in enumerate(self._steps):
            if operation == "constant":
                slots[number] = np.float64(constant)
                continue
            if number not in last and number not in self._outputs:
                continue
            if operation == "load":
                steps.append((number, None, arguments, ()))
                continue
            if operation == "scale":
                arguments = (*arguments, len(slots))
                slots.append(np.float64(constant))
            if all(slots[a] is not None for a in arguments):
                slots[number] = _OPERATIONS[operation](*(slots[a] for a in arguments))
                continue
            dead = {
                a
                for a in arguments
                if slots[a] is None and last[a] == number and a not in self._outputs
            }
            steps.append((number, _OPERATIONS[operation], arguments, tuple(dead)))
        return _Plan(slots, steps)

    @property
    def _machine(self) -> Machine | None:
        """The machine that runs the program, once somebody has much to run."""
        if self._work <= STARTED and MACHINE not in sys.modules:
            return None
        from ithaca.solver.tables.machine_code import machine

        return machine()

    @cached_property
    def _code(self) -> tuple[NDArray[np.int32], Floats, int]:
        """The steps for the machine (`ithaca.solver.tables.machine_code`), its constants, and how
        many registers it needs."""
        from ithaca.solver.tables.machine_code import LANES, Instruction, instruction

        plan, code, spare = self._plan, list[Instruction](), list[int]()
        constants = [slot for slot, value in enumerate(plan.slots) if value is not None]
        places = {slot: number for number, slot in enumerate(constants)}
        count = fixed = len(places)
        for number, function, arguments, dead in plan.steps:
            own = [places[slot] for slot in arguments] if function else arguments
            spare += [places[slot] for slot in dead]
            if not spare:
                spare.append(count)
                count += 1
            places[number] = spare.pop()
            name = _NAMES[function] if function else "load"
            code.append(instruction(name, places[number], own[0], own[-1]))
        for number, slot in enumerate(self._outputs):
            code.append(instruction("store", number, places[slot]))
        values = np.repeat(np.array([float(plan.slots[slot]) for slot in constants]), LANES)
        return np.array(code, np.int32), values.reshape(-1, LANES), count - fixed

    def _emit(self, operation: str, arguments: tuple[int, ...] = (), constant: float = 0.0) -> int:
        key = (operation, arguments, constant)
        if key not in self._slots:
            self._slots[key] = len(self._steps)
            self._steps.append(key)
        return self._slots[key]

    def _fold(self, operation: str, slots: Iterable[int]) -> int:
        """Combine slots one after the other, each as soon as it is computed: then few are waited
        for at a time."""
        return reduce(lambda result, slot: self._emit(operation, (result, slot)), slots)

    @remembered
    def _compile(self, node: Expression) -> int:
        if isinstance(node, Symbol):
            if node.name not in self.symbols:
                self.symbols.append(node.name)
            return self._emit("load", (self.symbols.index(node.name),))
        if isinstance(node, Constant):
            return self._emit("constant", constant=float(node.value))
        if isinstance(node, Sum):
            return self._fold("add", (self._compile(t) for t in node.terms))
        if isinstance(node, Maximum):
            return self._fold("maximum", (self._compile(a) for a in node.arguments))
        if isinstance(node, Minimum):
            return self._fold("minimum", (self._compile(a) for a in node.arguments))
        if isinstance(node, CeilingDivision):
            ratio = self._emit(
                "divide", (self._compile(node.numerator), self._compile(node.denominator))
            )
            return self._emit("ceil", (ratio,))
        if isinstance(node, Product):
            over = [self._compile(b) for b, e in node.factors for _ in range(e)]
            under = [self._compile(b) for b, e in node.factors for _ in range(-e)]
            result = (
                self._fold("multiply", sorted(over))
                if over
                else self._emit("constant", constant=1.0)
            )
            if under:
                result = self._emit("divide", (result, self._fold("multiply", sorted(under))))
            return (
                result
                if node.coefficient == 1
                else self._emit("scale", (result,), float(node.coefficient))
            )
        raise TypeError(f"cannot compile {node}")


_Step: TypeAlias = tuple[int, np.ufunc | None, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class _Plan:
    """A plan to run a program: what is constant is computed once."""

    slots: list[Any]
    """The constants, in their places; None where there will be an array."""
    steps: list[_Step]
    """For each other slot its number, what computes it (None: it is loaded), of which slots (or
    symbol), and the slots that no later step needs."""


_OPERATIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "multiply": np.multiply,
    "scale": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "ceil": np.ceil,
}

#: The machine's names of what computes.
_NAMES = {function: name for name, function in _OPERATIONS.items() if name != "scale"}
