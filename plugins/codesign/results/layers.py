"""The layers on an accelerator as results of networks, one for each workload: whatever takes those
takes these."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ithaca.files.numbers import number
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.bottleneck import REST, bottleneck
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.hardware.kind import About
from ithaca.plugins.codesign.formulations.kinds import ACCELERATORS
from ithaca.plugins.codesign.studies.question import Amount, CodesignQuestion
from ithaca.plugins.codesign.studies.result import CodesignResult, HardwarePoint
from ithaca.results.explanation import LimitUse
from ithaca.results.wording import headed
from ithaca.solver.conclusion import conclude
from ithaca.studies.network.products import taken_together
from ithaca.studies.network.result import PER_LAYER, LayerResult, NetworkResult, Total
from ithaca.workloads.networks.network import Layer, Network


def of_runs(question: CodesignQuestion) -> Amount:
    """The amount that stands for single runs: the first objective that depends on mappings, or else
    the first such limit."""
    return next(amount for amount in question.amounts if amount.shares)


def networks(result: CodesignResult) -> tuple[NetworkResult, ...]:
    """The layers of every workload on the best accelerator, each with what is proven of it there;
    or of the whole, if no other accelerator is better."""
    return tuple(_network(result, name) for name in result.question.workloads)


def _network(result: CodesignResult, name: str) -> NetworkResult:
    question, best = result.question, result.best
    assert best is not None
    own = [
        (work, answer)
        for work, answer in zip(question.works, best.layers, strict=True)
        if work.workload == name
    ]
    layers = tuple(
        LayerResult(Layer(work.name, work.nest, work.count, (work.name,)), answer, (answer,))
        for work, answer in own
    )
    method = own[0][1].certificate.method
    amount, alone = of_runs(question), len(question.workloads) == 1
    factors, runs = amount.factors, [(work.count**amount.degree, answer) for work, answer in own]
    whole = taken_together(factors, runs, method)
    one_each = all(work.factor == work.count for work, _ in own)
    if factors and result.settled and alone and one_each:
        whole = Total(whole.value, conclude(whole.value, whole.value, method=method))
    return NetworkResult(
        PER_LAYER,
        Network(name, tuple(layer.layer for layer in layers), unsupported=own[0][0].omitted),
        ACCELERATORS[question.space.accelerator.family].request(
            question.space.accelerator,
            result.architecture,
            tuple(layer.answer.problem for layer in layers),
        ),
        method,
        layers,
        whole,
        finished=True,
        source=result.source,
    )


def architecture_of(result: CodesignResult) -> Any:
    """The best accelerator by itself, as its family's commands take it; None if none does."""
    space, best = result.question.space, result.best
    if best is None:
        return None
    about = About(space.name, space.text(best.point), space.source)
    kind = ACCELERATORS[space.accelerator.family]
    return kind.alone(space.accelerator, space.at(best.point), about)


def energies(
    question: CodesignQuestion, accelerator: HardwarePoint
) -> dict[str, dict[str, Fraction]]:
    """The energy of all runs of every layer (pJ) by what the model says takes it; empty where it
    does not."""
    parts: dict[str, dict[str, Fraction]] = {}
    for work, answer in zip(question.works, accelerator.layers, strict=True):
        if answer.configuration is not None and "energy" in answer.problem.design.vocabulary:
            whole = bottleneck(
                answer.problem.design, answer.configuration, Symbol("energy"), "energy"
            )
            parts[question.shown_name(work)] = {
                part.name or REST: work.count * part.value
                for part in whole.parts or (whole,)
                if part.value > 0
            }
    return parts


def front_rows(
    question: CodesignQuestion, front: Sequence[HardwarePoint]
) -> list[list[tuple[str, str]]]:
    """The accelerators of a front in words: objectives, quantities, and further costs, by name."""
    texts, rows = [objective.text for objective in question.objectives], []
    labels = objective_labels(question)
    names = [name_asked(text) for text in texts]
    for place, accelerator in enumerate(front, 1):
        row = [("point", str(place))]
        values = map(as_asked, texts, accelerator.values)
        row += [(label, number(own)) for label, (_, own) in zip(labels, values, strict=True)]
        row += [(q.name, q.label(accelerator.point[q.name])) for q in question.space.quantities]
        rows.append(
            [
                *row,
                *(
                    (name, number(value))
                    for name, value in accelerator.costs.items()
                    if name not in names
                ),
            ]
        )
    return rows


def limit_uses(question: CodesignQuestion, accelerator: HardwarePoint) -> tuple[LimitUse, ...]:
    """Every limit, the one with the least left first; of totals of several workloads each by
    itself; of a requirement by how much it is kept."""
    uses = []
    for amount in question.limited:
        if amount.bound is not None:
            whose = (
                ""
                if amount.workload is None or len(question.workloads) == 1
                else f" of {amount.workload}"
            )
            used, bound = accelerator.total(amount), amount.bound
            if is_requirement(amount.text):
                used, bound = used - bound, Fraction(0)
            uses.append(LimitUse(amount.text + whose, used, bound))
    return tuple(sorted(uses, key=lambda use: use.slack_share or Fraction(0)))


def objective_labels(question: CodesignQuestion) -> list[str]:
    """The objectives with their units."""
    metrics = [metric_of(question, name_asked(each.text)) for each in question.objectives]
    return [headed(m.name, m.unit) for m in metrics]


def metric_of(question: CodesignQuestion, text: str) -> Metric:
    """The metric of an objective or a limit with its unit; of an expression, without one."""
    return question.space.metrics.get(text.partition(" of ")[0], Metric(text, "", ""))


def cost_text(question: CodesignQuestion, text: str, value: Fraction) -> str:
    """An objective, a limit or a cost with its value and unit.

    Parameters
    ----------
    question : Question
        What is asked; it knows the units of objectives, limits and costs.
    text : str
        The metric or expression, as it was asked for.
    value : Fraction
        Its value, in that unit.
    """
    return f"{text} {number(value)} {metric_of(question, text).unit}".rstrip()
