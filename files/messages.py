"""Error lines: values quoted, control characters escaped, one line of bounded length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice

from ithaca.files.errors import InputError

#: How much of a bad value an error message repeats (characters).
SHOWN = 60

#: Most names that a word is compared with, and most words of a file that are compared.
MAX_HINTED = 200

#: Longest error line; the middle of a longer one is left out.
MAX_LINE = 600


def quoted(value: object) -> str:
    """A value as error messages show it: one line, shortened, control characters escaped."""
    match value:
        case str():
            return f"'{escaped(value if len(value) <= SHOWN else value[: SHOWN - 1] + '…')}'"
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value) if value.bit_length() <= 2 * SHOWN else "a very large number"
        case float():
            return str(value)
        case dict():
            return "an object"
        case list():
            return "a list"
    return f"a {type(value).__name__}"


def meant(word: object, known: Iterable[object]) -> str:
    """The hint that ends a line that refuses a name: the known name nearest to it, if one is near;
    rather one that begins with it, or has the same letters (dps: dsp)."""
    names = {str(name).lower(): str(name) for name in islice(known, MAX_HINTED)}
    start = str(word).lower()[:SHOWN]
    near = get_close_matches(start, names)
    near.sort(key=lambda name: not name.startswith(start) and sorted(name) != sorted(start))
    return f"; did you mean {names[near[0]]}?" if near else ""


def among(word: object, known: Iterable[object], more: str = "") -> str:
    """The end of a line that refuses a name: the allowed names, and the one nearest to it.

    Parameters
    ----------
    word : object
        The name that is refused.
    known : iterable of object
        Those that are allowed.
    more : str, optional
        What follows them.
    """
    names = list(dict.fromkeys(map(str, known)))
    return f"; allowed: {', '.join(names) or 'none'}{more}{meant(word, names)}"


def escaped(text: str) -> str:
    """Text with its control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """Text with control characters escaped, since names in files may hold them."""
    return "\n".join(map(escaped, text.split("\n")))


def refuse(where: object, complaint: object) -> InputError:
    """The error ``where: complaint``, kept to one printable line of bounded length; a complaint
    that says where is kept."""
    begin, text = f"{where}: ", str(complaint)
    line = escaped(text if text.startswith(begin) else begin + text)
    return InputError(
        line if len(line) <= MAX_LINE else f"{line[: MAX_LINE // 2]} … {line[-MAX_LINE // 2 :]}"
    )


@contextmanager
def errors_at(where: object, place: str = "") -> Iterator[None]:
    """Errors of what stands inside begin with where that is, and perhaps with a place in it."""
    try:
        yield
    except InputError as error:
        raise refuse(where, place + str(error).removeprefix(f"{where}: ")) from None
