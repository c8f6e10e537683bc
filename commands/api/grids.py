"""`ithaca.grid`: the cost model on a grid of factors around a result's best configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import LiveLine
from ithaca.commands.api.opening import one_result
from ithaca.commands.api.options import LayerName, ResultFile, TimeLimit
from ithaca.commands.api.parsing import parse_search
from ithaca.exports.charts.files import check_plot, save_plot
from ithaca.exports.charts.heatmap import heat_map
from ithaca.files.clock import StoppedError, all_or_nothing, left
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import counted, json_ready
from ithaca.files.signals import check, deferred
from ithaca.files.words import parse_choice, parse_integer, parse_loops
from ithaca.files.writing import SCHEMA
from ithaca.refine.grid import (
    CHUNK_POINTS,
    IN_MEMORY,
    Best,
    asked_between_chunks,
    best_point,
    check_size,
    exact_grid,
    load_grid,
    save_grid,
)
from ithaca.refine.tally import Tally, tallies
from ithaca.refine.window import Window, widest_window, window_around
from ithaca.solver.options import Budget, SolveOptions

if TYPE_CHECKING:
    import xarray as xr

METRIC, FULL = "latency", "full"

#: Points of the default neighbourhood for every second of a time limit.
A_SECOND = 100_000


@dataclass(frozen=True)
class Grid:
    """The answer of `ithaca.grid`: it is computed when it is first looked at, and large ones in
    chunks.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> grid = r.grid()
    >>> grid
    <Grid around [i,j] C on u250: .dataset has its metrics>
    """

    window: Window
    """Which factors vary, and over what."""
    platform: str
    """The platform of the result."""
    budget: Budget = field(default_factory=lambda: Budget(SolveOptions()), compare=False)
    """The time for it."""

    def __repr__(self) -> str:
        around = self.window.problem.design.name
        return f"<Grid around {around} on {self.platform}: .dataset has its metrics>"

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Every metric at every point, with which are legal and feasible."""
        held = None if self.budget.options.time_limit is None else CHUNK_POINTS
        with deferred(), LiveLine(self._doing), self._in_time():
            return exact_grid(self.window, {"platform": self.platform}, held)

    @cached_property
    def tally(self) -> Tally:
        """The numbers of points that were evaluated, are legal and feasible, and the best one;
        under a time limit perhaps of a part of the points, those around the result first."""
        window = self.window
        if self.budget.options.time_limit is None or "dataset" in vars(self):
            with self.at_work():
                best = best_point(self.dataset, window)
                legal, feasible = (int(self.dataset[name].sum()) for name in ("legal", "feasible"))
                return Tally(window.points, legal, feasible, best)
        check_size(window)
        last: Tally | None = None
        with deferred(), LiveLine(self._doing) as line, self._in_time():
            try:
                for last in tallies(window):
                    check()
                    line.show(self._doing, done=last.points, total=window.points)
            except StoppedError:
                if last is None:
                    raise
        assert last is not None
        return last

    @property
    def best(self) -> Best | None:
        """The feasible point of least objective among those that were evaluated; None if none of
        them is feasible."""
        return self.tally.best

    @property
    def complete(self) -> bool:
        """Whether all points were evaluated before time was over."""
        return self.tally.points == self.window.points

    @property
    def extent(self) -> str:
        """The number of points, and of those that were evaluated if not all were."""
        every = counted(self.window.points, "point")
        return every if self.complete else f"{self.tally.points:,} of {every} evaluated"

    @property
    def document(self) -> dict[str, Any]:
        """The ranges, how many points are legal and feasible, and the best one, ready for JSON; of
        a part of the points, how many these are."""
        problem, best, tally = self.window.problem, self.best, self.tally
        stated: dict[str, Any] = {"schema": SCHEMA, "study": "grid", "design": problem.design.name}
        stated |= {"factors": dict(self.window.shape), "points": self.window.points}
        stated |= {} if self.complete else {"complete": False, "evaluated": tally.points}
        stated |= {"legal": tally.legal, "feasible": tally.feasible}
        value = None if best is None else problem.feasible_value(best.configuration)
        return stated | {
            "objective": problem.objective.text,
            "value": json_ready(value),
            "best": None if best is None else {n: int(v) for n, v in best.factors.items()},
        }

    @property
    def _doing(self) -> str:
        return f"evaluating {counted(self.window.points, 'point')}"

    def _in_time(self) -> AbstractContextManager[None]:
        points = counted(self.window.points, "point")
        return all_or_nothing(f"all {points} were evaluated", lambda: self.budget.up)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A context in which something of the grid is computed: shows how far that is; a signal
        waits for the end of a chunk.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> grid = r.grid()
        >>> with grid.at_work():
        ...     least = float(grid.dataset["latency"].min())
        >>> least
        36.0
        """
        dataset = self.dataset
        with deferred(), LiveLine(self._doing) as line:
            report = lambda done, total: line.show(self._doing, done=done, total=total)  # noqa: E731
            with self._in_time(), asked_between_chunks(dataset, report):
                yield

    def save(self, path: str | Path) -> None:
        """Write the grid as NetCDF (.nc).

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.grid().save("grid.nc")
        """
        with self.at_work():
            save_grid(self.dataset, Path(path))
            if self.dataset.chunks:  # what was just computed need not be computed again
                vars(self)["dataset"] = load_grid(Path(path), lazily=True)

    @public
    def plot(self, path: str | Path | None, x: str, y: str, metric: str = METRIC) -> Any:
        """Draw a heat map of a metric over two factors, such as ``t2.i``: the best design with each
        pair.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.grid().plot(None, "t2.i", "t2.j").specification["$schema"]
        'https://vega.github.io/schema/vega-lite/v6.json'
        """
        self.check_plot(path, x, y)
        with self.at_work():
            return save_plot(heat_map(self.dataset, x, y, metric), path)

    def check_plot(self, path: str | Path | None, x: str, y: str) -> None:
        """Refuse, before anything is computed, what could not be drawn.

        Parameters
        ----------
        path : str or Path or None
            The picture's file.
        x, y : str
            The factors to the right and upwards.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.grid().check_plot(None, "t2.i", "t2.j")
        """
        if path is not None:
            check_plot(Path(path))
        for option, name in (("--x", x), ("--y", y)):
            parse_choice(option, name, self.window.free, ", which are free in the grid")
        if x == y:
            raise InputError(
                f"--y is '{y}', like --x; allowed: another free factor: "
                f"{', '.join(self.window.free)}"
            )


@public
def grid(
    result: ResultFile,
    *,
    layer: LayerName = None,
    around: Annotated[
        int | str | None,
        Option(
            "--around",
            metavar="N",
            help="Only factors at most N from the result's, or full: all. Default: the largest N "
            f"with {IN_MEMORY:,} points at most.",
        ),
    ] = None,
    loops: Annotated[
        str | Sequence[str] | None,
        Option(
            "--loops",
            rich_help_panel="Question",
            help="Loops whose factors vary, e.g. i,j; others keep the result's. Default: all.",
        ),
    ] = None,
    free_packs: Annotated[
        bool, Option("--free-packs", help="Vary the data packing factors, too (all legal values).")
    ] = False,
    time_limit: TimeLimit = None,
) -> Grid:
    """Evaluate the cost model exactly around the best configuration of a result.

    Under a time limit the default neighbourhood is smaller: of a second 100,000 points at most.
    Of an answer whose time was over `complete` is false: it has the points around the result that
    were evaluated. `NothingFoundError` is raised if there are none.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.grid(r, around=2).best.value
    58.0
    """
    distance, most, search = None, IN_MEMORY, parse_search(time_limit)
    budget = Budget(search.at_most(left()))
    if search.time_limit is not None:
        most = max(min(IN_MEMORY, int(search.time_limit * A_SECOND)), 1)
    if around not in (None, FULL):
        try:
            distance = parse_integer("--around", around, least=0)
        except InputError as error:
            raise InputError(f"{error}, or {FULL}") from None
    chosen, names = one_result(result, layer), parse_loops(loops)
    if chosen.best is None or chosen.best.configuration is None:
        raise InputError(f"{chosen.source}: best is null; allowed: a result with a configuration")
    with errors_at(chosen.source):
        windows = partial(
            window_around,
            chosen.best.problem,
            chosen.best.configuration,
            loops=names,
            free_packs=free_packs,
        )
        window = widest_window(windows, most) if around is None else windows(distance)
    return Grid(window, chosen.platform_name, budget)
