"""The families that documents may belong to."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.formulations.family import Family
from ithaca.formulations.spatial.family import FAMILY as SPATIAL
from ithaca.formulations.systolic.family import FAMILY as SYSTOLIC

#: By the name that designs and documents give them.
Families = Mapping[str, Family]

FAMILIES: Families = {"systolic": SYSTOLIC, "spatial": SPATIAL}

#: The family of documents that name none, as those of old.
UNNAMED = "systolic"
