"""Whether a text is a template of Jinja, the folders whose files templates may take in beside their
own, and their variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted

#: Folders, and variables as NAME=VALUE.
INCLUDED: ContextVar[tuple[Path | str, ...]] = ContextVar("including", default=())


@contextmanager
def including(folders: str | Path | Sequence[str | Path] | None) -> Iterator[None]:
    """Let templates that are read meanwhile take in files of more folders than their own, and have
    variables, NAME=VALUE.

    Raises `InputError` if one is neither.
    """
    if folders is None:
        yield
        return
    listed = [folders] if isinstance(folders, str | Path) else [*folders]
    if "" in listed:
        raise InputError("--include-from is empty; allowed: the name of a file or folder")
    known: list[Path | str] = []
    for each in map(str, listed):
        if each.partition("=")[0].isidentifier() and "=" in each:
            known.append(each)
        elif Path(each).is_dir():
            known.append(Path(each).resolve())
        else:
            raise InputError(f"--include-from is {quoted(each)}; allowed: a folder, or NAME=VALUE")
    token = INCLUDED.set(tuple(known))
    try:
        yield
    finally:
        INCLUDED.reset(token)


def is_template(text: str) -> bool:
    """Whether a text has anything that Jinja would replace."""
    return "{{" in text or "{%" in text
