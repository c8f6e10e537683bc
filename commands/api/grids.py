"""`ithaca.grid`: the cost model on a grid of factors around a result's best configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import LiveLine
from ithaca.commands.api.opening import one_result
from ithaca.commands.api.options import LayerName, ResultFile
from ithaca.exports.charts.files import check_plot, save_plot
from ithaca.exports.charts.heatmap import heat_map
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import counted, json_ready
from ithaca.files.signals import deferred
from ithaca.files.words import parse_choice, parse_integer, parse_loops
from ithaca.files.writing import SCHEMA
from ithaca.refine.grid import (
    IN_MEMORY,
    Best,
    asked_between_chunks,
    best_point,
    exact_grid,
    load_grid,
    save_grid,
)
from ithaca.refine.window import Window, widest_window, window_around

if TYPE_CHECKING:
    import xarray as xr

METRIC, FULL = "latency", "full"


@dataclass(frozen=True)
class Grid:
    """The answer of `ithaca.grid`: it is computed when it is first looked at, and large ones in
    chunks."""

    window: Window
    """Which factors vary, and over what."""
    platform: str
    """The platform of the result."""

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Every metric at every point, with which are legal and feasible."""
        with deferred(), LiveLine(self._doing):
            return exact_grid(self.window, {"platform": self.platform})

    @cached_property
    def best(self) -> Best | None:
        """The feasible point of least objective; None if no point is feasible."""
        with self.at_work():
            return best_point(self.dataset, self.window)

    @property
    def document(self) -> dict[str, Any]:
        """The ranges, how many points are legal and feasible, and the best one, ready for JSON."""
        problem, best = self.window.problem, self.best
        with self.at_work():
            counts = {name: int(self.dataset[name].sum()) for name in ("legal", "feasible")}
        stated: dict[str, Any] = {"schema": SCHEMA, "study": "grid", "design": problem.design.name}
        stated |= {"factors": dict(self.window.shape), "points": self.window.points, **counts}
        value = None if best is None else problem.feasible_value(best.configuration)
        return stated | {
            "objective": problem.objective.text,
            "value": json_ready(value),
            "best": None if best is None else {n: int(v) for n, v in best.factors.items()},
        }

    @property
    def _doing(self) -> str:
        return f"evaluating {counted(self.window.points, 'point')}"

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A context in which something of the grid is computed: shows how far that is; a signal
        waits for the end of a chunk."""
        dataset = self.dataset
        with deferred(), LiveLine(self._doing) as line:
            report = lambda done, total: line.show(self._doing, done=done, total=total)  # noqa: E731
            with asked_between_chunks(dataset, report):
                yield

    def save(self, path: str | Path) -> None:
        """Write the grid as NetCDF (.nc)."""
        with self.at_work():
            save_grid(self.dataset, Path(path))
            if self.dataset.chunks:  # what was just computed need not be computed again
                vars(self)["dataset"] = load_grid(Path(path), lazily=True)

    @public
    def plot(self, path: str | Path | None, x: str, y: str, metric: str = METRIC) -> Any:
        """Draw a heat map of a metric over two factors, such as ``t2.i``: the best design with each
        pair."""
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
            help="Loops whose factors vary, e.g. i,j; default: all. The others keep the result's.",
        ),
    ] = None,
    free_packs: Annotated[
        bool, Option("--free-packs", help="Vary the data packing factors, too (all legal values).")
    ] = False,
) -> Grid:
    """Evaluate the cost model exactly around the best configuration of a result."""
    distance = None
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
        window = widest_window(windows, IN_MEMORY) if around is None else windows(distance)
    return Grid(window, chosen.platform_name)
