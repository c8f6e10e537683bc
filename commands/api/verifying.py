"""`ithaca.verify`: check a result anew, its values and its proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ithaca.commands.api.keywords import public
from ithaca.commands.api.opening import Opened, answer_of, check_result, read_answer
from ithaca.commands.api.options import LayerName, ResultFile, TimeLimit
from ithaca.commands.api.parsing import parse_search
from ithaca.files import clock
from ithaca.files.answer import MADE, Answer, Check, Verification
from ithaca.files.messages import errors_at, refuse
from ithaca.files.reading import parse_json, read_document
from ithaca.files.signals import Interrupt
from ithaca.files.writing import document_text
from ithaca.solver.certificate import OWN
from ithaca.solver.options import Budget, SolveOptions


@public
def verify(
    result: ResultFile,
    *,
    layer: LayerName = None,
    time_limit: TimeLimit = None,
    hear: Callable[[Check], None] | None = None,
) -> Verification:
    """Check a result anew: every value by the exact reference, every proof by another engine.

    Loading re-derives the designs and re-evaluates every metric by the Fraction reference. What is
    claimed to be optimal or infeasible is then proven again by another engine than the recorded
    one, bounds and shortfalls by a further search.

    ``hear`` is told of each check when it is done. Raises `InputError` if the result claims what is
    false, and no engine says so, `DisagreementError` if engines contradict each other.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.verify(r).confirmed
    True
    """
    options, checks = parse_search(time_limit), []
    answer = _read(result, layer)
    with (
        Interrupt() as interrupt,
        clock.until(interrupt),
        errors_at(getattr(answer, "source", OWN)),
    ):
        within = replace(options.at_most(clock.left()), stop=interrupt)
        for check in _checks(answer, within):
            checks.append(replace(check, width=_width(answer)))
            if hear is not None:
                hear(checks[-1])
    return Verification(tuple(checks))


def _read(source: str | Path | Answer, layer: str | None) -> Answer:
    """The answer to verify."""
    if isinstance(source, Opened) or layer is not None:
        return answer_of(source, layer)
    if isinstance(source, Answer):  # what is read is found again
        file = Path(OWN)
        document = parse_json(document_text(source.document), file)
    else:
        check_result(source)
        file, document = Path(source), read_document(source)
    if isinstance(document, dict) and "points" in document and "study" not in document:
        what = "points is a list of figures alone, without question or proof"
        raise refuse(
            file,
            f"{what}; allowed: results, fronts, studies, matches, and "
            "simulations of one configuration",
        )
    return read_answer(document, file)


def _checks(result: Answer, options: SolveOptions) -> Iterator[Check]:
    whole, left, own = Budget(options), len(result.parts), f"{type(result).__name__}.checks"
    for place, (name, part) in enumerate(result.parts.items()):
        for check in _checks(part, whole.share(left - place)):
            yield replace(check, place=f"{name} {check.place}")
    if own in MADE:
        yield from MADE[own](result, options)
    elif not left:
        yield Check(result.document["study"], f"{result.headline}; {result.again}", True)


def _width(result: Answer) -> int:
    return max(map(len, result.layer_names), default=10)
