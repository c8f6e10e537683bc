"""What is given of the physical array that a nest is to run on.

Several layers that share one array share its lanes, its SIMD factor, the widths of its ports and its buffers; their tile
factors are their own. A layer smaller than the array leaves lanes idle: its work is padded.
"""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import SystolicArray

#: Name under which the accumulators of a PE stand among the buffers.
ACCUMULATORS = "PE"


@dataclass(frozen=True, slots=True)
class PhysicalArray:
    """The given parts of an array; what is not given is free."""

    lanes: tuple[tuple[str, int], ...] = ()  #: PEs along space loops
    simd: int | None = None  #: The SIMD factor
    packs: tuple[tuple[str, int], ...] = ()  #: Data packing factors (port widths in words) by I/O group
    #: Words that the buffers of an I/O group hold at least; `ACCUMULATORS` names those of a PE. A larger tile makes them
    #: larger.
    buffers: tuple[tuple[str, int], ...] = ()
    idle_lanes: int = 0  #: Up to so many lanes may lie along a space loop even if most of them have no work

    def given(self, array: SystolicArray) -> dict[str, int]:
        """The quantities that are given, by name."""
        found = {quantities.lanes(loop).name: lanes for loop, lanes in self.lanes}
        found |= {quantities.pack(group).name: pack for group, pack in self.packs}
        return found if self.simd is None else {**found, quantities.t2(array.simd_loop).name: self.simd}

    @property
    def parameters(self) -> dict[str, int]:
        """What is given, by name, as results state it."""
        simd = {} if self.simd is None else {"simd": self.simd}
        kinds = (("lanes", self.lanes), ("pack", self.packs), ("buffer", self.buffers))
        lanes, packs, buffers = ({f"{kind}.{name}": number for name, number in part} for kind, part in kinds)
        return {**lanes, **simd, **packs, **buffers}


#: Nothing is given.
ANY_ARRAY = PhysicalArray()
