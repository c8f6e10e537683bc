"""CoSA's log-linear program (Huang et al., ISCA 2021): a mapping by one integer program over the
prime factors of loops.

Every prime factor of every loop gets one slot. In logarithms, tiles, lanes and cycles are sums:
tiles stay below a share of each capacity, lanes below the meshes, and what is minimised is the
cycles of the multipliers, plus the traffic over the meshes (tiles times lanes times the trips
outside that reload them), less the words that fill the buffers, each with weight 1; the paper fits
weights to its machine. What the program takes for costs is not the model's, and leaves DRAM out:
its mapping is evaluated as any other. Sums of tiles have no logarithm, so the tensors of a level
share its capacity evenly; where a program's tiles do not fit all the same, shares are halved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor, log2
from typing import TYPE_CHECKING, Any

from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.mapping import Order, Slot

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace

#: Parts of a unit of logarithms.
SCALE = 1 << 12

#: How often shares are halved before giving up.
HALVINGS = 6

#: Effort of a program, in the solver's own measure, so that answers do not depend on the machine.
EFFORT = 3.0


def programmed(design: MappingSpace) -> Iterator[Constraints]:
    """The mappings of programs with smaller and smaller shares, as constraints that fix all."""
    for halvings in range(HALVINGS + 1):
        mapping = _solved(design, 1 / (1 << halvings))
        if mapping is not None:
            yield _fixing(design, *mapping)


def prime_factors(number: int) -> list[int]:
    """The prime factors of a number, ascending, each as often as it divides it."""
    primes, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            primes.append(divisor)
            number //= divisor
        divisor += 1
    return primes


def _solved(
    design: MappingSpace, share: float
) -> tuple[dict[tuple[str, Slot], int], dict[str, Order]] | None:
    """Factors by loop and slot, and the order of every level, of a program."""
    from ortools.sat.python import cp_model

    model, levels, slots = cp_model.CpModel(), design.architecture.levels, design.slots
    names = [level.name for level in levels]
    factors = [
        (loop, prime) for loop, extent in design.nest.extents for prime in prime_factors(extent)
    ]
    placed = {(n, slot): model.new_bool_var("") for n in range(len(factors)) for slot in slots}
    for n in range(len(factors)):
        model.add_exactly_one(placed[n, slot] for slot in slots)

    def logs(where: list[Slot], loops: Any = None) -> Any:
        chosen = [(n, p) for n, (loop, p) in enumerate(factors) if loops is None or loop in loops]
        return sum(round(SCALE * log2(p)) * placed[n, slot] for n, p in chosen for slot in where)

    def inside(level: int) -> list[Slot]:
        return [slot for slot in slots if names.index(slot.level) >= level]

    cost: Any = logs([slot for slot in slots if slot.temporal])
    indexing = {access.tensor: access.loops for access in design.nest.accesses}
    for place, level in enumerate(levels):
        kept, parts = design.keeps(place), dict(level.tensor_words)
        for tensor in sorted(kept):
            whole = parts.get(tensor, level.words and level.words / len(kept))
            if whole:
                words = logs(inside(place), indexing[tensor])
                model.add(
                    words <= floor(SCALE * log2(max(share * float(whole / level.buffering), 1)))
                )
                cost = cost - words
    orders: dict[str, list[Any]] = {}
    for place, level in enumerate(levels):
        chosen = orders[level.name] = [model.new_bool_var("") for _ in design.orders[level.name]]
        model.add_exactly_one(chosen)
        if (mesh := design.architecture.inner_mesh(place)) is None:
            continue
        for direction, most in zip("xy", mesh, strict=True):
            outside = [
                slot
                for slot in slots
                if slot.direction == direction and names.index(slot.level) <= place
            ]
            model.add(logs(outside) <= floor(SCALE * log2(most)))
        for loop in design.moving:  # a loop lies along one direction
            upward = model.new_bool_var("")
            for n, (name, _) in enumerate(factors):
                if name == loop:
                    model.add(placed[n, Slot(level.name, "x")] <= 1 - upward)
                    model.add(placed[n, Slot(level.name, "y")] <= upward)
        lanes = [Slot(level.name, "x"), Slot(level.name, "y")]
        around = [Slot(name) for name in names[:place]]
        for loops in indexing.values():
            trips = model.new_int_var(0, 1 << 30, "")
            for order, is_chosen in zip(design.orders[level.name], chosen, strict=True):
                last = max((n for n, loop in enumerate(order) if loop in loops), default=-1)
                counted = logs([Slot(level.name)], set(order[: last + 1])) + logs(around)
                model.add(trips >= counted).only_enforce_if(is_chosen)
            cost = cost + logs(inside(place + 1), loops) + logs(lanes, loops) + trips
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = 1, 0
    solver.parameters.max_deterministic_time = EFFORT
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    products: dict[tuple[str, Slot], int] = {}
    for (n, slot), variable in placed.items():
        loop, prime = factors[n]
        if solver.value(variable):
            products[loop, slot] = products.get((loop, slot), 1) * prime
    picked = {name: [solver.value(v) for v in chosen].index(1) for name, chosen in orders.items()}
    return products, {name: design.orders[name][number] for name, number in picked.items()}


def _fixing(
    design: MappingSpace, factors: Mapping[tuple[str, Slot], int], orders: Mapping[str, Order]
) -> Constraints:
    """Constraints that allow one mapping alone."""
    spans, directions = [], []
    for level in design.architecture.levels:
        meshed = Slot(level.name, "x") in design.slots
        for loop in design.moving:
            n = factors.get((loop, Slot(level.name)), 1)
            spans.append(FactorRange(level.name, "temporal", loop, n, n))
            if meshed:
                x, y = (factors.get((loop, Slot(level.name, way)), 1) for way in "xy")
                spans.append(FactorRange(level.name, "spatial", loop, x * y, x * y))
                directions.append((level.name, loop, "y" if y > 1 else "x"))
    return Constraints(tuple(spans), tuple(directions), tuple(orders.items()), where="program")
