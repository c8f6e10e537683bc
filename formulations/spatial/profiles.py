"""What people and studies ask of mappings, by edition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ithaca.formulations.spatial.dmazerunner.profile import DmazerunnerProfile
from ithaca.formulations.spatial.explainable.profile import ExplainableProfile
from ithaca.formulations.spatial.intrinsic.profile import IntrinsicProfile
from ithaca.formulations.spatial.profile import MappingProfile, TimeloopProfile

#: The profiles of designs, by their edition.
PROFILES: Mapping[str, type[MappingProfile[Any]]] = {
    "timeloop": TimeloopProfile,
    "dmazerunner": DmazerunnerProfile,
    "explainable": ExplainableProfile,
    "intrinsic": IntrinsicProfile,
}
