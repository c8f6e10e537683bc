"""Constraints files of Timeloop (format v0.4): which factors, orders, directions and bypasses
mappings may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

from ithaca.files.messages import among, quoted, refuse
from ithaca.files.numbers import fraction
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.architecture_files import load
from ithaca.workloads.nest import LoopNest

_FACTOR = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(<=|>=|=)?\s*([0-9]{1,6})\s*")

#: What entries of a file may hold beside their target and type. Link transfers are off whatever a
#: file says of them.
_FIELDS = {
    "temporal": {"factors", "permutation"},
    "spatial": {"factors", "permutation", "split", "no_link_transfer"},
    "dataspace": {"keep", "bypass"},
    "utilization": {"min"},
}
_TEXT: dict[str, Any] = {"type": ["string", "array"]}
_NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_JSON = {
    "factors": _TEXT,
    "permutation": _TEXT,
    "keep": _NAMES,
    "bypass": _NAMES,
    "split": {"type": "integer"},
    "no_link_transfer": {"type": "boolean"},
    "min": {"type": "number"},
}
_TYPES = {
    "temporal": "temporal",
    "spatial": "spatial",
    **dict.fromkeys(("dataspace", "datatype", "bypass", "bypassing"), "dataspace"),
    **dict.fromkeys(("utilization", "parallelism"), "utilization"),
}


#: Names of lists of constraints, and what a mapping around one may hold.
_LISTS = ("mapspace_constraints", "architecture_constraints", "constraints", "mapspace")
_AROUND = ("version", "targets", "constraints")


def constraints_schema() -> dict[str, Any]:
    """The JSON schema of constraints files."""
    entries = [
        {
            "properties": {
                "target": {"type": "string"},
                "type": {"enum": [name for name, of in _TYPES.items() if of == kind]},
                **{name: _JSON[name] for name in sorted(names)},
            },
            "required": ["type"],
            "additionalProperties": False,
        }
        for kind, names in _FIELDS.items()
    ]
    listed = {"type": "array", "items": {"oneOf": entries}}
    around = {"properties": {"version": {}, "targets": listed, "constraints": listed}}
    either = {"oneOf": [listed, {"type": "object", **around, "additionalProperties": False}]}
    return {
        "title": "Constraints",
        "type": "object",
        "properties": dict.fromkeys(_LISTS, either),
        "additionalProperties": False,
        "minProperties": 1,
    }


@dataclass(frozen=True, slots=True)
class FactorRange:
    """The range of a factor."""

    low: int
    """At least."""
    high: int | None
    """At most; None: anything."""


@dataclass(frozen=True)
class Constraints:
    """Restrictions of mappings. An `InputError` names those that contradict each other."""

    factors: tuple[tuple[str, str, str, FactorRange], ...] = ()
    """Ranges of factors, by level, ``temporal`` or ``spatial``, and loop."""
    directions: tuple[tuple[str, str, str], ...] = ()
    """Whether spatial loops lie along ``x`` or ``y``, by level and loop."""
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The innermost loops of levels, the innermost last."""
    keep: tuple[tuple[str, frozenset[str]], ...] = ()
    """Tensors that levels keep."""
    bypass: tuple[tuple[str, frozenset[str]], ...] = ()
    """Tensors that pass by levels."""
    least_used: Fraction = Fraction(0)
    """The least share of the multipliers that works."""
    where: str = "constraints"
    """What error lines begin with."""

    def factor(self, level: str, kind: str, loop: str) -> FactorRange:
        """The range of the factor of a loop among a level's temporal or spatial loops.

        Parameters
        ----------
        level : str
            The name of a level.
        kind : str
            ``temporal`` or ``spatial``.
        loop : str
            The loop.

        Returns
        -------
        FactorRange
            1 to any, where nothing is constrained.
        """
        ranges = [span for *at, span in self.factors if at == [level, kind, loop]]
        highs = [span.high for span in ranges if span.high is not None]
        return FactorRange(max((span.low for span in ranges), default=1), min(highs, default=None))

    def lies_along(self, level: str, loop: str, direction: str) -> bool:
        """Whether a spatial loop of a level may lie along a direction.

        Parameters
        ----------
        level : str
            The name of the level that holds the instances.
        loop : str
            The loop.
        direction : str
            ``x`` or ``y``.
        """
        sides = {side for *at, side in self.directions if at == [level, loop]}
        return not sides or sides == {direction}

    def innermost(self, level: str) -> tuple[str, ...]:
        """The innermost temporal loops of a level, the innermost last."""
        return dict(self.orders).get(level, ())

    def kept(self, level: str) -> frozenset[str]:
        """The tensors that a level is to keep."""
        return frozenset().union(*(tensors for name, tensors in self.keep if name == level))

    def bypassed(self, level: str) -> frozenset[str]:
        """The tensors that are to pass by a level."""
        return frozenset().union(*(tensors for name, tensors in self.bypass if name == level))

    @property
    def asks_for_more(self) -> bool:
        """Whether larger factors, or more multipliers that work, are asked for than mappings may
        have of themselves."""
        return self.least_used > 0 or any(span.low > 1 for *_, span in self.factors)

    def check(self, nest: LoopNest, architecture: Architecture) -> None:
        """Refuse what nest and architecture do not have, and what contradicts itself or them."""
        for complaint in self._complaints(nest, architecture):
            raise refuse(self.where, complaint)

    def _complaints(self, nest: LoopNest, architecture: Architecture) -> Iterator[str]:
        tensors = [access.tensor for access in nest.accesses]
        for level in architecture.levels:
            kept, passed = self.kept(level.name), self.bypassed(level.name)
            for tensor in sorted(kept | passed):
                if tensor not in tensors:
                    yield (
                        f"{level.name} keeps or bypasses the unknown tensor "
                        f"{quoted(tensor)}{among(tensor, tensors)}"
                    )
            if both := sorted(kept & passed):
                yield f"{level.name} is to keep and to bypass {both[0]}; allowed: one of them"
            if unable := sorted(kept - level.kept(tensors)):
                yield (
                    f"{level.name} is to keep {unable[0]}, which it cannot hold; "
                    "allowed: what its architecture says"
                )
            if level is architecture.levels[0] and passed:
                yield (
                    f"{min(passed)} is to bypass {level.name}, the outermost level; "
                    "allowed: bypasses of inner levels"
                )
        for loop in sorted(
            {loop for *_, loop, _ in self.factors}
            | {loop for _, loops in self.orders for loop in loops}
        ):
            if loop not in nest.loops:
                yield f"the loop {quoted(loop)} is unknown{among(loop, nest.loops)}"
        for name, loop, _ in self.directions:
            if not (self.lies_along(name, loop, "x") or self.lies_along(name, loop, "y")):
                yield f"{loop} of {name} is to lie along X and along Y; allowed: one of them"
        for loop, extent in nest.extents:
            ranges = {
                (at, kind): self.factor(at, kind, loop)
                for at, kind, name, _ in self.factors
                if name == loop
            }
            for (at, kind), span in ranges.items():
                if span.high is not None and span.low > span.high:
                    yield (
                        f"the {kind} factor of {loop} in {at} is to be at least "
                        f"{span.low} and at most {span.high}"
                    )
            least = prod(span.low for span in ranges.values())
            if least >= 2 * extent and least > 1:
                yield (
                    f"factors of {loop} multiply to at least {least}; allowed: its "
                    f"extent {extent}, or a little more"
                )
        if not 0 <= self.least_used <= 1:
            yield f"utilization is to be at least {self.least_used}; allowed: 0 to 1"


