"""Elements of architectures in Timeloop's files: attributes are taken out as they are read, so that
what nobody knows is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from ithaca.files.messages import quoted, refuse
from ithaca.files.numbers import fraction

#: Attributes that nothing counted here depends on: they describe a component to Accelergy, whose
#: energies are given.
DESCRIPTIVE = frozenset(
    """technology cell_technology voltage temperature latency cycle_time global_cycle_seconds
    n_banks num_banks num-banks n_ports num_ports num-ports n_rd_ports n_wr_ports n_rdwr_ports type
    area cluster-area cluster_area size_unit has_power_gating data_storage_width version exponent
    mantissa""".split()  # noqa: SIM905
)


#: Attributes that may be given only with the value by which they change nothing.
NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("min-utilization", "min_utilization", "metadata_datawidth", "metadata-word-bits"), (0,)
    ),
    **dict.fromkeys(("addr-gen-energy", "addr_gen_energy"), (0,)),
    **dict.fromkeys(
        ("allow_overbooking", "allow-overbooking", "power_gating", "reduction_supported"), (False,)
    ),
    **dict.fromkeys(
        (
            "concordant_compressed_tile_traversal",
            "tile_partition_supported",
            "decompression_supported",
        ),
        (False,),
    ),
    "is_sparse": (False,),
    "multicast_supported": (True,),
}


@dataclass
class Element:
    """A component of an architecture file; attributes are taken out as they are read."""

    name: str
    kind: str
    attributes: dict[str, Any]
    mesh: tuple[int, int] | int
    """Instances along X and Y, or in all, that containers say there are."""
    width_is_block: bool
    """Whether a width says how many words a block has (``nodes``), else how many blocks a
    cluster."""
    where: str
    keeps: frozenset[str] | None = None

    @property
    def is_compute(self) -> bool:
        kind, sized = (
            self.kind.lower(),
            self.attributes.keys() & {"entries", "bytes", "depth", "memory_depth", "sizeKB"},
        )
        return not sized and any(
            word in kind for word in ("mac", "multiplier", "compute", "arithmetic")
        )

    def take(self, *names: str) -> Any:
        """The value of an attribute under any of its names; None where it has none."""
        present = [name for name in names if name in self.attributes]
        if len(present) > 1:
            raise refuse(
                self.where, f"{self.name} has {present[0]} and {present[1]}; allowed: one of them"
            )
        return self.attributes.pop(present[0]) if present else None

    def number(self, *names: str, least: int = 0) -> Fraction | None:
        value = self.take(*names)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
            raise refuse(
                self.where,
                f"{self.name}.{names[0]} is {quoted(value)}; allowed: a number of at least {least}",
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

    def finish(self) -> None:
        """Refuse attributes that nobody has read."""
        for name, value in self.attributes.items():
            if name in DESCRIPTIVE or (name in NEUTRAL and value in NEUTRAL[name]):
                continue
            if name.startswith("network") and value == 0:  # an energy, for one
                continue
            allowed = (
                f"{name}: {str(NEUTRAL[name][0]).lower()}"
                if name in NEUTRAL
                else "attributes that the model counts"
            )
            raise refuse(
                self.where,
                f"attribute {quoted(name)} of {self.name} is not supported; allowed: {allowed}",
            )
