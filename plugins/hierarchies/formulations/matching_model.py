"""All matches of a computation with an intrinsic: the solutions of a constraint program, which
CP-SAT enumerates."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import combinations, permutations, product

from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.formulations.matching import (
    Computation,
    Match,
    MatchingRule,
    stages,
    without,
)

#: Most solutions that are enumerated: loops that are all alike have as many as they have orders.
MOST = 20_000

#: A solution: loops, loads and leaves of the computation that those of the intrinsic stand for.
Solution = tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]


def matches(
    whole: Computation,
    intrinsic: Computation,
    rule: MatchingRule = MatchingRule.CONSISTENT,
    *,
    partial: bool = False,
) -> tuple[Match, ...]:
    """Every legal match of a computation, or of its stages if it multiplies more factors.

    Of matches that differ only by an exchange of names in the intrinsic, such as operands of a
    matrix product of equal sizes, one is given. They stand stage by stage: fewest calls, longest
    runs of words, inner loops first.

    Parameters
    ----------
    whole : Computation
        The computation.
    intrinsic : Computation
        The intrinsic.
    rule : MatchingRule, optional
        When a match is legal.
    partial : bool, optional
        Whether, where a stage has no other, those are given that leave the fewest loops of the
        intrinsic idle.

    Returns
    -------
    tuple of Match
        All of them; none is missing.

    Raises
    ------
    InputError
        If there are more than `MOST`.
    """
    own = _matches(intrinsic, intrinsic, MatchingRule.CONSISTENT)
    exchanges = [match.loops for match in own if match.spans == intrinsic.sizes]
    legal: list[Match] = []
    for stage in stages(whole, len(intrinsic.inputs)):
        every: list[Match] = []
        for count in range(len(intrinsic.loops) if partial else 1):
            for idle in combinations(intrinsic.extents, count):
                kept = without(intrinsic, [loop for loop, _ in idle])
                every += (replace(match, idle=idle) for match in _matches(stage, kept, rule))
            if every:
                break
        distinct: list[Match] = []
        seen: set[tuple[str | None, ...]] = set()
        for match in sorted(
            every, key=lambda match: match.loads
        ):  # operands as they are written come first
            if tuple(match.binding.get(name) for name in intrinsic.loops) not in seen:
                distinct.append(match)
                seen.update(tuple(match.binding.get(name) for name in names) for names in exchanges)
        inner = {loop: -n for n, loop in enumerate(stage.loops)}
        legal += sorted(
            distinct,
            key=lambda match: (
                match.whole.calls,
                match.runs,
                [inner[loop] for loop in match.loops],
            ),
        )
    return tuple(legal)


def _matches(computation: Computation, intrinsic: Computation, rule: MatchingRule) -> list[Match]:
    """Every match of the model's solutions."""
    shapes = (
        replace(each, name="", extents=tuple((loop, 1) for loop in each.loops))
        for each in (computation, intrinsic)
    )
    return [Match(computation, intrinsic, *solution) for solution in _solutions(*shapes, rule)]


@lru_cache(maxsize=1024)
def _solutions(
    computation: Computation, intrinsic: Computation, rule: MatchingRule
) -> tuple[Solution, ...]:
    """All solutions, outermost loops first; sizes play no part."""
    if len(computation.inputs) != len(intrinsic.inputs):
        return ()
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    ours, theirs = intrinsic.leaves, computation.leaves
    bound = {
        each: model.new_bool_var("")
        for each in product(intrinsic.loops, computation.loops)
        if intrinsic.summed(each[0])
        == computation.summed(each[1])  # the sum at the root is over both, or neither
    }
    loads = {
        each: model.new_bool_var("") for each in product(range(len(intrinsic.inputs)), repeat=2)
    }
    taken = {
        (n, k): model.new_bool_var("")
        for (n, leaf), (k, image) in product(enumerate(ours), enumerate(theirs))
        if (leaf.loop, image.loop) in bound
    }
    for index in intrinsic.loops:
        model.add_exactly_one(x for (i, _), x in bound.items() if i == index)
    for loop in computation.loops:
        model.add_at_most_one(x for (_, t), x in bound.items() if t == loop)
    for n in range(len(intrinsic.inputs)):
        model.add_exactly_one(x for (f, _), x in loads.items() if f == n)
        model.add_exactly_one(x for (_, g), x in loads.items() if g == n)
    # step one, indices: leaves stand for different ones, each of the loop that its loop is bound
    # to; none of these is left over
    for n in range(len(ours)):
        model.add_exactly_one(x for (leaf, _), x in taken.items() if leaf == n)
    for (n, k), x in taken.items():
        model.add_implication(x, bound[ours[n].loop, theirs[k].loop])
        model.add_implication(x, loads[ours[n].load, theirs[k].load])
    for k, image in enumerate(theirs):
        of_image = [x for (_, each), x in taken.items() if each == k]
        model.add(sum(of_image) == sum(x for (_, loop), x in bound.items() if loop == image.loop))
    # step two, structure: any two leaves meet in the same operation as those that they stand for
    for (n, m), (k, j) in product(
        combinations(range(len(ours)), 2), permutations(range(len(theirs)), 2)
    ):
        if (
            (n, k) in taken
            and (m, j) in taken
            and not rule.allows(ours[n], ours[m], theirs[k], theirs[j])
        ):
            model.add_bool_or(~taken[n, k], ~taken[m, j])

    class Collector(cp_model.CpSolverSolutionCallback):
        """A callback of CP-SAT that keeps every solution."""

        def __init__(self) -> None:
            super().__init__()
            self.solutions: set[Solution] = set()

        def on_solution_callback(self) -> None:
            chosen = dict(key for key, x in bound.items() if self.value(x))
            order = sorted(key for key, x in loads.items() if self.value(x))
            images = sorted(key for key, x in taken.items() if self.value(x))
            loops = tuple(chosen[index] for index in intrinsic.loops)
            self.solutions.add((loops, tuple(g for _, g in order), tuple(k for _, k in images)))
            if len(self.solutions) > MOST:
                self.stop_search()

    solver, collector = cp_model.CpSolver(), Collector()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.solve(model, collector)
    if len(collector.solutions) > MOST:
        raise InputError(
            f"{intrinsic} has more than {MOST} matches with {computation}; "
            "allowed: an intrinsic of fewer loops alike"
        )
    place = {loop: n for n, loop in enumerate(computation.loops)}
    one: dict[
        tuple[object, object], Solution
    ] = {}  # of the places that a loop has in one load, the first
    for solution in sorted(
        collector.solutions, key=lambda entry: ([place[loop] for loop in entry[0]], entry[1:])
    ):
        one.setdefault(solution[:2], solution)
    return tuple(one.values())