#: No constraints.
NONE = Constraints()


def read_constraints(path: str | Path, architecture: Architecture, nest: LoopNest) -> Constraints:
    """Read the constraints of a file on mappings.

    Parameters
    ----------
    path : str or Path
        The file, in Timeloop's format.
    architecture : Architecture
        The architecture that it is about.
    nest : LoopNest
        The nest that is mapped.

    Returns
    -------
    Constraints
        The constraints.

    Raises
    ------
    InputError
        One line that names the path, if it cannot be read, says what is not supported or
        contradicts itself.
    """
    file = Path(path)
    document = load(file)
    entries: list[tuple[Any, str]] = []
    if (
        not isinstance(document, dict)
        or not document
        or (unknown := min(document.keys() - {*_LISTS}, default=None))
    ):
        raise refuse(file, f"has no constraints alone; allowed: {', '.join(_LISTS[:3])}")
    for key, part in document.items():
        section, at = part, key
        if isinstance(part, dict):
            if unknown := min(part.keys() - {*_AROUND}, default=None):
                raise refuse(file, f"{key}.{unknown} is unknown{among(unknown, _AROUND)}")
            name = "targets" if "targets" in part else "constraints"
            section, at = part.get(name), f"{key}.{name}"
        if not isinstance(section, list):
            raise refuse(file, f"{at} is no list; allowed: entries with target and type")
        entries += [(entry, f"{file}: {at}[{place}]") for place, entry in enumerate(section)]
    reader = _Reader(architecture, nest)
    for entry, where in entries:
        reader.read(entry, where)
    constraints = Constraints(
        tuple(reader.factors),
        tuple(reader.directions),
        tuple(reader.orders.items()),
        tuple(reader.keep),
        tuple(reader.bypass),
        reader.least_used,
        str(file),
    )
    constraints.check(nest, architecture)
    return constraints


