"""Whether a text is a template of Jinja, and the folders whose files templates may take in beside
their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted

INCLUDED: ContextVar[tuple[Path, ...]] = ContextVar("including", default=())


@contextmanager
def including(folders: str | Path | Sequence[str | Path] | None) -> Iterator[None]:
    """Let templates that are read meanwhile take in files of more folders than their own.

    Raises `InputError` if one is no folder.
    """
    if folders is None:
        yield
        return
    listed = [folders] if isinstance(folders, str | Path) else [*folders]
    if "" in listed:
        raise InputError("--include-from is empty; allowed: the name of a file or folder")
    for folder in map(Path, listed):
        if not folder.is_dir():
            raise InputError(f"--include-from is {quoted(str(folder))}; allowed: a folder")
    token = INCLUDED.set(tuple(Path(folder).resolve() for folder in listed))
    try:
        yield
    finally:
        INCLUDED.reset(token)


def is_template(text: str) -> bool:
    """Whether a text has anything that Jinja would replace."""
    return "{{" in text or "{%" in text
