"""Single accelerators: their best combinations of mappings, and what is proven of the mappings of
one that was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.combine import Choice, combinations
from ithaca.plugins.codesign.studies.layer_cache import LayerCache, problems_of
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import HardwarePoint
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution, make_solution


def combined(
    question: CodesignQuestion,
    bank: LayerCache,
    point: Configuration,
    options: Callable[[], SolveOptions],
) -> Sequence[Sequence[Solution]] | None:
    """Mappings of all layers of which no others are better in every amount of runs; None if there
    was no time for all.

    ``options`` say of each layer, when its turn comes, how far to search.

    Parameters
    ----------
    question : Question
        What is asked.
    bank : LayerCache
        Answers of layers, which it adds to.
    point : Configuration
        The accelerator: a value of each quantity.
    options : callable
        Called for each layer, when its turn comes: how far to search.

    Returns
    -------
    sequence of sequence of Solution, optional
        Each a solution for every layer, in the order of the question.
    """
    space = question.space
    figures, costs = space.at(point), space.known(point)
    amounts = [amount for amount in question.amounts if amount.shares]
    taken = [amount.of_layer(costs) for amount in amounts]
    objectives = {objective.expression: objective for objective in taken}
    columns = [list(objectives).index(objective.expression) for objective in taken]
    layers: list[list[Choice]] = []
    runs = [bank.run(work, figures, taken[0]) for work in question.works]
    for run in runs:
        front = bank.front(run, tuple(objectives.values()), options())
        if front is None:
            return None
        layers.append([(n, c, tuple(values[k] for k in columns)) for n, c, values in front])
    mappings = []
    for combination in combinations(amounts, layers):
        solutions = []
        for run, (number, configuration, _) in zip(runs, combination.choices, strict=True):
            problem = problems_of(space.accelerator, run.ask)[number]
            proof = conclude(problem.value(configuration), None, method="front")
            solutions.append(make_solution(problem, configuration, proof))
        mappings.append(solutions)
    return mappings


def certified(
    question: CodesignQuestion, bank: LayerCache, accelerator: HardwarePoint, *, proven: bool
) -> HardwarePoint:
    """An accelerator with its layers' problems as they are on it, and what is proven of their
    mappings.

    Where an optimum depends on nothing but one sum over runs, which may be limited too, every
    mapping is a layer's best.

    Parameters
    ----------
    question : Question
        What is asked.
    bank : LayerCache
        Answers of layers known already.
    accelerator : HardwarePoint
        The accelerator, with a solution for every layer.
    proven : bool
        Whether the search over the whole space is complete.
    """
    space, place = (
        question.space,
        next(place for place, amount in enumerate(question.amounts) if amount.shares),
    )
    figures, objective, layers = (
        space.at(accelerator.point),
        question.amounts[place].of_layer(accelerator.known),
        [],
    )
    alike = all(
        amount.expression == question.amounts[0].expression
        for amount in question.limited
        if amount.shares
    )
    least = proven and alike and place == 0 and len(question.objectives) == 1
    for work, old in zip(question.works, accelerator.layers, strict=True):
        run = bank.run(work, figures, objective)
        bare = problems_of(space.accelerator, run.ask)
        whole = space.accelerator.problems(work, figures, objective)
        # a search inside another one has certified its accelerator already
        problem = next(
            new
            for new, known in zip(whole, bare, strict=True)
            if old.problem.design in (known.design, new.design)
        )
        assert old.configuration is not None
        value, answer = problem.value(old.configuration), bank.answer(run)
        bound = value if least or answer.value == answer.bound == value else None
        proof = conclude(value, bound, method=old.certificate.method, nodes=old.certificate.nodes)
        proof = replace(proof, seconds=old.certificate.seconds)
        layers.append(make_solution(problem, old.configuration, proof))
    return replace(accelerator, layers=tuple(layers))