class _Reader:
    """Takes up entry by entry."""

    def __init__(self, architecture: Architecture, nest: LoopNest) -> None:
        self.architecture, self.nest = architecture, nest
        self.factors: list[tuple[str, str, str, FactorRange]] = []
        self.directions: list[tuple[str, str, str]] = []
        self.orders: dict[str, tuple[str, ...]] = {}
        self.keep: list[tuple[str, frozenset[str]]] = []
        self.bypass: list[tuple[str, frozenset[str]]] = []
        self.least_used = Fraction(0)
        meshes = (
            (level.name, architecture.inner_mesh(place))
            for place, level in enumerate(architecture.levels)
        )
        self.meshes = {level: mesh for level, mesh in meshes if mesh is not None}

    def read(self, entry: Any, where: str) -> None:
        if not isinstance(entry, dict) or entry.get("type") not in _TYPES:
            kind = entry.get("type") if isinstance(entry, dict) else entry
            raise refuse(where, f"type is {quoted(kind)}{among(kind, _TYPES)}")
        kind = _TYPES[entry["type"]]
        if unknown := min(entry.keys() - {"target", "type", *_FIELDS[kind]}, default=None):
            raise refuse(
                where, f"{unknown} is not supported{among(unknown, sorted(_FIELDS[kind]))}"
            )
        if kind == "utilization":
            self._utilization(entry, where)
            return
        level = self._level(entry.get("target"), where)
        if kind == "dataspace":
            for field, levels in (("keep", self.keep), ("bypass", self.bypass)):
                names = entry.get(field, [])
                if not isinstance(names, list):
                    raise refuse(where, f"{field} is {quoted(names)}; allowed: a list of tensors")
                levels.append((level, frozenset(map(str, names))))
            return
        order = self._loops(entry.get("permutation", []), where)
        if kind == "temporal":
            innermost = tuple(reversed(order))
            if self.orders.get(level, innermost) != innermost and order:
                raise refuse(
                    where, f"permutation of {level} differs from an earlier one; allowed: one"
                )
            self.orders |= {level: innermost} if order else {}
        elif level not in self.meshes:
            raise refuse(
                where, f"{level} has no mesh inside; allowed: levels with more instances inside"
            )
        else:
            self._split(entry, level, order, where)
        self._factors(entry, level, kind, where)

    def _level(self, target: Any, where: str) -> str:
        names = [level.name for level in self.architecture.levels]
        if target not in names:
            raise refuse(where, f"target is {quoted(target)}{among(target, names)}")
        return str(target)

    def _loops(self, text: Any, where: str) -> list[str]:
        """Loops of a permutation, the innermost first, as the tool has it."""
        if isinstance(text, str):
            names, whole = text.strip(), text.strip() in self.nest.loops
            text = (
                re.split(r"[\s,]+", names)
                if re.search(r"[\s,]", names)
                else [names]
                if whole
                else list(names)
            )
        if (
            not isinstance(text, list)
            or not all(loop in self.nest.loops for loop in text)
            or len(set(text)) < len(text)
        ):
            raise refuse(
                where,
                f"permutation is {quoted(text)}; allowed: some of "
                f"{', '.join(self.nest.loops)}, the innermost first",
            )
        return [str(loop) for loop in text]

    def _factors(self, entry: Mapping[str, Any], level: str, kind: str, where: str) -> None:
        text = entry.get("factors", [])
        parts = (
            text
            if isinstance(text, list)
            else re.split(r"[\s,]+", str(text).strip())
            if text
            else []
        )
        for part in parts:
            match = _FACTOR.fullmatch(str(part))
            if match is None or match[1] not in self.nest.loops:
                raise refuse(
                    where,
                    f"factors has {quoted(part)}; allowed: such as C=4, C<=8, "
                    f"of {', '.join(self.nest.loops)}",
                )
            loop, relation, value = match[1], match[2] or "=", int(match[3])
            if value == 0:  # the tool's word for the whole extent
                value = self.nest.sizes[loop]
            low, high = (value if relation != "<=" else 1), (value if relation != ">=" else None)
            self.factors.append((level, kind, loop, FactorRange(low, high)))

    def _split(
        self, entry: Mapping[str, Any], level: str, order: Sequence[str], where: str
    ) -> None:
        """The first loops of a permutation lie along X, those after the split, and all that it does
        not name, along Y."""
        if "split" not in entry:
            if order and all(n > 1 for n in self.meshes[level]):
                raise refuse(
                    where,
                    "permutation has no split; allowed: with split, how "
                    "many of its loops lie along X",
                )
            return
        split, loops = entry["split"], self.nest.loops
        if (
            isinstance(split, bool)
            or not isinstance(split, int)
            or not (0 <= split <= len(order) or split >= len(loops))
        ):
            raise refuse(
                where,
                f"split is {quoted(split)}; allowed: how many loops of the permutation lie along X",
            )
        placed = (*order, *(loop for loop in loops if loop not in order))
        self.directions += [
            (level, loop, "x" if place < split else "y") for place, loop in enumerate(placed)
        ]

    def _utilization(self, entry: Mapping[str, Any], where: str) -> None:
        value = entry.get("min")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise refuse(where, f"min is {quoted(value)}; allowed: a number from 0 to 1")
        self.least_used = max(self.least_used, fraction(value))
