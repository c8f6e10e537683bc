"""The preprocessor of C, as far as loop nests need it: conditions, macros, files beside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.files.inclusions import INCLUDED
from ithaca.files.messages import refuse
from ithaca.files.reading import is_there, read_text

#: Largest file (bytes), most files that one takes in, one in another.
MAX_BYTES, MAX_FILES = 1 << 18, 64

#: Most characters of a line with its macros replaced, and most replacements in one.
MAX_LENGTH, MAX_REPLACED = 20_000, 10_000

_STRINGS = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_COMMENT = re.compile(rf"//[^\n]*|/\*.*?(?:\*/|\Z)|{_STRINGS}", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*#\s*([a-z]+)\b(.*)")
_DEFINITION = re.compile(r"\s*([A-Za-z_]\w*)(\(([^)]*)\))?(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORDS = re.compile(r"\b([A-Za-z_]\w*)\b")
_DEFINED = re.compile(r"defined\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|([A-Za-z_]\w*))")
_INCLUDE = re.compile(r"\s*(?:\"([^\"]+)\"|<([^>]+)>)")


@dataclass(frozen=True)
class Macro:
    """A macro: the text that stands for its name, perhaps with arguments."""

    text: str
    arguments: tuple[str, ...] | None = None
    """Names of its arguments; None of one without parentheses."""


@dataclass
class Source:
    """A C file without comments and directives, macros replaced, pragmas kept."""

    path: Path
    lines: list[str] = field(default_factory=list)
    """Its lines, by number from 1 on, those left out by conditions empty."""
    taken_in: list[str] = field(default_factory=list)
    """The lines of files that it takes in."""
    missing: list[str] = field(default_factory=list)
    """Files that it includes and that are not there, such as those of systems."""
    macros: dict[str, Macro] = field(default_factory=dict)
    files: int = 0


def read_source(path: Path) -> Source:
    """Read a C file, and what it includes from its own folder, or one of ``--include-from``.

    Raises `InputError` if a file cannot be read, or a condition is none of numbers.
    """
    source = Source(path)
    source.lines = _lines(path, source)
    return source


def _lines(path: Path, source: Source) -> list[str]:
    source.files += 1
    if source.files > MAX_FILES:
        raise refuse(path, f"takes in more than {MAX_FILES} files; allowed: at most so many")
    text = _COMMENT.sub(_blank, read_text(path, MAX_BYTES).replace("\r\n", "\n"))
    lines, held, result = text.split("\n"), list[list[bool]](), list[str]()
    number = 0
    while number < len(lines):
        parts, first = [lines[number]], number + 1
        while parts[-1].endswith("\\") and number + 1 < len(lines):
            number += 1
            parts += [parts.pop()[:-1], lines[number]]
        line, number = " ".join(parts), number + 1
        where = f"{path}, line {first}"
        if (match := _DIRECTIVE.fullmatch(line)) is not None:
            line = _directive(match[1], match[2], held, source, where, path)
        elif not all(each[-1] for each in held):
            line = ""
        else:
            line = expanded(line, source.macros, where)
        result += [line, *[""] * (number - first)]
    if held:
        raise refuse(path, "#if has no #endif; allowed: one for each")
    return result


def _blank(match: re.Match[str]) -> str:
    """A comment as spaces and ends of lines; strings as they are."""
    text = match[0]
    return text if text[0] in "\"'" else " " + "\n" * text.count("\n")


def _directive(
    name: str, rest: str, held: list[list[bool]], source: Source, where: str, path: Path
) -> str:
    """Obey a directive; the line that is left of it.

    Parameters
    ----------
    name, rest : str
        The directive, and the rest of its line.
    held : list of list of bool
        The conditions around: whether one held, and whether the latest does.
    source : Source
        The file, whose macros change.
    where : str
        What error lines begin with.
    path : Path
        The file that it stands in.
    """
    active = all(each[-1] for each in held)
    if name in ("if", "ifdef", "ifndef"):
        holds = active and _holds(name, rest, source, where)
        held.append([holds or not active, holds])
    elif name in ("elif", "else", "endif"):
        if not held:
            raise refuse(where, f"#{name} without #if; allowed: after one")
        if name == "endif":
            held.pop()
            return ""
        done, _ = held[-1]
        outside = all(each[-1] for each in held[:-1])
        holds = outside and not done and (name == "else" or _holds("if", rest, source, where))
        held[-1] = [done or holds, holds]
    elif not active:
        pass
    elif name == "define" and (match := _DEFINITION.fullmatch(rest)) is not None:
        arguments = None
        if match[2] is not None:
            arguments = tuple(part.strip() for part in match[3].split(",") if part.strip())
        source.macros[match[1]] = Macro(match[4].strip(), arguments)
    elif name == "undef":
        source.macros.pop(rest.strip(), None)
    elif name == "include" and (match := _INCLUDE.match(rest)) is not None:
        if (file := _included(match[1] or match[2], path, source.path)) is not None:
            source.taken_in += _lines(file, source)
        else:
            source.missing.append(match[1] or match[2])
    elif name == "pragma":
        return f"#pragma {' '.join(rest.split())}"
    return ""


def _included(name: str, path: Path, main: Path) -> Path | None:
    """The file of an include, within the folder of the file that is read or one of others that are
    allowed; None: there is none."""
    folders = (each for each in INCLUDED.get() if isinstance(each, Path))
    allowed = (main.resolve().parent, *folders)
    for folder in (path.resolve().parent, *allowed):
        file = (folder / name).resolve()
        inside = any(file.is_relative_to(each) for each in allowed)
        if inside and is_there(file, Path.is_file):
            return file
    return None


def _holds(name: str, text: str, source: Source, where: str) -> bool:
    """Whether a condition holds."""
    if name != "if":
        return (text.strip() in source.macros) == (name == "ifdef")
    from ithaca.plugins.recurrences.workloads.c.syntax import expression, number_of

    known = _DEFINED.sub(lambda at: str(int((at[1] or at[2]) in source.macros)), text)
    # what no macro replaces is 0
    plain = _NAME.sub("0", expanded(known, source.macros, where))
    return bool(number_of(expression(plain, where), {}, where))


def expanded(text: str, macros: dict[str, Macro], where: str) -> str:
    """A line with its macros replaced.

    Parameters
    ----------
    text : str
        The line.
    macros : dict of str to Macro
        Macros by name.
    where : str
        The line's place, for messages.

    Raises
    ------
    InputError
        If it becomes too long.
    """
    try:
        return "".join(_expanded(text, macros, frozenset(), [MAX_REPLACED], where))
    except RecursionError:
        raise InputError(f"{where}: its macros are too deep; allowed: fewer") from None


def _expanded(
    text: str, macros: dict[str, Macro], hidden: frozenset[str], left: list[int], where: str
) -> Iterator[str]:
    place = 0
    while (match := _NAME.search(text, place)) is not None:
        yield text[place : match.start()]
        name, place = match[0], match.end()
        macro = None if name in hidden else macros.get(name)
        inside = macro is not None and macro.arguments is not None
        values = _values(text, place) if inside else None
        if macro is None or (inside and values is None):
            yield name
            continue
        left[0] -= 1
        if left[0] < 0 or len(text) > MAX_LENGTH:
            raise InputError(
                f"{where}: macros make too much of it; allowed: lines that they do not"
            )
        own = macro.text
        if values is not None:
            arguments, place = values
            filled = ["".join(_expanded(value, macros, hidden, left, where)) for value in arguments]
            named = dict(zip(macro.arguments or (), filled, strict=False))
            own = "".join(named.get(part, part) for part in _WORDS.split(own))
            own = re.sub(r"\s*##\s*", "", own)
        yield from _expanded(own, macros, hidden | {name}, left, where)
    yield text[place:]


def _values(text: str, place: int) -> tuple[list[str], int] | None:
    """The arguments in parentheses from a place on, and where they end; None: there are none."""
    start = place + len(text[place:]) - len(text[place:].lstrip())
    if text[start : start + 1] != "(":
        return None
    values, depth = [""], 0
    for at in range(start, len(text)):
        character = text[at]
        depth += (character == "(") - (character == ")")
        if not depth:
            return [value.strip() for value in values], at + 1
        if character == "," and depth == 1:
            values.append("")
        elif at > start:
            values[-1] += character
    return None
