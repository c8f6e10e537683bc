"""The contenders of an answer, run word by word before one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.files.clock import StoppedError
from ithaca.files.errors import EDITED, InputError
from ithaca.files.numbers import number
from ithaca.solver.options import Budget
from ithaca.solver.result import Result
from ithaca.solver.runs import Run, as_it_runs, run_of
from ithaca.solver.solution import Solution

#: A run is given up after so many calls of its checkpoint: 200 million turns of loops, whatever
#: repeats counted once, some ten seconds.
MOST_CALLS = 20


def with_runs(result: Result, budget: Budget) -> Result:
    """A result whose best is the one that is best as it runs, where hardware takes the cycles that
    simulation counts."""
    best = result.best
    if best is None or not best.profile.runs:
        return result
    runs = tuple(runs_of(best, result.designs, budget))
    return replace(result, best=as_it_runs(result.designs, runs), runs=runs)


def runs_of(best: Solution, designs: Sequence[Solution], budget: Budget) -> Iterator[Run]:
    """The runs among which to choose an answer.

    The best by the closed form is run, and every other design whose value is not above what the
    best so far takes as it runs. What takes too long is left out, and says so.

    Parameters
    ----------
    best : Solution
        The best by the closed form.
    designs : sequence of Solution
        The best of each design.
    budget : Budget
        The time for all of them.
    """
    others = [s for s in designs if s.configuration is not None and s is not best]
    least: Fraction | None = None
    for solution in (best, *sorted(others, key=lambda s: (s.value, s.rank()))):
        assert solution.value is not None
        if least is not None and solution.value > least:
            return
        run = run_again(solution, _checkpoint(budget))
        yield run
        if solution is best and run.cycles is None and run.reason != HANGS:
            return
        if run.value is not None and (least is None or run.value < least):
            least = run.value


#: Why a run does not end, or was ended.
HANGS = "waits for ever"
TOO_LONG = "takes more than 200 million turns of loops to simulate"
NO_TIME = "no time was left to simulate it"


def run_again(solution: Solution, checkpoint: Callable[[], None] = lambda: None) -> Run:
    """The run of a solution that has a configuration; ``checkpoint`` may raise `StoppedError`."""
    assert solution.configuration is not None
    try:
        checkpoint()
        cycles = solution.profile.run(solution.configuration, checkpoint)
    except (InputError, StoppedError) as error:
        return run_of(solution, None, str(error))
    return run_of(solution, cycles, HANGS)


def simulated_again(solution: Solution, run: Run, at: str) -> tuple[str, bool]:
    """A run that a file states beside another one: words, and whether they are the same.

    Parameters
    ----------
    solution : Solution
        The configuration.
    run : Run
        Its run as stated.
    at : str
        Its place in the file.

    Raises
    ------
    InputError
        If the cycles are others.
    """
    again = run_again(solution)
    if again.cycles is None:
        return f"not simulated: {again.reason}", run.reason == again.reason
    if run.cycles is not None and run != again:
        raise InputError(f"{at}.cycles is {run.cycles}, simulated {again.cycles}: {EDITED}")
    return f"{number(again.cycles)} cycles, simulated again", True


def _checkpoint(budget: Budget) -> Callable[[], None]:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if budget.over:
            raise StoppedError(NO_TIME)
        if calls > MOST_CALLS:
            raise StoppedError(TOO_LONG)

    return check
