"""Prove again what was proven: by another engine where that can, else by the default one anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ithaca.formulations.problem import Problem
from ithaca.solver.engines import PROVERS, Method, NotExpressibleError
from ithaca.solver.options import Budget, SolveOptions

T = TypeVar("T")

#: How long to work at a bound that is no proof, and how long an engine other than the recorded one
#: may at a proof, before the default engine makes it anew, unless told otherwise (seconds); of a
#: time limit that engine has half, if that is less.
WITHIN = 60.0


def provers(problem: Problem, recorded: str = "", *, known: bool = False) -> tuple[str, ...]:
    """The engines that may prove an answer again: first those that did not prove it, then, as they
    do not hold all problems, exact search where that alone proved it, else the default engine.

    What is searched in stages is more than others hold: searched again.

    Parameters
    ----------
    problem : Problem
        The problem, or one of several that are alike.
    recorded : str
        The engines that proved it.
    known : bool
        Whether the answer is known: enumeration does not look for it.
    """
    if problem.stage is not None:
        return (Method.STAGED if recorded == Method.STAGED else Method.AUTO,)
    # the default engine would ask others, too, wherever this machine is slower than the first was
    last = Method.EXACT if recorded == Method.EXACT else Method.AUTO
    own = recorded.split("+")
    first = (Method.ENUMERATION,) if known and Method.ENUMERATION not in own else ()
    others = [name for name in PROVERS if name not in own] or [Method.EXACT]
    return tuple(dict.fromkeys((*first, *others, last)))


def by_whichever(
    prove: Callable[[str, SolveOptions], T],
    proven: Callable[[T], bool],
    methods: Sequence[str],
    options: SolveOptions,
) -> T:
    """Prove something by the first of some engines that can hold its numbers and gets there in its
    time.

    Parameters
    ----------
    prove : callable
        The proof by an engine.
    proven : callable
        Whether what came of it is a proof.
    methods : sequence of str
        The engines; all but the last have `WITHIN` each.
    options : SolveOptions
        Time limit and interruption.

    Returns
    -------
    object
        What came of the last engine that was asked.
    """
    *others, last = methods
    budget = Budget(options)
    for method in others:
        try:
            answer = prove(method, budget.part(0.5).at_most(WITHIN))
        except NotExpressibleError:
            continue
        if proven(answer) or budget.over:
            return answer
    return prove(last, budget.share())
