"""The statistics that Timeloop prints of a mapping (``.stats.txt``), by part and field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ithaca.files.messages import refuse
from ithaca.files.reading import read_text

#: Largest file (bytes).
MAX_BYTES = 16 << 20

#: The parts that hold figures of the whole mapping, and its energies by operation.
WHOLE, ENERGIES = "whole run", "energy per compute"


@dataclass(frozen=True, slots=True)
class Figure:
    """A printed number."""

    text: str
    """The number as it is printed."""
    scale: Fraction = Fraction(1)
    """The factor from its unit to that of the field."""

    def __str__(self) -> str:
        return f"{self.text}{_UNITS[self.scale]}"

    @property
    def value(self) -> Fraction:
        """The number, in the unit of the field."""
        return Fraction(self.text) * self.scale

    @property
    def step(self) -> Fraction:
        """The least difference that its decimals show; 0 of whole numbers."""
        digits, _, exponent = self.text.partition("e")
        decimals = digits.partition(".")[2]
        return self.scale * Fraction(10) ** (int(exponent or 0) - len(decimals)) * bool(decimals)

    def equals(self, other: Figure) -> bool:
        """Whether both could be printed of one number; of decimals the last may differ by one."""
        return abs(self.value - other.value) <= max(self.step, other.step)


#: Units of figures by their scales: fields are in pJ, and shares.
_UNITS = {Fraction(1): "", Fraction(1, 1000): " fJ", Fraction(1, 100): "%"}

#: Figures by part (a level, ``level.tensor``, `WHOLE` or `ENERGIES`) and field.
Statistics = Mapping[tuple[str, str], Figure]

#: Names of fields in older versions of the tool.
_OLDER = {"Energy-per-op": "Compute energy", "MACCs": "Computes"}

_SECTION = re.compile(r"[A-Z][\w ]*")
_LEVEL = re.compile(r"=== ([\w.-]+) ===")
_TENSOR = re.compile(r" {4}(\w+):")
_EACH = re.compile(r"([fp])J/(?:MACC|Compute)")
_NUMBER = r"[-+]?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:e[-+]?[0-9]{1,2})?"
_FIGURE = re.compile(rf" *([A-Za-z][^:=]*?) *[:=] *({_NUMBER})( .*|%)?")

#: Sections of figures of levels, and of the whole; others hold networks, or follow from these.
_LEVELS, _SUMMARY = "Buffer and Arithmetic Levels", "Summary Stats"


def read_statistics(path: Path) -> Statistics:
    """The figures of a file of statistics.

    Raises `InputError` if it is no such file.
    """
    figures = statistics(read_text(path, MAX_BYTES))
    if not any(part == WHOLE for part, _ in figures):
        raise refuse(
            path,
            f"has no figures below '{_SUMMARY}'; allowed: the statistics of a mapping that "
            "Timeloop prints (.stats.txt)",
        )
    return figures


def statistics(text: str) -> Statistics:
    """The figures of a text of statistics."""
    figures: dict[tuple[str, str], Figure] = {}
    section, part, unit = "", "", Fraction(1)
    for line in map(str.rstrip, text.splitlines()):
        if _SECTION.fullmatch(line) and not line.startswith("Level "):
            section, part, unit = line, WHOLE if line == _SUMMARY else "", Fraction(1)
        elif section == _LEVELS and (level := _LEVEL.fullmatch(line)):
            part = level[1]
        elif section == _LEVELS and (tensor := _TENSOR.fullmatch(line)):
            part = f"{part.partition('.')[0]}.{tensor[1]}"
        elif section == _SUMMARY and (each := _EACH.fullmatch(line)):
            part, unit = ENERGIES, Fraction(1, 1 if each[1] == "p" else 1000)
        elif part and (figure := _FIGURE.fullmatch(line)):
            scale = Fraction(1, 100) if figure[3] == "%" else unit
            name = _OLDER.get(figure[1], figure[1])
            figures.setdefault((part, name), Figure(figure[2], scale))
    return figures


def drawing(text: str) -> list[tuple[int, str]]:
    """The mapping of a text of statistics as the tool draws one (``.map.txt``): its lines, with
    their numbers in the text; none of other texts."""
    drawn: list[tuple[int, str]] = []
    section, name, loops, kept = "", "", list[tuple[int, str]](), list[str]()
    for number, line in enumerate(map(str.rstrip, f"{text}\nEnd".splitlines()), 1):
        begins = _SECTION.fullmatch(line) and not line.startswith("Level ")
        level = _LEVEL.fullmatch(line) if section == _LEVELS else None
        if (begins or level) and name and loops:
            drawn += [(loops[0][0], f"{name} [ {' '.join(kept)} ]"), *loops[1:]]
        if begins:
            section, name = line, ""
        elif level:
            name, loops, kept = level[1], [], []
        elif name and (line.strip() == "Loop nest:" or line.lstrip().startswith("for ")):
            loops.append((number, line.strip()))
        elif name and (tensor := _TENSOR.fullmatch(line)):
            kept.append(f"{tensor[1]}:")
    return drawn
