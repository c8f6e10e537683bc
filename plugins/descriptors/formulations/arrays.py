"""Load a published design description into the array that `derivation` builds.

The AutoSA/Odyssey release describes each design as a JSON document: loop trees per module, buffers,
data packs, parameters. Such documents state the published estimator's view, so the array follows
`Edition.ODYSSEY`. Dataflow and order of the tile loops come from the document, and so does what a
design's generator is free to choose: limits of packs, double buffers, layout in DRAM. The array of
this dataflow and permutation is derived, and every size, count and number of trips that the
document states must be the array's, by exact values at random points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, escaped, quoted, refuse
from ithaca.formulations.algebra.expression import ONE, Expression, multiply
from ithaca.formulations.systolic.buffering import ALL
from ithaca.formulations.systolic.dataflows import find_dataflow, loop_order, permutations
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.quantities import lanes, tiles
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import (
    Direction,
    Edition,
    GroupRole,
    IOGroup,
    Module,
    SystolicArray,
)
from ithaca.formulations.systolic.target import design_obstacles
from ithaca.plugins.descriptors.formulations.reader import (
    Field,
    Reader,
    Spine,
    children,
    read_json,
    read_parameters,
)
from ithaca.workloads.nest import LoopNest

#: What descriptions call the processing element.
PE = "PE"


def described(question: ArrayQuestion, nest: LoopNest) -> SystolicArray:
    """The array that the descriptor of a question describes.

    Raises `InputError` if it cannot be read, describes no design of the nest, contradicts other
    options of the question, or the target cannot build its design.

    Parameters
    ----------
    question : ArrayQuestion
        The question, which names a file as its descriptor.
    nest : LoopNest
        The nest to solve.
    """
    if question.edition is not Edition.ODYSSEY:
        raise InputError(
            "--descriptor: published descriptions carry the omissions of --edition "
            "odyssey; allowed: that edition only"
        )
    if question.space.double_buffer != ALL:
        raise InputError(
            "--double-buffer does not go with --descriptor, which says itself what is doubled; "
            "allowed: one of them"
        )
    array = load_descriptor(Path(str(question.descriptor)), nest)
    for option, wanted, own in (
        ("--dataflow", question.dataflow and set(question.dataflow), set(array.dataflow)),
        ("--permutation", question.permutation, array.permutation),
    ):
        if wanted is not None and wanted != own:
            raise InputError(
                f"{option} does not match the descriptor, which describes {array.name}"
            )
    target = question.space.target
    if target is not None and (reasons := tuple(design_obstacles(nest, array))):
        raise InputError(
            f"--for {target.value}: {target.title} cannot build the "
            f"descriptor's design: {'; '.join(reasons)}"
        )
    return array


def load_descriptor(path: Path, nest: LoopNest) -> SystolicArray:
    """Load a description of a design of a nest from a JSON file, as the AutoSA/Odyssey release
    publishes it.

    Raises `InputError` if the file cannot be read, is malformed, or describes no design of the
    nest.
    """
    return descriptor_array(read_json(path), nest, escaped(path.name))


def descriptor_array(document: object, nest: LoopNest, name: str) -> SystolicArray:
    """The array of edition `Edition.ODYSSEY` that a design description describes, as JSON decodes
    it.

    Keys that the model does not need are ignored; error lines start with ``name``.

    Raises `InputError` if it is malformed or describes no design of the nest.

    Parameters
    ----------
    document : object
        The description, as JSON decodes it.
    nest : LoopNest
        The nest that it is of.
    name : str
        What error lines start with.
    """
    for access in nest.accesses:
        if any(c != 1 for subscript in access for _, c in subscript.terms):
            raise refuse(
                name,
                "published descriptions have no strides or dilations; "
                f"allowed: those of {access} at 1",
            )
    root = Field(document, name)
    reader = read_parameters(root["params"], nest)
    dataflow = _dataflow(root, reader, nest)
    schedule = reader.spine(root["latency"][PE])
    order = _order(schedule, root["latency"][PE], reader, nest)
    permutation = _permutation(order, root["latency"][PE], nest)
    array = derive(nest, dataflow, permutation, Edition.ODYSSEY)
    comparison = _Comparison(root, nest, reader)
    comparison.processing_element(array, schedule)
    # the published estimator's drains, where it merges them away, are the other edition's
    names = [group.name for group in array.groups]
    merged = [
        g
        for g in derive(nest, dataflow, permutation).groups
        if g.role is GroupRole.DRAIN and g.name not in names
    ]
    groups = (*array.groups, *merged)
    comparison.names({module.name: module.buffer for group in groups for module in group.modules})
    described = {group.name: comparison.group(group) for group in groups}
    return replace(array, order=order, groups=tuple(described[name] for name in names))


def _dataflow(root: Field, reader: Reader, nest: LoopNest) -> tuple[str, ...]:
    compute = root["compute"][PE]
    dimensions = {field: reader.expression(field) for field in compute["dims"]}
    if not reader.agree(reader.expression(compute["num"]), multiply(*dimensions.values())):
        compute["num"].refuse("the product of dims")
    loops = []
    for field, dimension in dimensions.items():
        loop = next((loop for loop in nest.band if reader.agree(dimension, lanes(loop))), None)
        loops.append(loop or field.refuse(f"t1/t2 of a loop {', '.join(nest.band)}"))
    with errors_at(compute["dims"].path):
        return find_dataflow(nest, tuple(loops))


def _order(schedule: Spine, field: Field, reader: Reader, nest: LoopNest) -> tuple[str, ...]:
    """The tile loops, outermost first."""
    order = tuple(
        loop for trips in schedule.above for loop in nest.band if reader.agree(trips, tiles(loop))
    )
    if len(schedule.above) != len(order) or sorted(order) != sorted(nest.band):
        field.refuse(
            f"one loop over the tiles of each of {', '.join(nest.band)} above the mark 'array'"
        )
    return order


def _permutation(order: tuple[str, ...], field: Field, nest: LoopNest) -> str:
    """The permutation with this order, up to the order within its two parts: that is free (Theorem
    3.1)."""
    for access in nest.accesses:
        indexing = [access.indexed_by(loop) for loop in order]
        if indexing == sorted(indexing, reverse=True):
            return access.tensor
    orders = "; ".join(
        f"{array}: {', '.join(loop_order(nest, array))}" for array in permutations(nest)
    )
    return field.refuse(
        f"the order of tile loops of a permutation ({orders}), not {', '.join(order)}"
    )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares a description with the derived array, part by part."""

    root: Field
    nest: LoopNest
    reader: Reader

    def names(self, modules: dict[str, bool]) -> None:
        """Refuse modules the array does not have; a buffer's has trees of its own. Missing ones are
        found as they are read."""
        allowed = {PE, *modules} | {
            f"{name}_{part}" for name in modules if modules[name] for part in ("inter", "intra")
        }
        for section in ("latency", "attr", "io", "memory"):
            for key in self.root[section].members():
                if key not in allowed:
                    known = among(key, (PE, *modules))
                    raise refuse(
                        self.root[section].path,
                        f"{quoted(key)} is no module of {self.nest.name}{known}",
                    )

    def processing_element(self, array: SystolicArray, schedule: Spine) -> None:
        pe, compute, memory = array.pe, self.root["compute"][PE], self.root["memory"].find(PE)
        self.reader.expect(
            compute["unroll_factor"], pe.simd, f"the SIMD factor of loop {self.nest.simd}"
        )
        work = self.reader.steps(schedule.leaf)
        moves: Expression = multiply(0)
        if work is not None and not schedule.below:
            # blocks beside the compute loops load and store partial sums, a cycle each (published
            # estimator)
            loopless = sum(self.reader.steps(part) is None for part in children(schedule.leaf))
            work, moves = work - loopless, loopless * pe.tiles
        trips = multiply(*schedule.below, work or ONE)
        if not self.reader.agree(trips, pe.trips) or not self.reader.agree(moves, pe.moves):
            self.root["latency"][PE].refuse(
                f"a tree of {pe.trips} trips per tile, and {pe.moves} moves of partial sums"
            )
        if (memory is None) is not (pe.accumulators is None):
            self.root["memory"].refuse(f"accumulators of the PEs, {pe.accumulators or 'none'}")
        if memory is not None and pe.accumulators is not None:
            self.buffer(memory, self.nest.output.tensor, pe.accumulators, pe.count)

    def buffer(self, memory: Field, array: str, size: Expression, count: Expression) -> None:
        if memory["array"].text() != array:
            memory["array"].refuse(array)
        self.reader.expect(memory["buf_size"], size, "the size of the tile")
        self.reader.expect(memory["num"], count, "the number of buffers")

    def group(self, group: IOGroup) -> IOGroup:
        """A derived group with the description's choices."""
        described = [
            self.choices(group, self.root["memory"][module.name]) for module in group.buffers
        ]
        if not described:
            return group
        if any(choice != described[0] for choice in described):
            names = " and ".join(module.name for module in group.buffers)
            raise refuse(self.root["memory"].path, f"{names} differ; allowed: buffers alike")
        max_bytes, double_buffered, pack = described[0]
        return replace(
            group,
            double_buffered=double_buffered,
            packing=replace(group.packing, max_bytes=max_bytes),
            modules=tuple(self.module(module, group, pack) for module in group.modules),
        )

    def choices(self, group: IOGroup, memory: Field) -> tuple[int, bool, str]:
        """Widest pack (bytes), whether the buffer is doubled, and name of the pack."""
        self.buffer(memory, group.tensor, group.size, group.count)
        pack = memory["data_pack_factor_inter"]
        words = self.reader.max_words(pack, group.packing)
        return words * memory["ele_size"].positive(), memory["double_buffer"].flag(), pack.text()

    def module(self, module: Module, group: IOGroup, pack: str) -> Module:
        attributes, latency = self.root["attr"][module.name], self.root["latency"]
        if attributes["in"].flag() is not (module.direction is Direction.IN):
            attributes["in"].refuse("1 for copy-in, 0 for copy-out")
        if attributes["to_dram"].flag() is not module.dram:
            attributes["to_dram"].refuse(f"{int(module.dram)} at level {module.level}")
        serialized = attributes["serialize"].flag()
        self.instances(module, group)
        schedule = self.spine(latency[module.name])
        if module.buffer:
            self.trips(latency[module.name], schedule.trips, module.tiles)
            transfer, intra = latency[f"{module.name}_inter"], latency[f"{module.name}_intra"]
            end = self.spine(transfer)
            if not self.moves(end.leaf, group, pack):
                transfer.refuse(
                    f"a tree that ends in an array_tile of buf_size words packed by {pack}"
                )
            self.trips(transfer, end.trips, module.chain)
            self.trips(intra, self.spine(intra).trips, module.intra)
        else:
            below = multiply(*schedule.below)
            if not self.moves(schedule.leaf, group, pack) or not self.reader.agree(
                below, group.count
            ):
                latency[module.name].refuse(
                    "a tree that moves the tiles of all buffers below the mark 'array'"
                )
            self.trips(latency[module.name], multiply(*schedule.above), module.tiles)
        return replace(module, serialized=module.dram and serialized)

    def spine(self, field: Field) -> Spine:
        schedule = self.reader.spine(field)
        if self.reader.steps(schedule.leaf) is not None:
            field.refuse("a tree whose blocks contain no loops")
        return schedule

    def trips(self, field: Field, described: Expression, derived: Expression) -> None:
        if not self.reader.agree(described, derived):
            field.refuse(f"a tree of {derived} trips")

    def moves(self, leaf: Field, group: IOGroup, pack: str) -> bool:
        """Whether a tree ends in the transfer of a group's tile."""
        if leaf["type"].text() != "array_tile":
            return False
        size, last = self.reader.expression(leaf["size"]), self.reader.expression(leaf["last_dim"])
        named = leaf["data_pack_factor"].text() == pack
        return named and self.reader.agree(size, group.size) and self.reader.agree(last, group.last)

    def instances(self, module: Module, group: IOGroup) -> None:
        """Compare how many modules there are; of a reduction chain, only the last PE drains."""
        field = self.root["io"][module.name]["dims"]
        chains = [
            lanes(loop) for loop in self.nest.reduction_loops if group.role is GroupRole.DRAIN
        ]
        dimensions = [self.reader.expression(dimension) for dimension in field]
        counted = [
            d for d in dimensions if not any(self.reader.agree(d, chain) for chain in chains)
        ]
        if not self.reader.agree(multiply(*counted), module.instances):
            field.refuse(f"the number of modules, {module.instances}")
