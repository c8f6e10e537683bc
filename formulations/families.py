"""The families that documents may belong to."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.formulations.family import Family
from ithaca.formulations.systolic.family import FAMILY

#: By the name that designs and documents give them.
Families = Mapping[str, Family]

FAMILIES: Families = {"systolic": FAMILY}

#: The family of documents that name none, as those of old.
UNNAMED = "systolic"
