"""Load a published design description into the model object that `derivation` builds.

The AutoSA/Odyssey release describes each design as a JSON document: loop trees per module,
buffers, data packs, parameters. Everything that is costed comes from the document; the loop nest
only says which array is which, and must match. Such documents state the published estimator's
view, so the array follows `Edition.ODYSSEY`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ithaca.formulations.algebra.expression import ONE, ZERO, Expression
from ithaca.formulations.algebra.parsing import escaped, quoted
from ithaca.formulations.documents import Field, read_json, shortened
from ithaca.formulations.systolic.derivation import merge_drain
from ithaca.formulations.systolic.descriptor_pe import PE, read_pe
from ithaca.formulations.systolic.descriptor_quantities import PackParameter, Vocabulary, product, read_parameters, with_lanes
from ithaca.formulations.systolic.descriptor_trees import Spine, Transfer, read_tree, spine
from ithaca.formulations.systolic.quantities import lanes
from ithaca.formulations.systolic.systolic_array import (
    Direction,
    Edition,
    Epilogue,
    IOGroup,
    Module,
    Packing,
    ProcessingElement,
    Role,
    SystolicArray,
)
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

_MODULE = re.compile(r"(?P<group>\w+)_IO_L(?P<level>[1-9])_(?P<way>in|out)")


def load_descriptor(path: Path, nest: LoopNest) -> SystolicArray:
    """Load a design description from a file.

    Parameters
    ----------
    path : Path
        A JSON file as the AutoSA/Odyssey release publishes it.
    nest : LoopNest
        The loop nest it describes a design of.

    Raises
    ------
    InputError
        If the file cannot be read, is malformed, or describes a design of another nest.
    """
    return descriptor_array(read_json(path), nest, shortened(escaped(path.name)))


def descriptor_array(document: object, nest: LoopNest, name: str) -> SystolicArray:
    """Translate a design description.

    Parameters
    ----------
    document : object
        The description, as JSON decodes it. Keys that the model does not need are ignored.
    nest : LoopNest
        The loop nest it describes a design of.
    name : str
        Name of the document, for messages.

    Returns
    -------
    SystolicArray
        Of edition `Edition.ODYSSEY`.

    Raises
    ------
    InputError
        If it is malformed or describes a design of another nest.
    """
    for access in nest.accesses:
        if any(c != 1 for subscript in access for _, c in subscript.terms):
            raise InputError(f"{name}: published descriptions have no strides or dilations; allowed: those of {access} at 1")
    return _Translation(root := Field(document, name), nest, read_parameters(root["params"], nest)).array()


@dataclass(frozen=True, slots=True)
class _Name:
    """A module name taken apart."""

    full: str
    group: str
    level: int
    way: Direction


@dataclass(frozen=True, slots=True)
class _Buffer:
    """What the buffers of a group are; those of both directions must agree."""

    size: Expression
    last: Expression
    count: Expression
    pack: str
    double_buffered: bool
    element_bytes: int


@dataclass(frozen=True, slots=True)
class _Translation:
    """What the rules share: the document, the nest, the meaning of names."""

    root: Field
    nest: LoopNest
    names: Vocabulary

    @property
    def groups(self) -> dict[str, tuple[str, Role]]:
        """Array and role of every group a description of the nest may have, in the model's order."""
        output = self.nest.output.array
        flows = {output: Role.FLOW, f"{output}_1": Role.FLOW, f"{output}_drain": Role.DRAIN}
        return {a.array: (a.array, Role.READ) for a in self.nest.inputs} | {g: (output, role) for g, role in flows.items()}

    def array(self) -> SystolicArray:
        nest = self.nest
        described = read_pe(self.root, nest, self.names)
        pe = described.element
        modules = self.module_names(len(described.dataflow) + 1)
        present = [g for g in self.groups if any(m.group == g for m in modules)]
        groups = [self.group(g, [m for m in modules if m.group == g]) for g in present]
        if pe.accumulators is not None and not any(g.role is Role.FLOW and not g.exterior for g in groups):
            groups += self.silent_group(pe, groups)
        position = {access.array: index for index, access in enumerate(nest.inputs)}
        groups.sort(key=lambda g: (list(Role).index(g.role), position.get(g.array, 0), g.exterior))
        return SystolicArray(
            workload=nest.name,
            dataflow=described.dataflow,
            permutation=described.permutation,
            edition=Edition.ODYSSEY,
            band=nest.band,
            untiled=tuple(loop for loop in nest.loops if loop in nest.untiled),
            order=described.order,
            simd_loop=nest.simd,
            groups=tuple(merge_drain(groups)),
            pe=pe,
        )

    def quantity(self, field: Field) -> Expression:
        return self.names.expression(field)

    def spine(self, name: str) -> Spine:
        field = self.root["latency"][name]
        return spine(read_tree(field, self.names), field)

    # -- modules and groups -------------------------------------------------------------

    def module_names(self, levels: int) -> list[_Name]:
        """The I/O modules, copy-in first, from the PEs towards DRAM; every section must agree on them."""
        latency = self.root["latency"]
        known: dict[str, _Name] = {}
        for key in latency.members():
            if key == PE:
                continue
            base = key.removesuffix("_inter").removesuffix("_intra")
            match = _MODULE.fullmatch(base)
            if match is None or match["group"] not in self.groups or int(match["level"]) > levels:
                allowed = f"PE or <group>_IO_L<level>_<in|out> with group {', '.join(self.groups)} and level 1 to {levels}"
                raise InputError(f"{latency.path}: {quoted(key)} is no module of {self.nest.name}; allowed: {allowed}")
            known[base] = _Name(base, match["group"], int(match["level"]), Direction(match["way"]))
        for section in ("attr", "io", "memory"):
            for key in self.root[section].members():
                if key != PE and key.removesuffix("_inter").removesuffix("_intra") not in known:
                    raise InputError(f"{self.root[section].path}: {quoted(key)} has no loop tree in latency")
        reads = [access.array for access in self.nest.inputs]
        for array in reads:
            if not any(m.group == array for m in known.values()):
                raise InputError(f"{latency.path}: no module {array}_IO_L… that copies {array} in")
        output = self.nest.output.array
        if not any(m.group not in reads and m.way is Direction.OUT for m in known.values()):
            raise InputError(f"{latency.path}: no module {output}…_out that copies {output} out")
        return sorted(known.values(), key=lambda m: (list(Direction).index(m.way), m.level))

    def group(self, group: str, modules: list[_Name]) -> IOGroup:
        array, role = self.groups[group]
        latency, memory = self.root["latency"], self.root["memory"]
        for way in dict.fromkeys(m.way for m in modules):
            if (role, way) in ((Role.READ, Direction.OUT), (Role.DRAIN, Direction.IN)):
                raise InputError(f"{latency.path}: a {role.value} group such as {group} has no modules {way.value}")
            for what, found in (
                ("buffer (in memory)", [m for m in modules if m.way is way and memory.find(m.full)]),
                ("DRAM access (attr.to_dram)", [m for m in modules if m.way is way and self.attribute(m, "to_dram")]),
            ):
                if len(found) != 1:
                    raise InputError(f"{latency.path}: {len(found)} modules {group} {way.value} with {what}; allowed: 1")
        buffered = [m for m in modules if memory.find(m.full)]
        buffers = [self.buffer(m, array) for m in buffered]
        if any(b != buffers[0] or m.level != buffered[0].level for b, m in zip(buffers, buffered, strict=True)):
            raise InputError(f"{memory.path}: {buffered[0].full} and {buffered[1].full} differ; allowed: buffers alike")
        buffer = buffers[0]
        reducing = any(self.reduces(m, role) for m in buffered)
        return IOGroup(
            name=group,
            array=array,
            role=role,
            exterior=buffered[0].level > 1,
            size=with_lanes(buffer.size),
            last=with_lanes(buffer.last),
            count=with_lanes(buffer.count),
            double_buffered=buffer.double_buffered,
            locally_reducing=reducing,
            packing=_packing(self.names.packs[buffer.pack], buffer.element_bytes),
            modules=tuple(self.module(m, role, buffer, m in buffered, reducing) for m in modules),
        )

    def silent_group(self, pe: ProcessingElement, groups: list[IOGroup]) -> list[IOGroup]:
        """The interior flow group of partial sums that never leave the PEs.

        Only its accumulators and an otherwise unused pack parameter are left of it in a document.
        """
        array = self.nest.output.array
        unused = [p for name, p in self.names.packs.items() if name not in self.used_packs()]
        if not unused or pe.accumulators is None or any(g.name == array for g in groups):
            return []
        return [
            IOGroup(
                name=array,
                array=array,
                role=Role.FLOW,
                exterior=False,
                size=pe.accumulators,
                last=with_lanes(unused[0].last),
                count=pe.count,
                double_buffered=True,
                locally_reducing=False,
                packing=_packing(unused[0], self.root["memory"][PE]["ele_size"].positive()),
                modules=(),
            )
        ]

    def used_packs(self) -> set[str]:
        fields = (memory.find("data_pack_factor_inter") for memory in self.root["memory"].members().values())
        return {field.text() for field in fields if field is not None}

    def buffer(self, module: _Name, array: str) -> _Buffer:
        memory = self.root["memory"][module.full]
        memory["ele_type"].text()
        if memory["array"].text() != array:
            memory["array"].refuse(array)
        pack, parameter = self.names.pack(memory["data_pack_factor_inter"])
        size = self.quantity(memory["buf_size"])
        leaf = self.spine(f"{module.full}_inter").leaf
        if not isinstance(leaf, Transfer) or (leaf.size, leaf.pack) != (size, pack) or leaf.last != parameter.last:
            self.root["latency"][f"{module.full}_inter"].refuse(
                f"a tree that ends in an array_tile of buf_size words packed by {pack}, which divides its last_dim"
            )
        return _Buffer(
            size=size,
            last=leaf.last,
            count=self.quantity(memory["num"]),
            pack=pack,
            double_buffered=memory["double_buffer"].flag(),
            element_bytes=memory["ele_size"].positive(),
        )

    def attribute(self, module: _Name, key: str) -> bool:
        return self.root["attr"][module.full][key].flag()

    def reduces(self, module: _Name, role: Role) -> bool:
        """Whether a buffer accumulates: each of its tiles takes several array tiles from the PEs."""
        return role is Role.FLOW and module.way is Direction.OUT and bool(self.spine(f"{module.full}_intra").above)

    def module(self, module: _Name, role: Role, buffer: _Buffer, buffers: bool, reducing: bool) -> Module:
        if self.attribute(module, "in") is not (module.way is Direction.IN):
            self.root["attr"][module.full]["in"].refuse("1 for copy-in, 0 for copy-out")
        dram = self.attribute(module, "to_dram")
        schedule = self.spine(module.full)
        chain: Expression = ONE
        intra: Expression = ZERO
        if buffers:
            every = schedule.trips
            intra = self.spine(f"{module.full}_intra").trips
            chain = self.spine(f"{module.full}_inter").trips
        else:
            every = product(*schedule.above)
            moved = Transfer(buffer.size, buffer.last, buffer.pack)
            if schedule.leaf != moved or product(*schedule.below) != buffer.count:
                self.root["latency"][module.full].refuse("a tree that moves the tiles of all buffers below the mark 'array'")
        epilogue = Epilogue.NONE if module.way is Direction.IN else Epilogue.TRANSFER
        return Module(
            name=module.full,
            level=module.level,
            direction=module.way,
            instances=with_lanes(self.instances(module, role)),
            tiles=with_lanes(every),
            buffer=buffers,
            dram=dram,
            chain=with_lanes(chain),
            intra=with_lanes(intra),
            serialized=dram and self.attribute(module, "serialize"),
            prologue=module.way is Direction.IN,
            # The two quirks of the published estimator that DESIGN.md §6 lists for buffer modules.
            epilogue=Epilogue.ONE_CYCLE if buffers and reducing else epilogue,
            extra_words=with_lanes(intra) + 1 if buffers and dram else ZERO,
        )

    def instances(self, module: _Name, role: Role) -> Expression:
        """How many modules there are; of a reduction chain, only the last PE drains."""
        dimensions = [self.quantity(d) for d in self.root["io"][module.full]["dims"]]
        if role is Role.DRAIN:
            reductions = [lanes(loop) for loop in self.nest.reduction_loops]
            dimensions = [d for d in dimensions if with_lanes(d) not in reductions]
        return product(*dimensions)


def _packing(parameter: PackParameter, element_bytes: int) -> Packing:
    return Packing(with_lanes(parameter.multiple_of), with_lanes(parameter.last), parameter.max_words * element_bytes)
