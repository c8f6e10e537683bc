"""What `ithaca.refine` offers those who check types, by `tests/test_python_signatures.py`."""

from pathlib import Path

from ithaca.commands.api.answers import Answer, Result

def refine(
    result: str | Path | Answer,
    *,
    layer: str | None = None,
    samples: int | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Result:
    """Improve the configurations of a result by evolution; what is proven optimal stays as it
    is."""
