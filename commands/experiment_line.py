"""The live line of a running experiment, on stderr when it is a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status


class ExperimentLine:
    """Shows what an experiment is at; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._status: Status | None = None

    def __enter__(self) -> ExperimentLine:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting", refresh_per_second=10)
            self._status.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, experiment: str, step: str) -> None:
        """Show the step that an experiment is at."""
        if self._status is not None:
            self._status.update(f"{experiment} · {step}".replace("[", "\\["))
