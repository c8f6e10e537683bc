"""Read JSON documents from anywhere: checked step by step, every refusal with its path."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ithaca.formulations.parsing import SHOWN, escaped, quoted
from ithaca.workloads.errors import InputError

#: Largest document read (bytes); design descriptions take some 100 kB.
MAX_BYTES = 20_000_000

#: Longest path repeated in a message (characters); of a longer one, both ends.
SHOWN_PATH = 4 * SHOWN


def read_json(path: Path) -> object:
    """Read a JSON file.

    Raises
    ------
    InputError
        If it cannot be read, is larger than `MAX_BYTES`, is no JSON, repeats a key, contains
        NaN or Infinity, or is nested too deep.
    """
    name = shortened(escaped(str(path)))

    def refuse_constant(constant: str) -> NoReturn:
        raise InputError(f"{name}: contains {constant}; JSON numbers are finite")

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise InputError(f"{name}: key {quoted(twice)} appears twice in one object")
        return members

    try:
        if not path.is_file():
            raise InputError(f"{name}: {'is no regular file' if path.exists() else 'does not exist'}")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InputError(f"{name}: is larger than {MAX_BYTES:,} bytes")
        document: object = json.loads(data.decode("utf-8-sig"), parse_constant=refuse_constant, object_pairs_hook=unique)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or type(error).__name__}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: is no JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (RecursionError, MemoryError):
        raise InputError(f"{name}: is nested too deep") from None
    except ValueError as error:  # not UTF-8, a null byte in the path, an integer of thousands of digits
        raise InputError(f"{name}: is no JSON: {escaped(str(error))}") from None
    return document


def shortened(path: str) -> str:
    """A path as messages show it: the middle of a very long one left out."""
    half = SHOWN_PATH // 2
    return path if len(path) <= SHOWN_PATH else f"{path[:half]}…{path[-half:]}"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a document and where it stands.

    Attributes
    ----------
    value : object
        The value, as JSON decodes it.
    document : str
        Name of the document, for messages.
    steps : tuple of (str or int)
        Keys and indices that lead to the value.
    """

    value: object
    document: str
    steps: tuple[str | int, ...] = ()

    @property
    def path(self) -> str:
        """``document: key.key[index]``."""
        path = ""
        for step in self.steps:
            key = step if isinstance(step, str) and step.isidentifier() and len(step) <= SHOWN else quoted(step)
            path += f"[{step}]" if isinstance(step, int) else f".{key}" if path else key
        return f"{self.document}: {shortened(path)}" if path else self.document

    def refuse(self, expected: str) -> NoReturn:
        """Raise `InputError`: the value is not what it must be."""
        raise InputError(f"{self.path}: {quoted(self.value)} is not allowed; allowed: {expected}")

    def child(self, step: str | int, value: object) -> Field:
        """The field one step below."""
        return Field(value, self.document, (*self.steps, step))

    def members(self) -> dict[str, Field]:
        """The fields of an object, in order."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for key in self.value:
            if not isinstance(key, str):
                self.refuse("an object with text keys")
        return {key: self.child(key, value) for key, value in self.value.items()}

    def find(self, key: str) -> Field | None:
        """A field of an object; None where it is missing."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self.child(key, self.value[key]) if key in self.value else None

    def __getitem__(self, key: str) -> Field:
        found = self.find(key)
        if found is None:
            raise InputError(f"{self.path}: misses {quoted(key)}")
        return found

    def __iter__(self) -> Iterator[Field]:
        if not isinstance(self.value, list):
            self.refuse("a list")
        return (self.child(index, value) for index, value in enumerate(self.value))

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
