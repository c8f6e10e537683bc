"""Print accelerators chosen together with their mappings for people."""

from __future__ import annotations

from rich.console import Console

from ithaca.commands.api.codesign_study import CodesignStudy
from ithaca.commands.display import console
from ithaca.commands.network_display import print_layers
from ithaca.commands.tables import Table
from ithaca.files.numbers import counted, number, percent
from ithaca.results.codesign_layers import cost_text, front_rows, limit_uses
from ithaca.results.wording import proof
from ithaca.studies.codesign.result import CodesignResult, HardwarePoint


def print_codesign(result: CodesignResult) -> None:
    """Print what was asked, the best accelerator with its layers or the front, and what the search
    did."""
    out, question, counts = console(), result.question, result.counts
    objectives = ", ".join(objective.text for objective in question.objectives)
    weights = {work.workload: work.weight for work in question.works}
    workloads = ", ".join(
        name if weight == 1 else f"{name} × {number(weight)}" for name, weight in weights.items()
    )
    out.print(
        f"{question.space.name}: {counts.points:,} accelerators, for "
        f"{workloads}, minimising {objectives}"
    )
    for line in result.trail:
        out.print(line)
    if len(question.objectives) > 1:
        _print_front(out, result)
    elif result.best is not None:
        _print_best(out, result, result.best)
    if result.open:
        out.print(_open(result))
    boxes = f"{counts.boxes:,} box{'' if counts.boxes == 1 else 'es'} of accelerators"
    boxes += f", {counts.excluded:,} excluded by limits and rules"
    boxes += "".join(result.certificate.method.partition(", begun")[1:])
    out.print(
        f"\nsearch     {boxes}; {counted(counts.layers, 'layer problem')}; "
        f"{result.certificate.seconds:.2f} s"
    )


def _open(result: CodesignResult) -> str:
    """What is not excluded yet."""
    left, first = sum(box.points for box in result.open), result.open[0]
    whole = result.question.space.box.ranges
    ends = {name: span for name, span in first.spans.items() if span != whole[name]}
    spans = ", ".join(
        f"{name} {low}" if low == high else f"{name} {low}…{high}"
        for name, (low, high) in ends.items()
    )
    objective, bound = result.question.objectives[0].text, first.lower_bounds[0]
    least = "" if bound is None else f", {objective} at least {number(bound)}"
    return f"still open {left:,} accelerators, first of all {spans or 'any'}{least}"


def _print_best(out: Console, result: CodesignResult, best: HardwarePoint) -> None:
    question = result.question
    out.print(f"\nhardware   {question.space.text(best.point)}")
    if best.costs:
        costs = "; ".join(cost_text(question, name, cost) for name, cost in best.costs.items())
        out.print(f"           {costs}")
    meaning = ": no accelerator of the space is better" if result.complete else ""
    meaning += ", with such mappings" if meaning and result.certificate.among else ""
    value = cost_text(question, question.objectives[0].text, best.values[0])
    out.print(f"objective  {value}  ({proof(result.certificate)}{meaning})")
    where = "" if result.complete and len(result.networks) == 1 else " on this accelerator"
    for network in result.networks:
        out.print(f"\n{network.network.name}")
        print_layers(out, network, where)
    for use in limit_uses(question, best):
        share = f" ({percent(use.used / use.bound)})" if use.bound else ""
        used = cost_text(question, use.metric, use.used)
        out.print(f"limit      {used} of {number(use.bound)}{share}")


def _print_front(out: Console, result: CodesignResult) -> None:
    many = counted(len(result.front), "point")
    if result.complete:
        among = f" among {result.certificate.among}" if result.certificate.among else ""
        out.print(f"complete: {many}, and no other vector of objectives is on the front{among}")
    else:
        bound = result.lower_bound
        least = (
            ""
            if bound is None
            else f"; {result.question.objectives[0].text} is at least {number(bound)}"
        )
        out.print(f"partial: {many} that none found dominates; others may be better{least}")
    if result.front:
        names = {q.name for q in result.question.space.quantities if q.labels}
        out.print(Table(front_rows(result.question, result.front), left=names))


def print_codesign_study(study: CodesignStudy) -> None:
    """Print a row a point: what is varied, the best accelerator, and what is proven of it."""
    out = console()
    out.print(study.headline)
    out.print(Table(study.rows, left=study.texts))
