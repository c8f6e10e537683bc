"""The view of the answer of a solve: the configuration, its proof, and its costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from ithaca.files.numbers import number, percent
from ithaca.files.registry import Registry
from ithaca.formulations.directions import as_asked, bound_as_asked
from ithaca.formulations.families import profile_of
from ithaca.results.view import Block, Fact, Loops, Table, View, tabled
from ithaca.results.wording import WHOLE, limited_metrics, proof_text, seconds, unit_cells
from ithaca.solver.certificate import Termination, as_stated
from ithaca.solver.result import Result
from ithaca.solver.runs import Run
from ithaca.solver.solution import Solution

#: Views of results that are a family's own.
VIEWS: Registry[Callable[[Result], Iterator[Block]]] = Registry("result views")

#: Above the table of all designs.
ALL = "all designs"

#: How many other designs one line names.
OTHERS = 3


def result_view(result: Result) -> View:
    """The answer and its proof, its loops, what it takes in parts, and what binds: as its family
    does, if that says how."""
    return tuple(VIEWS.get(result.problem.design.family, _view)(result))


def _view(result: Result) -> Iterator[Block]:
    best = result.best
    design = result.problem.design if best is None else best.problem.design
    title = profile_of(design).title
    yield f"{title}, on {result.platform_name}, {result.objective.goal}"
    yield ""
    if best is None or best.configuration is None:
        from ithaca.results.nothing_view import nothing_found

        yield nothing_found(result)
        return
    yield objective_fact(result)
    figures = [
        f"{title} {show(best.metrics[name])} {unit}"
        for name, title, show, unit in WHOLE
        if best.metrics.get(name)  # where no energy is stated, none is
    ]
    yield Fact("", "; ".join(figures))
    yield ""
    yield Loops(best.profile.loops(best.configuration))
    yield from breakdown(best)
    for statement in best.profile.remarks(best.configuration, best.problem.limits).statements:
        term, _, text = statement.partition(": ")
        yield Fact(term.lower(), text)
    yield from limit_facts(best)


def limit_facts(best: Solution, in_words: Callable[[Fraction], str] = percent) -> Iterator[Fact]:
    """The facts on the used part of every limit; ``in_words`` says shares."""
    known = best.problem.design.vocabulary
    for limit in best.problem.limits:
        used = limit.used(best.metrics)
        if limit.required:
            yield Fact("required", limit.metric)
            continue
        share = f" ({in_words(used / limit.bound)})" if limit.bound else ""
        unit = f" {known[limit.metric].unit}" if limit.metric in known else ""
        yield Fact(limit.metric, f"{number(used)} of {number(limit.bound)}{unit}{share}")


def objective_fact(result: Result) -> Fact:
    """The value of the best configuration, and what is proven of its design."""
    best = result.best
    assert best is not None
    assert best.value is not None
    words = result.objective.words
    proof = f"{proof_text(best.certificate, words, result.basis)}{as_stated(result)}"
    name, own = as_asked(words, best.value)
    value = number(own) if name == words else f"{name} {number(own)}"
    return Fact("objective", f"{value}  ({proof})")


def run_facts(result: Result) -> Iterator[Fact]:
    """The facts on what was run to choose the answer: its cycles, and those of what is better by
    the closed form, or as good."""
    own = result.own_run
    if own is not None and result.best is not None:
        yield Fact("simulated", run_text(own, result.best))
    for run in result.runs:
        if run is not own:
            solution = next(s for s in result.designs if s.design == run.design)
            yield Fact("", f"design {run.design}: {run_text(run, solution)}")


def run_text(run: Run, solution: Solution) -> str:
    """A run of a solution beside the closed form of its cycles."""
    stated = solution.metrics["latency"]
    if run.cycles is None:
        return f"not to the end: {run.reason}; by the closed form {number(stated)} cycles"
    cycles = f"{number(run.cycles)} cycles" + (f", which {run.reason}" if run.reason else "")
    if run.cycles == stated:
        return f"{cycles}, as by the closed form"
    error = float(stated / run.cycles - 1)
    return f"{cycles}; by the closed form {number(stated)} ({error:+.2%})"


def breakdown(best: Solution) -> Iterator[Block]:
    """The blocks on the costs and activity of the parts of an accelerator, where these are
    known."""
    assert best.configuration is not None
    parts = best.profile.breakdown(best.configuration, best.metrics)
    if parts is not None:
        yield tabled(parts.rows, parts.left, detail=True)
        for line in parts.words:
            term, _, text = line.partition(": ")
            yield Fact(term, text, detail=True)


def design_cells(solution: Solution) -> list[tuple[str, str]]:
    """The name of a design, as a column of a table."""
    buildable = "" if solution.profile.obstacle is None else " (not buildable)"
    return [("design", f"{solution.design}{buildable}")]


def design_table(
    result: Result, cells: Callable[[Solution], list[tuple[str, str]]] = design_cells
) -> Table:
    """All designs of a result, the best first; ``cells`` name a design. Columns in which no design
    has anything are left out."""
    words = result.objective.words
    rows = [
        [
            *cells(solution),
            ("objective", number(as_asked(words, solution.value)[1])),
            (bound, number(least)),
            ("status", (Termination.BEATEN if proof.beaten else proof.status).value),
            *unit_cells(solution.metrics, solution.problem.design.vocabulary),
            *(
                (name, number(solution.metrics.get(name)))
                for name in limited_metrics(result.limits)
            ),
            ("seconds", seconds(proof)),
        ]
        for solution in sorted(result.designs, key=lambda s: (s.value is None, s.value or 0))
        for proof in (solution.certificate,)
        for bound, least in (bound_as_asked(words, proof.lower_bound),)
    ]
    known = {name for row in rows for name, text in row if text != "–"}
    rows = [[cell for cell in row if cell[0] in known] for row in rows]
    texts = {"status", *dict(cells(result.designs[0]))}
    return tabled(rows, texts, ALL, detail=True)


def others_fact(result: Result) -> Iterator[Fact]:
    """The facts on all designs: their bound; and the others, the best of them first, with what they
    take more. None where there is one design."""
    best = result.best
    others = [s for s in result.designs if s is not best]
    if best is None or best.value is None or not others:
        return
    known = sorted((s for s in others if s.value is not None), key=lambda s: s.value or 0)
    parts, words = [], result.objective.words
    for solution in known[:OTHERS]:
        assert solution.value is not None
        own, most = (as_asked(words, value)[1] for value in (solution.value, best.value))
        more = (own - most) / abs(most or Fraction(1))
        apart = f" ({float(more):+.1%})" if more else " (the same)"
        parts.append(f"{solution.design} {number(own)}{apart}")
    if left := len(others) - len(parts):
        parts.append(f"{left} more" if parts else f"{left}, without a configuration")
    if (bound := result.lower_bound) is not None:
        side, least = bound_as_asked(words, bound)
        beyond = "below" if side == "lower bound" else "above"
        designs = len(result.designs)
        yield Fact("bound", f"{number(least)} of all {designs} designs: none is {beyond}")
    yield Fact("others", "; ".join(parts))
