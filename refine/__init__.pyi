"""What `ithaca.refine` offers those who check types, by `tests/test_python_signatures.py`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ithaca.commands.api.live_line import SearchProgress
from ithaca.files.answer import Answer
from ithaca.solver.result import Result

def refine(
    result: str | Path | Answer,
    *,
    layer: str | None = None,
    samples: int | None = None,
    shares: Mapping[str, float | str] | Sequence[str] | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Result:
    """Improve the configurations of a result by evolution; what is proven optimal stays as it
    is."""
