"""The families that documents may belong to, and those that hardware spaces may be made of."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.formulations.family import Family
from ithaca.formulations.hardware.kind import AcceleratorKind
from ithaca.formulations.spatial.accelerator import HIERARCHIES
from ithaca.formulations.spatial.family import FAMILY as SPATIAL
from ithaca.formulations.systolic.accelerator import ARRAYS
from ithaca.formulations.systolic.family import FAMILY as SYSTOLIC

#: By the name that designs and documents give them.
Families = Mapping[str, Family]

FAMILIES: Families = {"systolic": SYSTOLIC, "spatial": SPATIAL}

#: The family of documents that name none, as those of old.
UNNAMED = "systolic"

#: Accelerators of hardware spaces by their family; the first is that of spaces that name none.
ACCELERATORS: Mapping[str, AcceleratorKind] = {"spatial": HIERARCHIES, "systolic": ARRAYS}
