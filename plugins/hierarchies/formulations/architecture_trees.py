"""The elements of architectures in Timeloop's files: branches of ``subtree`` and ``local``, lists
of ``nodes``, or ``storage`` above ``arithmetic``.

What nodes say of mappings, too, is collected as the entries of constraints files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ithaca.files.documents import InputDocument
from ithaca.files.messages import quoted, refuse
from ithaca.plugins.hierarchies.formulations.architecture_elements import Element, calculated
from ithaca.plugins.hierarchies.formulations.constraint_entries import check_types, checked

#: The class of levels that keep nothing.
DUMMY = "dummy_storage"

_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([0-9]{1,6})\.\.([0-9]{1,6})\])?")


def _checked(text: str) -> str:
    match = _NAME.fullmatch(text)
    if match is None or (match[2] and int(match[3]) < int(match[2])):
        raise ValueError("letters, digits and _, and perhaps a range [0..n]")
    return text


_Name = Annotated[str, AfterValidator(_checked)]


class _Component(InputDocument):
    name: _Name
    kind: str = Field(default="", alias="class")
    subclass: str | None = None
    attributes: dict[str, Any] | None = None
    required_actions: list[str] | None = None
    enabled: bool = True
    area_scale: float | int | str | None = None
    energy_scale: float | int | str | None = None


class _Branch(InputDocument):
    name: _Name
    attributes: dict[str, Any] | None = None
    required_actions: list[str] | None = None
    local: list[_Component] = Field(default=[])
    subtree: list[_Branch] = Field(default=[], max_length=1)


class _Mesh(InputDocument):
    meshX: float | int | str = 1  # noqa: N815  (as files have it)
    meshY: float | int | str = 1  # noqa: N815


def _typed(constraints: Mapping[str, dict[str, Any] | None]) -> Any:
    for kind, own in constraints.items():
        check_types(own or {}, kind)
    return constraints


class _ElementNode(_Component):
    tag: Literal["Container", "Component", "Parallel", "Hierarchical", "Nothing"] = Field(alias="!")
    name: _Name = "nothing"
    spatial: _Mesh = _Mesh()
    constraints: Annotated[
        dict[Literal["dataspace", "spatial", "temporal"], dict[str, Any] | None],
        AfterValidator(_typed),
    ] = Field(default={})
    sparse_optimizations: dict[str, Any] | None = None
    nodes: list[_ElementNode] = Field(default=[])


class _Storage(InputDocument):
    """A level of the first format: all are attributes."""

    name: _Name

    model_config = InputDocument.model_config | {"extra": "allow"}


class TreeDocument(InputDocument):
    version: str | float = 0.4
    subtree: list[_Branch] = Field(default=[], max_length=1)
    nodes: list[_ElementNode] = Field(default=[])
    storage: list[_Storage] = Field(default=[])
    arithmetic: dict[str, Any] | None = None


@dataclass
class ArchitectureTree:
    """The elements of an architecture, and what else its file says."""

    variables: Mapping[str, Any]
    """Names for expressions."""
    elements: list[Element] = field(default_factory=list)
    """Its components, outermost first."""
    entries: list[tuple[str, str]] = field(default_factory=list)
    """Constraints on mappings: the path, and the entry as JSON."""
    meshes: dict[str, str] = field(default_factory=dict)
    """Spatial nodes, and the levels that hold their instances."""
    sparse: list[tuple[str, Any]] = field(default_factory=list)
    """Its handling of sparse tensors: the path, and the entry."""
    unread: list[str] = field(default_factory=list)
    """Paths of what nothing depends on."""
    keeping: bool = True
    """Whether a node that says what it keeps holds nothing else."""

    def read(self, tree: TreeDocument, where: str) -> None:
        """Take in the components of an architecture, of whichever form."""
        forms = [name for name in ("subtree", "nodes", "storage") if getattr(tree, name)]
        if len(forms) != 1:
            raise refuse(
                where,
                f"has {'both' if forms else 'no'} subtree and nodes; "
                "allowed: one of them, written out",
            )
        if forms != ["storage"] and str(tree.version) not in ("0.2", "0.3", "0.4"):
            raise refuse(where, f"version is {quoted(tree.version)}; allowed: 0.4")
        if tree.nodes:
            self._nodes(tree.nodes, f"{where}.nodes", _Inside(self))
        elif tree.subtree:
            self._branch(tree.subtree[0], f"{where}.subtree[0]", 1, self.variables)
        else:
            for place, level in reversed([*enumerate(tree.storage)]):
                own = level.model_dump(exclude={"name"})
                self.elements.append(
                    Element(level.name, "storage", own, 1, f"{where}.storage[{place}]")
                )
            own = {"name": "MACs", **(tree.arithmetic or {})}
            self.elements.append(
                Element(str(own.pop("name")), "compute", own, 1, f"{where}.arithmetic")
            )

    def _branch(
        self, branch: _Branch, where: str, around: int, variables: Mapping[str, Any]
    ) -> None:
        name, times = _named(branch.name)
        names = {**variables, **(branch.attributes or {})}
        own = Element(name, "", dict(branch.attributes or {}), 1, where)
        self.unread += own.finish()
        for place, entry in enumerate(branch.local):
            if entry.enabled:
                part, more = _named(entry.name)
                self.elements.append(
                    Element(
                        part,
                        entry.kind,
                        dict(entry.attributes or {}),
                        around * times * more,
                        f"{where}.local[{place}]",
                        variables=names,
                        subclass=entry.subclass,
                    )
                )
        for inner in branch.subtree:
            self._branch(inner, f"{where}.subtree[0]", around * times, names)

    def _nodes(self, nodes: list[_ElementNode], where: str, inside: _Inside) -> None:
        """Nodes are inside those before them; what is spatial in one multiplies all that follow. In
        parallel each keeps its own tensors."""
        for place, node in enumerate(nodes):
            self._node(node, f"{where}[{place}]", inside)

    def _node(self, node: _ElementNode, at: str, inside: _Inside) -> None:
        if node.tag == "Nothing" or not node.enabled:
            return
        if node.tag == "Hierarchical":
            self._nodes(node.nodes, f"{at}.nodes", inside)
            return
        if node.tag == "Parallel":
            for place, child in enumerate(node.nodes):
                self._node(child, f"{at}.nodes[{place}]", replace(inside, keeps=_kept(child)))
            if self.elements:
                inside.outer, inside.spreads = self.elements[-1].name, False
            return
        name, times = _named(node.name)
        attributes = dict(node.attributes or {})
        names = {**self.variables, **inside.attributes, **attributes}
        mesh = [
            calculated(getattr(node.spatial, along), names, f"{at}.spatial.{along}")
            for along in ("meshX", "meshY")
        ]
        for along, count in zip("XY", mesh, strict=True):
            if count != int(count) or count < 1:
                raise refuse(
                    at, f"spatial.mesh{along} is {quoted(count)}; allowed: a positive integer"
                )
        inside.spread(name, int(mesh[0]) * times, int(mesh[1]), at)
        if inside.outer and mesh[0] * mesh[1] * times > 1:
            self.meshes[name] = inside.outer
        constraints = {kind: own for kind, own in node.constraints.items() if own}
        if spatial := constraints.pop("spatial", None):
            self.constrain(inside.outer, "spatial", spatial, at)
        if node.sparse_optimizations:
            own = {"targets": [{"name": name, **node.sparse_optimizations}]}
            self.sparse.append((f"{at}.sparse_optimizations", own))
        if node.tag == "Container":
            if constraints:
                raise refuse(
                    at,
                    f"{name} is a container, which keeps nothing; "
                    "allowed: constraints of components",
                )
            inside.attributes |= attributes
            return
        element = Element(
            name,
            node.kind,
            attributes,
            (inside.x, inside.y),
            at,
            inherited=dict(inside.attributes),
            variables=self.variables,
            subclass=node.subclass,
        )
        dataspace = constraints.get("dataspace") or {}
        kept = dataspace.get("keep", dataspace.get("keep_only")) if self.keeping else None
        element.keeps = inside.keeps if kept is None else frozenset(map(str, kept))
        self.elements.append(element)
        if element.role == "storage":
            inside.outer, inside.spreads = name, False
            for kind, own in constraints.items():
                if kind == "temporal" or kept is None:
                    self.constrain(name, kind, own, at)
                else:
                    checked({"type": kind, **own}, f"{at}.constraints.{kind}", self.unread)

    def constrain(self, target: str, kind: str, own: Mapping[str, Any], at: str) -> None:
        """Take in a constraint on mappings.

        Parameters
        ----------
        target : str
            Name of the level whose loops are constrained.
        kind : str
            What is constrained, as Timeloop names it: ``temporal``, ``spatial`` or ``datatype``.
        own : mapping of str to object
            The constraint's other fields, as the file has them.
        at : str
            The node that states it, as errors name it.
        """
        path = f"{at}.constraints.{kind}"
        entry = checked({"target": target, "type": kind, **own}, path, self.unread)
        self.entries.append((path, json.dumps(entry)))


@dataclass
class _Inside:
    """A position in an architecture tree: inside the nodes before it."""

    tree: ArchitectureTree
    x: int = 1
    y: int = 1
    outer: str = ""
    """The level around."""
    spreads: bool = False
    """Whether there are more instances here than of it."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """The attributes of containers around."""
    keeps: frozenset[str] | None = None
    """The tensors that the branch keeps, in parallel with others."""

    def spread(self, name: str, x: int, y: int, at: str) -> None:
        """Multiply instances. Between two multiplications there is a level that keeps nothing, as
        the tool has it: words are spread over the first, then over the second."""
        if x * y == 1:
            return
        if self.keeps is not None:
            raise refuse(at, f"{name} is spatial and in parallel; allowed: around or inside")
        if self.spreads:
            self.outer = f"inter_{name}_spatial"
            self.tree.elements.append(
                Element(self.outer, DUMMY, {}, (self.x, self.y), at, frozenset())
            )
            self.tree.constrain(self.outer, "temporal", {"factors_only": []}, at)
        self.x, self.y, self.spreads = self.x * x, self.y * y, True


def _kept(node: _ElementNode) -> frozenset[str]:
    """The tensors that a branch keeps."""
    own = node.constraints.get("dataspace") or {}
    names = own.get("keep", own.get("keep_only", []))
    return frozenset(map(str, names)).union(*map(_kept, node.nodes))


def _named(text: str) -> tuple[str, int]:
    """Name without its range, and how many instances the range names: ``PE[0..255]``."""
    match = _NAME.fullmatch(text)
    assert match is not None  # as `_checked`
    return match[1], int(match[3]) - int(match[2]) + 1 if match[2] else 1
