"""Constraints files of Timeloop (formats v0.3 and v0.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

from ithaca.files.messages import among, quoted, refuse
from ithaca.files.numbers import fraction
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraint_entries import SECTIONS, TYPES, entries_of
from ithaca.plugins.hierarchies.formulations.constraints import NONE, Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.filled_lanes import filling
from ithaca.plugins.hierarchies.formulations.library import roles
from ithaca.workloads.nest import LoopNest

_FACTOR = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(<=|>=|=)?\s*([0-9]{1,7})\s*")


def read_constraints(
    path: str | Path | None, architecture: Architecture, nest: LoopNest
) -> Constraints:
    """Read the constraints on mappings of a file, and of an architecture's.

    Parameters
    ----------
    path : str or Path, optional
        The file, in Timeloop's format.
    architecture : Architecture
        The architecture that it is about.
    nest : LoopNest
        The nest that is mapped.

    Returns
    -------
    Constraints
        The constraints; `Constraints.unread` has the paths of fields that nothing depends on.

    Raises
    ------
    InputError
        One line that names the path, if it cannot be read, says what is not supported or
        contradicts itself.
    """
    unread: list[str] = []
    entries = list(architecture.entries)
    if path is not None:
        document = load_timeloop(Path(path))
        known = document.keys() & {*SECTIONS} if isinstance(document, dict) else ()
        if not known:
            named = isinstance(document, list) and any(
                isinstance(each, dict) and "spatial_mapping" in each for each in document
            )
            what = "is a mapping of ZigZag or Stream" if named else "has no constraints"
            raise refuse(path, f"{what}; allowed: {', '.join(SECTIONS[:4])}")
        sections = {name: document[name] for name in SECTIONS if name in known}
        entries += entries_of(sections, path, unread)
    if not entries:
        return NONE
    reader = _ConstraintsReader(architecture, nest, unread)
    for where, text in entries:
        reader.read(json.loads(text), where)
    reader.fill()
    constraints = Constraints(
        tuple(reader.factors),
        tuple(reader.directions),
        tuple(reader.orders.items()),
        tuple(reader.keep),
        tuple(reader.bypass),
        reader.least_used,
        str(path or architecture.name),
        tuple(unread),
    )
    constraints.check(nest, architecture)
    return constraints


class _ConstraintsReader:
    """Takes up entry by entry."""

    def __init__(self, architecture: Architecture, nest: LoopNest, unread: list[str]) -> None:
        self.architecture, self.nest, self.unread = architecture, nest, unread
        self.factors: list[FactorRange] = []
        self.directions: list[tuple[str, str, str]] = []
        self.orders: dict[str, tuple[str, ...]] = {}
        self.keep: list[tuple[str, frozenset[str]]] = []
        self.bypass: list[tuple[str, frozenset[str]]] = []
        self.least_used = Fraction(0)
        self.filled: list[tuple[str, str, Mapping[str, Any], str]] = []
        meshes = (
            (level.name, architecture.inner_mesh(place))
            for place, level in enumerate(architecture.levels)
        )
        self.meshes = {level: mesh for level, mesh in meshes if mesh is not None}

    def read(self, entry: Mapping[str, Any], where: str) -> None:
        kind = TYPES[entry["type"]]
        if kind == "utilization":
            self._utilization(entry, where)
            return
        level = self._level(entry.get("target", entry.get("name")), where, kind)
        if kind == "dataspace":
            self._dataspace(entry, level)
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
        self._factors(entry, level, kind, where)
        if kind == "spatial":
            self._split(entry, level, order, where)

    def _dataspace(self, entry: Mapping[str, Any], level: str) -> None:
        by_role, tensors = roles(self.nest), {access.tensor for access in self.nest.accesses}
        for name, own, other in (
            ("keep", self.keep, None),
            ("bypass", self.bypass, None),
            ("keep_only", self.keep, self.bypass),
            ("bypass_only", self.bypass, self.keep),
        ):
            if (names := entry.get(name)) is None:
                continue
            meant = frozenset(n if n in tensors else by_role.get(n, n) for n in map(str, names))
            own.append((level, meant))
            if other is not None:
                other.append((level, frozenset(tensors - meant)))

    def _level(self, target: Any, where: str, kind: str) -> str:
        """The level of a target: its name, or its number, the innermost being 0; of spatial loops
        perhaps the node whose instances they run over."""
        if kind == "spatial" and isinstance(target, str):
            target = self.architecture.spreading(target)
        names = [level.name for level in self.architecture.levels]
        if isinstance(target, int) and 0 <= target < len(names):
            return names[-1 - target]
        if target not in names:
            raise refuse(where, f"target is {quoted(target)}{among(target, names)}")
        return str(target)

    def _loops(self, text: Any, where: str) -> list[str]:
        """Loops of a permutation, the innermost first, as the tool has it: apart, or letter by
        letter."""
        if isinstance(text, str):
            names = text.replace(",", " ").split()
            text = names if all(n in self.nest.loops for n in names) else list("".join(names))
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
        only = entry.get("factors_only")
        if entry.get("maximize_dims"):
            self.filled.append((level, kind, entry, where))
        for part in (*_parts(entry.get("factors")), *_parts(only)):
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
            if relation == "=" and value >= 2 * self.nest.sizes[loop]:  # as the tool does
                self.unread.append(f"{where}.factors.{loop}={value}, beyond the extent of {loop}")
                continue
            low, high = (value if relation != "<=" else 1), (value if relation != ">=" else None)
            self.factors.append(FactorRange(level, kind, loop, low, high, where))
        stated = {span.loop for span in self.factors if span.at[:2] == (level, kind)}
        for loop in self.nest.loops if only is not None else ():
            if loop not in stated:
                self.factors.append(FactorRange(level, kind, loop, 1, 1, where))
        for name, inside in (
            ("no_iteration_over_dataspaces", True),
            ("must_iterate_over_dataspaces", False),
        ):
            if name in entry:
                own = self._indexing(entry[name], where)
                self.factors += [
                    FactorRange(level, kind, loop, 1, 1, where)
                    for loop in self.nest.loops
                    if (loop in own) == inside
                ]

    def _indexing(self, names: Sequence[str], where: str) -> set[str]:
        """Loops that index some of tensors; ``*`` stands for all of them."""
        by_role, tensors = roles(self.nest), [access.tensor for access in self.nest.accesses]
        meant = [by_role.get(n, n) if n not in tensors else n for n in names if n != "*"]
        for name in meant:
            if name not in tensors:
                raise refuse(where, f"there is no tensor {quoted(name)}{among(name, tensors)}")
        return {
            loop
            for access in self.nest.accesses
            if "*" in names or access.tensor in meant
            for loop in self.nest.loops
            if access.indexed_by(loop)
        }

    def fill(self) -> None:
        """Fix the factors that are to fill lanes, from the inside outwards, and then trips: group
        by group those that fill them best (`filling`)."""
        places = [level.name for level in self.architecture.levels]
        for level, kind, entry, where in sorted(
            self.filled, key=lambda own: (own[1] == "temporal", -places.index(own[0]))
        ):
            room = entry.get("maximize_dims_capacity", prod(self.meshes.get(level, ())))
            if kind == "temporal" and "maximize_dims_capacity" not in entry:
                raise refuse(where, "maximize_dims has no maximize_dims_capacity; allowed: both")
            for group in entry["maximize_dims"]:
                own = [span for span in self.factors if span.at[:2] == (level, kind)]
                stated = {span.loop for span in own if span.low > 1 or span.high is not None}
                for loop in group:
                    if loop not in self.nest.loops or loop in stated or group.count(loop) > 1:
                        raise refuse(
                            where,
                            f"maximize_dims has {quoted(loop)}; allowed: each of "
                            f"{', '.join(n for n in self.nest.loops if n not in stated)} once",
                        )
                left = room // max(1, prod(span.low for span in own))
                factors = filling([self._left(loop) for loop in group], left)
                self.factors += [
                    FactorRange(level, kind, loop, factor, factor, where)
                    for loop, factor in zip(group, factors, strict=True)
                ]

    def _left(self, loop: str) -> int:
        """Iterations of a loop that fixed factors leave."""
        left = self.nest.sizes[loop]
        for span in self.factors:
            if span.loop == loop and span.low == span.high:
                left = -(-left // span.low)
        return left

    def _split(
        self, entry: Mapping[str, Any], level: str, order: Sequence[str], where: str
    ) -> None:
        """The first loops of a permutation lie along X, those after the split, and all that it does
        not name, along Y."""
        if "split" not in entry:
            single = {
                span.loop
                for span in self.factors
                if span.at[:2] == (level, "spatial") and span.high == 1
            }
            spread = [n for n, extent in self.nest.extents if extent > 1 and n not in single]
            if order and all(n > 1 for n in self.meshes[level]) and len(spread) > 1:
                raise refuse(
                    where,
                    "permutation has no split; allowed: with split, how "
                    "many of its loops lie along X",
                )
            return
        split, loops = entry["split"], self.nest.loops
        if split == "len(spec.problem.instance)":  # as files have it for all of them
            split = len(loops)
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


def _parts(text: Any) -> list[Any]:
    """Factors, one by one."""
    if isinstance(text, list):
        return text
    return re.sub(r"\s*(<=|>=|=)\s*", r"\1", str(text or "")).replace(",", " ").split()
