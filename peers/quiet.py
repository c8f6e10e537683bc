"""Let libraries work in silence: what they print, log or warn about is not the answer."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

#: Libraries that log on their own.
LOGGERS = ("optuna", "nevergrad", "cma", "pymoo")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings, the loggers of search libraries, and both output streams; errors still pass."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
