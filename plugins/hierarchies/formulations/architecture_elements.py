"""Elements of architectures in Timeloop's files: attributes are taken out as they are read, so that
what nobody reads is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any, Literal

from ithaca.files.messages import MAX_HINTED, meant, quoted, refuse
from ithaca.files.numbers import fraction
from ithaca.formulations.algebra.domains import parse_defined
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import MAX_BITS

#: Attributes that nothing counted here depends on: they describe a component to Accelergy, or say
#: how compressed tensors are stored.
DESCRIPTIVE = frozenset(
    """technology cell_technology voltage temperature latency cycle_time global_cycle_seconds
    n_banks num_banks n_ports num_ports n_rd_ports n_wr_ports n_rdwr_ports nports nbanks type
    area cluster_area size_unit has_power_gating version exponent mantissa n_rw_ports
    cycle_seconds action_latency_cycles n_instances multiplier_width adder_width
    update_fifo_depth num_pipeline_stages n_buffets
    metadata_datawidth metadata_word_bits metadata_block_size metadata_storage_width
    metadata_storage_depth metadata_width metadata_depth metadata_counter_width
    compression_supported decompression_supported concordant_compressed_tile_traversal
    tile_partition_supported network_word_bits tech_node reduction_supported""".split()  # noqa: SIM905
)


#: Attributes that may be given only with the values by which they change nothing.
NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "min_utilization": (0,),
    "addr_gen_energy": (0,),
    "allow_overbooking": (False,),
    "power_gating": (False,),
    "per_dataspace_bandwidth_consumption_scale": ({}, None),
    "is_sparse": (False,),
    "multicast_supported": (True,),
    "power_gated_at": (None, ""),
}

#: Words in the classes of components, by what those do.
_ROLES: Mapping[str, tuple[str, ...]] = {
    "storage": ("dram", "sram", "regfile", "smartbuffer", "storage"),
    "network": ("xy_noc", "legacy", "reductiontree", "simplemulticast"),
    "compute": ("mac", "multiplier", "compute", "arithmetic"),
}

#: Deepest use of names in the values of names, and most names that a value depends on.
_DEEPEST, _NAMES = 20, 100


def calculated(
    value: Any,
    names: Mapping[str, Any],
    where: str,
    known: dict[str, Fraction] | None = None,
    depth: int = 0,
) -> Any:
    """A value, of text the number that it says as an expression over names.

    Raises `InputError` if it is no expression, or uses what has no name.

    Parameters
    ----------
    value : object
        What a file states.
    names : mapping of str to object
        Values of the names that expressions may use.
    where : str
        The field, for messages.
    known : dict of str to Fraction, optional
        Takes the numbers that names stand for, which are then known.
    depth : int, optional
        How many names deep this is.
    """
    if not isinstance(value, str):
        return value
    if depth > _DEEPEST:
        raise refuse(where, f"is {quoted(value)}, which depends on itself; allowed: a number")
    expression = parse_defined(value, where=where, allowed=names)
    known = {} if known is None else known
    for name in expression.symbols - known.keys():
        own = calculated(names[name], names, where, known, depth + 1)
        if isinstance(own, bool) or not isinstance(own, int | float | Fraction):
            raise refuse(where, f"{name} is {quoted(own)}; allowed: a number")
        if len(known) == _NAMES:
            raise refuse(where, f"depends on more than {_NAMES} names; allowed: fewer")
        known[name] = fraction(own)
    try:
        number = expression.evaluate(known, FRACTION)
    except ZeroDivisionError:
        raise refuse(where, f"{quoted(value)} divides by zero; allowed: a number") from None
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
        raise refuse(where, f"{quoted(value)} is too large or too small; allowed: a number")
    return number


@dataclass
class Element:
    """A component of an architecture file; attributes are taken out as they are read."""

    name: str
    kind: str
    attributes: dict[str, Any]
    mesh: tuple[int, int] | int
    """Instances along X and Y, or in all, that containers say there are."""
    where: str
    keeps: frozenset[str] | None = None
    inherited: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of containers around it, for those that it does not state."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Further names for expressions."""
    known: set[str] = field(default_factory=set)
    """Names of attributes that are read."""
    unpriced: bool = False
    """Whether nothing says its energies."""
    subclass: str | None = None
    """The class whose energies it has, where its own says only what it does."""

    def __post_init__(self) -> None:
        self.attributes = {name.replace("-", "_"): own for name, own in self.attributes.items()}
        self._names = {**self.variables, **self.inherited, **self.attributes}
        self._known: dict[str, Fraction] = {}

    @property
    def role(self) -> Literal["storage", "network", "compute", ""]:
        """The role of the element, by its class, as the tool has it: storage, network or compute;
        empty for any other class. An element with a size, or with energies of accesses, is
        storage."""
        kind = self.kind.lower()
        sized = self.attributes.keys() & {"entries", "bytes", "depth", "memory_depth", "sizeKB"}
        for role, words in _ROLES.items():
            if any(word in kind for word in words) and not (role == "compute" and sized):
                return role  # type: ignore[return-value]
        return "storage" if sized or "read_energy" in self.attributes else ""

    def take(self, *names: str) -> Any:
        """The value of an attribute under any of its names, or of a container; None where it has
        none."""
        self.known |= {*names}
        present = {name: self.attributes.pop(name) for name in names if name in self.attributes}
        if present:
            first = next(iter(present))
            if other := next((n for n in present if present[n] != present[first]), None):
                raise refuse(
                    self.where, f"{self.name} has {first} and {other}; allowed: one of them"
                )
            return present[first]
        return next((self.inherited[name] for name in names if name in self.inherited), None)

    def value(self, stated: Any, of: str) -> Any:
        """The value of an attribute; of text the number that it states as an expression."""
        return calculated(stated, self._names, f"{self.where}: {self.name}.{of}", self._known)

    def number(self, *names: str, least: int = 0) -> Fraction | None:
        stated = self.take(*names)
        if stated is None:
            return None
        value = self.value(stated, names[0])
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | Fraction)
            or value < least
        ):
            raise refuse(
                self.where,
                f"{self.name}.{names[0]} is {quoted(stated)}; allowed: a number of at "
                f"least {least}",
            )
        return fraction(value)

    def integer(self, *names: str) -> int | None:
        value = self.number(*names, least=1)
        if value is not None and value.denominator != 1:
            raise refuse(
                self.where,
                f"{self.name}.{names[0]} is {quoted(float(value))}; allowed: a positive integer",
            )
        return None if value is None else int(value)

    def instances(self) -> dict[str, Any]:
        """Instances and mesh: the attributes' own, else what the containers around it say."""
        stated, x, y = (
            self.integer("instances"),
            self.integer("meshX", "mesh_x"),
            self.integer("meshY", "mesh_y"),
        )
        if isinstance(self.mesh, tuple) and (stated, x, y) == (None, None, None):
            return {"instances": prod(self.mesh), "mesh_x": self.mesh[0], "mesh_y": self.mesh[1]}
        around = self.mesh if isinstance(self.mesh, int) else prod(self.mesh)
        count = stated or (x * y if x and y else around)
        x = x if x is not None else count // y if y else count
        y = y if y is not None else count // x
        if x * y != count:
            raise refuse(
                self.where,
                f"{self.name} has {count} instances on a mesh of "
                f"{x}·{y}; allowed: a mesh of as many",
            )
        return {"instances": count, "mesh_x": x, "mesh_y": y}

    def finish(self) -> list[str]:
        """The paths of attributes that nobody has read.

        Raises `InputError` if one would change the costs.
        """
        unread: list[str] = []
        for name, value in self.attributes.items():
            if name in NEUTRAL or (name.startswith("network") and name not in DESCRIPTIVE):
                named = name.startswith("network") and isinstance(value, str)  # a network
                if named or value in (*NEUTRAL.get(name, (0, None)), self.name):
                    continue
                raise refuse(
                    self.where,
                    f"attribute {quoted(name)} of {self.name} is not supported; allowed: "
                    f"{name}: {str(NEUTRAL.get(name, (0,))[0]).lower()}",
                )
            if name not in DESCRIPTIVE:
                hint = meant(name, self.known) if len(unread) < MAX_HINTED else ""
                unread.append(f"{self.where}.attributes.{name}{hint}")
        return unread
