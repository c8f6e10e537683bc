"""Read JSON documents from anywhere: checked step by step, every refusal with its path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import SHOWN, quoted, refuse
from ithaca.workloads.reading import location, parse_json, read_text

#: Largest document read (bytes); design descriptions take some 100 kB.
MAX_BYTES = 20_000_000

#: Longest path repeated in a message (characters); of a longer one, both ends.
SHOWN_PATH = 4 * SHOWN


def read_json(path: Path) -> object:
    """Read a JSON file.

    Raises `InputError` if it is no regular file, larger than `MAX_BYTES`, or no JSON document.
    """
    special = False
    with suppress(OSError, ValueError):  # of a path that is none: reading it says so
        special = path.exists() and not path.is_file()
    if special:
        raise refuse(path, "is no regular file; allowed: a JSON file")
    document: object = parse_json(read_text(path, MAX_BYTES), path)
    return document


def shortened(path: str) -> str:
    """A path as messages show it: the middle of a very long one left out."""
    half = SHOWN_PATH // 2
    return path if len(path) <= SHOWN_PATH else f"{path[:half]}…{path[-half:]}"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a document, the document's name for messages, and the keys and indices that lead to the value."""

    value: object
    document: str
    steps: tuple[str | int, ...] = ()

    @property
    def path(self) -> str:
        """``document: key.key[index]``."""
        return f"{self.document}: {shortened(location(self.steps))}" if self.steps else self.document

    def refuse(self, expected: str) -> NoReturn:
        """Raise `InputError`: the value is not what it must be."""
        raise InputError(f"{self.path}: {quoted(self.value)} is not allowed; allowed: {expected}")

    def members(self) -> dict[str, Field]:
        """The fields of an object, in order."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for key in self.value:
            if not isinstance(key, str):
                self.refuse("an object with text keys")
        return {key: self._below(key, value) for key, value in self.value.items()}

    def find(self, key: str) -> Field | None:
        """A field of an object; None where it is missing."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self._below(key, self.value[key]) if key in self.value else None

    def __getitem__(self, key: str) -> Field:
        found = self.find(key)
        if found is None:
            raise InputError(f"{self.path}: misses {quoted(key)}")
        return found

    def __iter__(self) -> Iterator[Field]:
        if not isinstance(self.value, list):
            self.refuse("a list")
        return (self._below(index, value) for index, value in enumerate(self.value))

    def text(self) -> str:
        """The value of a text field."""
        if not isinstance(self.value, str):
            self.refuse("text")
        return self.value

    def positive(self) -> int:
        """The value of a field that is a positive integer."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not 0 < self.value < 2**31:
            self.refuse("a positive integer")
        return self.value

    def flag(self) -> bool:
        """The value of a field that is 0 or 1."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value not in (0, 1):
            self.refuse("0 or 1")
        return self.value == 1

    def _below(self, step: str | int, value: object) -> Field:
        return Field(value, self.document, (*self.steps, step))
