"""The constants of an array that depend on the layer that it runs: parameters of its modules, or
registers where it runs several layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from ithaca.files.csv_text import csv_text
from ithaca.formulations.systolic.quantities import lanes
from ithaca.formulations.systolic.systolic_array import GroupRole
from ithaca.plugins.rtl.exports.hardware import Hardware
from ithaca.plugins.rtl.formulations.addresses import AddressNest, merged_alike

#: Bits of a register.
BITS = 32


@dataclass(frozen=True)
class ModuleSizes:
    """The sizes of a module: a nest of loops and whole numbers, of each layer."""

    nests: tuple[AddressNest, ...]
    """The order of its words, with equally many loops in each layer."""
    counts: Mapping[str, tuple[int, ...]]
    """Its other sizes by name."""
    first: int
    """The register of its first size."""

    @property
    def rows(self) -> list[tuple[str, tuple[int, ...]]]:
        """Name and value for each layer of the sizes, as they follow each other in registers."""
        loops = range(len(self.nests[0].axes))
        inwards = loops[::-1]
        return [
            *((f"turns.{at}", tuple(n.axes[at][0] for n in self.nests)) for at in inwards),
            *((f"step.{at}", tuple(n.steps[at] for n in self.nests)) for at in inwards),
            ("first", tuple(nest.base for nest in self.nests)),
            *self.counts.items(),
        ]

    @property
    def parameters(self) -> str:
        """The nest as parameters of `ithaca_walk`: the most turns, where registers say how many."""
        if len(self.nests) == 1:
            return nest_parameters(self.nests[0])
        columns = zip(*(nest.axes for nest in self.nests), strict=True)
        most = ", ".join(sized(max(turns for turns, _ in column)) for column in columns)
        return f".AXES({len(self.nests[0].axes)}), .COUNTS({{{most}}}), .RUN_TIME(1)"

    def port(self, name: str = "") -> str:
        """The expression connected to a module's port for sizes: all of them, or the one of a
        name."""
        rows = [row for row, _ in self.rows]
        at, count = (rows.index(name), 1) if name else (0, len(rows))
        if len(self.nests) == 1:
            return sized(0, BITS * count)
        return f"sizes[{BITS}*{self.first + at}+:{BITS}*{count}]"


def module_sizes(hardware: Hardware) -> dict[str, ModuleSizes]:
    """The sizes by module: of the PEs, and of the buffers of each tensor."""
    sizes = {"PE": ModuleSizes(tuple(each.trips for each in hardware.runs), {}, 0)}
    for groups in zip(*((*each.reads, each.out) for each in hardware.runs), strict=True):
        own = [*zip(hardware.runs, groups, strict=True)]  # strides differ from layer to layer
        first = sum(len(earlier.rows) for earlier in sizes.values())
        counts = {"packs": tuple(each.value(group.size / group.pack) for each, group in own)}
        if groups[0].role is not GroupRole.DRAIN:
            counts["again"] = tuple(each.again(group) for each, group in own)
        orders = merged_alike([each.in_tile(group) for each, group in own])
        nests = tuple(_words(order, hardware.word(groups[0])) for order in orders)
        sizes[groups[0].modules[0].name] = ModuleSizes(nests, counts, first)
    return sizes


def registers(hardware: Hardware) -> list[tuple[str, tuple[int, ...]]]:
    """Name of every register, and its value for each layer."""
    return [
        (f"{module}.{name}", values)
        for module, own in module_sizes(hardware).items()
        for name, values in own.rows
    ]


def register_files(hardware: Hardware, layers: Sequence[str]) -> Mapping[str, str]:
    """The registers for people, and as the bench writes them: layer after layer."""
    rows = registers(hardware)
    table = [(at, name, *values) for at, (name, values) in enumerate(rows)]
    words = zip(*(values for _, values in rows), strict=True)
    return {
        "registers.csv": csv_text(("register", "size", *layers), table),
        "vectors/sizes.hex": "".join(
            f"{value % (1 << BITS):0{BITS // 4}x}\n" for layer in words for value in layer
        ),
    }


def disagreements(runs: Mapping[str, Hardware]) -> Iterator[str]:
    """The differences that keep layers, by name, from running on one array: properties other than
    sizes."""
    first, *others = ((name, _fixed(hardware)) for name, hardware in runs.items())
    for name, fixed in others:
        for field, value in first[1].items():
            if fixed.get(field) != value:
                yield f"{field} is {value} in {first[0]}, {fixed.get(field)} in {name}"
                break


def _fixed(hardware: Hardware) -> dict[str, object]:
    """The properties that an array cannot change from layer to layer, by name."""
    chosen = hardware.configuration
    groups = (*hardware.reads, hardware.out)
    return {
        "loops": ",".join(chosen.nest.loops),
        "design": chosen.design.name,
        "modules": " ".join(module.name for _, module in chosen.design.modules),
        "dtype": f"{chosen.data.words}/{hardware.sum_bits}",
        **{f"machine.{name}": value for name, value in asdict(hardware.machine).items()},
        **chosen.nest.labels,
        "simd": hardware.simd,
        "sums": hardware.outputs,
        **{f"lanes.{x}": hardware.value(lanes(x)) for x in chosen.design.dataflow},
        **{f"pack.{group.name}": hardware.value(group.pack) for group in groups},
        **{f"word.{group.tensor}": hardware.word(group) for group in groups},
    }


def _words(order: AddressNest, word: int) -> AddressNest:
    """The words of a buffer in the order of their elements, at least one loop of them."""
    words = order.over(word)
    return AddressNest(words.axes or ((1, 0),), words.base)


def nest_parameters(nest: AddressNest, bits: int = BITS, name: str = "") -> str:
    """A nest as parameters of `ithaca_walk`, named so in front, whose places have so many bits.

    Parameters
    ----------
    nest : AddressNest
        The nest of addresses.
    bits : int, optional
        Bits of a place.
    name : str, optional
        What names of parameters begin with.
    """
    axes = nest.axes or ((1, 0),)
    counts = ", ".join(sized(turns) for turns, _ in axes)
    steps = ", ".join(sized(step, bits) for step in AddressNest(axes).steps)
    first = nest.base if bits == BITS else sized(nest.base, bits)
    parameters = {"AXES": len(axes), "COUNTS": f"{{{counts}}}", "STEPS": f"{{{steps}}}"}
    return ", ".join(
        f".{name}{key}({text})" for key, text in (parameters | {"FIRST": first}).items()
    )


def sized(value: int, bits: int = BITS) -> str:
    """A number of so many bits."""
    return f"{'-' * (value < 0)}{bits}'d{abs(value)}"
