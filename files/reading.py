"""Read text and JSON that somebody else wrote: under limits, and refused with one line."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from itertools import accumulate, islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ithaca.files.messages import MAX_HINTED, quoted, refuse
from ithaca.files.staging import recover

#: Longest integer in a document: every number fits a double, and none takes long to print.
MAX_DIGITS = 300

_PIECE = 2**20

#: How long a pipe may say nothing before its first byte, and after (s); how often it is asked.
_BEGIN, _IDLE, _POLL = 3, 60, 0.01

#: Largest file of an answer (bytes); one with 50 layers of 10 designs has about 300 kB.
ANSWER_BYTES = 32 * 2**20


@cache
def packaged_names(package: str) -> tuple[str, ...]:
    """Names of the YAML files that come with Ithaca in a package, without their ending."""
    names = (entry.name for entry in files(package).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def packaged_text(package: str, name: str) -> str:
    """The text of a document that comes with Ithaca."""
    return files(package).joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def read_text(path: Path, max_bytes: int) -> str:
    """Read a UTF-8 file that somebody else wrote.

    Raises `InputError` if it cannot be read, is larger than ``max_bytes``, is not UTF-8 or holds
    NUL characters.
    """
    raw = read_bytes(path, max_bytes)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(
            path, f"byte {error.start} is 0x{raw[error.start]:02x}; allowed: UTF-8 text"
        ) from None
    if "\0" in text:
        raise refuse(path, f"character {text.index(chr(0))} is NUL; allowed: text")
    return text


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Read a file that somebody else wrote, or a pipe, as shells make of ``<(command)``, if
    somebody writes to it.

    Raises `InputError` if it cannot be read or is larger than ``max_bytes``.
    """
    recover(path.parent)
    raw, place = bytearray(), _opened(path)
    try:
        waiting = monotonic() + _BEGIN
        while len(raw) <= max_bytes:
            try:
                # in pieces, because a read of many bytes asks for the memory of all of them first
                piece = os.read(place, _PIECE)
            except BlockingIOError:  # a pipe whose writer is slow
                piece = None
            if piece:
                raw += piece
                waiting = monotonic() + _IDLE
            elif piece is not None and (raw or not stat.S_ISFIFO(os.fstat(place).st_mode)):
                break
            elif monotonic() > waiting:
                raise refuse(
                    path, "is a pipe with nothing to read, now or any more; allowed: a file"
                )
            else:
                sleep(_POLL)
    except OSError as error:
        raise refuse(path, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(place)
    if len(raw) > max_bytes:
        raise refuse(path, f"is too large; allowed: at most {max_bytes} bytes")
    return bytes(raw)


def is_there(path: str | Path, kind: Callable[[Path], bool] = Path.exists) -> bool:
    """Whether there is a file or folder; of a name that cannot be one, not."""
    try:
        return kind(Path(path))
    except (OSError, ValueError):
        return False


def check_readable(path: Path, *, pipes: bool = False) -> None:
    """Refuse a path that is no file, such as a device, which may never end.

    Raises `InputError`.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        others = {other.stem: other.name for other in islice(path.parent.glob("*"), MAX_HINTED)}
        near = others.get(next(iter(get_close_matches(path.stem, others, 1, 0.8)), ""), "")
        hint = f"; did you mean {near}?" if near else ""
        raise refuse(path, f"no such file; allowed: a file that exists{hint}") from None
    except OSError as error:
        raise refuse(path, f"cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL character in the path itself
        raise refuse(path, "is no path; allowed: the path of a file") from None
    if not stat.S_ISREG(mode) and not (pipes and stat.S_ISFIFO(mode)):
        kind = next((word for test, word in _KINDS if test(mode)), "no file")
        raise refuse(path, f"is {kind}; allowed: a file")


#: What else a path may be, and how that is recognised.
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _opened(path: Path) -> int:
    """The descriptor of a file, or of a pipe, for which nobody waits here."""
    check_readable(path, pipes=True)
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise refuse(path, f"cannot be read: {error.strerror}") from None


#: Deepest nesting of a JSON document; those of Ithaca have a dozen levels.
MAX_NESTING = 100

#: All of a JSON text but the brackets of its structure.
_BESIDE_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^][{}"]+')


def parse_json(text: str, where: object) -> Any:
    """Parse JSON strictly: no repeated keys, no NaN or Infinity, no endless numbers or nesting.

    Raises `InputError`, beginning with ``where`` (a path, a row and column), if the text is no such
    document.
    """

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise refuse(where, f"field {quoted(repeated)} occurs twice; allowed: every field once")
        return values

    def integer(digits: str) -> int:
        if len(digits) > MAX_DIGITS:
            raise refuse(
                where, f"number {quoted(digits)} is too long; allowed: at most {MAX_DIGITS} digits"
            )
        return int(digits)

    def decimal(digits: str) -> float:
        if not math.isfinite(number := float(digits)):
            raise refuse(where, f"number {quoted(digits)} is too large; allowed: a finite number")
        return number

    def constant(name: str) -> None:
        raise refuse(where, f"number is {name}; allowed: a finite number")

    try:
        document = json.loads(
            text,
            object_pairs_hook=mapping,
            parse_int=integer,
            parse_float=decimal,
            parse_constant=constant,
        )
        # what writes documents gives up earlier than what reads them
        brackets = (1 if each in "[{" else -1 for each in _BESIDE_BRACKETS.sub("", text))
        if max(accumulate(brackets), default=0) > MAX_NESTING:
            raise RecursionError
        return document
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise refuse(
            where, f"not JSON at {place}: {error.msg}; allowed: a complete JSON document"
        ) from None
    except (RecursionError, MemoryError):
        raise refuse(where, f"nested too deeply; allowed: at most {MAX_NESTING} levels") from None


def read_document(path: str | Path) -> Any:
    """The document of a file of an answer."""
    file = Path(path)
    if file.suffix.lower() == ".nc":
        raise refuse(file, "it is NetCDF, a table without proofs; allowed: the answer as JSON")
    return parse_json(read_text(file, ANSWER_BYTES), file)


def location(parts: Sequence[str | int]) -> str:
    """A path inside a document, such as ``designs[2].tiling.simd``."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part if part.isidentifier() and len(part) <= 40 else quoted(part)}"
    return text.removeprefix(".") or "the document"
