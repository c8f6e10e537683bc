"""The limits of a platform, for problems of one design."""

from __future__ import annotations

from ithaca.formulations.design import Design
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit


def platform_limits(design: Design, platform: str = "u250") -> tuple[Limit, ...]:
    """The limits of a platform that a design has the metrics of."""
    resources = load_platform(platform).resources.items()
    return tuple(Limit(name, own.limit) for name, own in resources if name in design.vocabulary)
