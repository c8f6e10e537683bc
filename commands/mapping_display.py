"""Print mappings onto memory hierarchies for people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ithaca.commands.display import console, microjoules, proof_text, table
from ithaca.commands.network_display import gap, proof, shortened
from ithaca.files.shown_numbers import number, percent
from ithaca.formulations.families import profile_of
from ithaca.formulations.spatial.mapping_design import mapping_design
from ithaca.solver.certificate import Status, as_stated
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution
from ithaca.studies.network.result import NetworkResult

#: What the table's words mean.
WORDS = (
    "words      reads, fills (from the level around it) and updates (results "
    "from inside) are words of one instance;",
    "           energies are those of all instances",
)


def print_mapping(result: Result) -> None:
    """Print the answer and its proof, the mapping as Timeloop does, what each level moves and
    takes, and what binds."""
    out, best, objective = console(), result.best, result.objective.text
    design = result.problem.design if best is None else best.problem.design
    out.print(
        escape(f"{profile_of(design).title}, on {result.platform_name}, minimising {objective}")
    )
    if best is None or best.configuration is None:
        known = result.designs[0].certificate
        unknown = (
            known.failure
            if known.empty
            else f"nothing found in time; lower bound {number(known.lower_bound)}"
        )
        out.print(
            "\ninfeasible: no mapping meets the limits"
            if known.status is Status.INFEASIBLE
            else f"\n{unknown}"
        )
        return
    out.print(
        escape(
            f"\nobjective  {number(best.value)}  "
            f"({proof_text(best.certificate)}{as_stated(result)})"
        )
    )
    found, told = best.metrics, [f"latency {number(best.metrics['latency'])} cycles"]
    if "energy" in found:
        told += [
            f"energy {microjoules(found['energy'])} µJ",
            f"EDP {number(found['edp'])} pJ·cycles",
        ]
    out.print(f"           {'; '.join(told)}\n")
    for line in profile_of(design).loops(best.configuration):
        out.print(escape(line))
    if (levels := _levels(best)).rows:
        out.print(levels)
        for line in WORDS:
            out.print(line)
    for statement in profile_of(design).remarks(best.configuration, best.problem.limits).statements:
        term, _, said = statement.partition(": ")
        out.print(escape(f"{term.lower():<11}{said}"))
    for limit in best.problem.limits:
        used = limit.used(best.metrics)
        share = f" ({percent(used / limit.bound)})" if limit.bound else ""
        unit = (
            f" {design.vocabulary[limit.metric].unit}" if limit.metric in design.vocabulary else ""
        )
        out.print(
            escape(f"{limit.metric:<10} {number(used)} of {number(limit.bound)}{unit}{share}")
        )


def _levels(best: Solution) -> Table:
    """What each level moves of each tensor, and what that takes."""
    design, metrics = mapping_design(best.problem.design), best.metrics
    rows = []
    for level in design.architecture.levels:
        first = True
        for tensor in (access.tensor for access in design.nest.accesses):
            counts = {
                what: metrics.get(f"{level.name}.{tensor}.{what}")
                for what in ("capacity", "reads", "fills", "updates")
            }
            if counts["reads"] is None:
                continue
            energy = metrics[f"{level.name}.energy"]
            row = [("level", level.name if first else ""), ("tensor", tensor)]
            row += [
                ("held" if what == "capacity" else what, number(count))
                for what, count in counts.items()
            ]
            row.append(("energy (µJ)", microjoules(energy) if first else ""))
            row.append(
                ("", percent(energy / metrics["energy"]) if first and metrics["energy"] else "")
            )
            row.append(("cycles", number(metrics[f"{level.name}.cycles"]) if first else ""))
            rows.append(row)
            first = False
    return table(rows, left=("level", "tensor")) if rows else Table()


def print_mapped_layers(out: Console, result: NetworkResult, where: str = "") -> None:
    """Print a table of the layers, and their totals; ``where`` says what proofs of these are
    about."""
    rows, objective = [], result.request.objective.text
    for layer in result.layers:
        metrics = layer.answer.metrics
        row = [("layer", shortened(layer.layer.name)), ("runs", str(layer.layer.count))]
        row += [("sizes", layer.layer.nest.short_sizes), (objective, number(layer.answer.value))]
        row += [
            ("cycles", number(metrics.get("latency"))),
            ("µJ", microjoules(metrics.get("energy"))),
        ]
        row += [("PEs", number(metrics.get("pes"))), ("gap", gap(layer.answer.certificate))]
        rows.append(row)
    known = {name for row in rows for name, value in row if value != number(None)}
    out.print(
        table([[cell for cell in row if cell[0] in known] for row in rows], left=("layer", "sizes"))
    )
    if result.total is None:
        out.print(escape(f"total      none: '{objective}' does not add up over layers"))
    else:
        value, certificate = number(result.total.value), result.total.certificate
        proven = proof(certificate) + (where if certificate.status.proven else "")
        out.print(escape(f"total      {objective} {value}  ({proven})"))
    latency, energy = result.sum_of("latency"), result.sum_of("energy")
    if latency is not None:
        spent = "" if energy is None else f"; energy {microjoules(energy)} µJ"
        out.print(f"           latency {number(latency)} cycles{spent}, layer after layer")
