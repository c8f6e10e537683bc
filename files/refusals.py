"""Refusals of names and files where documents are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import meant, quoted


def unknown_name(
    what: str, name: str, known: Iterable[str], files: str, also: Mapping[str, str] | None
) -> InputError:
    """The error on a name that no document has.

    Parameters
    ----------
    what : str
        The kind of document.
    name : str
        The name.
    known : iterable of str
        The names that there are.
    files : str
        What else it could be.
    also : mapping of str to str, optional
        Names that others use, in lower case, and those that are meant.
    """
    names, wanted = sorted(known), (also or {}).get(name.lower(), name)
    return InputError(
        f"unknown {what} {quoted(name)}; known: {', '.join(names)}; or {files}"
        f"{meant(wanted, names)}"
    )


def refuse_answer(document: Any, path: Path, allowed: str) -> None:
    """Refuse the document of an answer where another one is read.

    Parameters
    ----------
    document : object
        The document.
    path : Path
        Its file.
    allowed : str
        The kind of document that is allowed, with its article.
    """
    if isinstance(document, dict) and str(document.get("schema")).startswith("ithaca/"):
        takers = "verify, explain, report, export take answers"
        raise InputError(f"{path} is an answer; allowed: {allowed} ({takers})")
