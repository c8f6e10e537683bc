"""JSON schemas of co-designs and of hardware spaces."""

from __future__ import annotations

from typing import Any

from ithaca.commands.schemas import of_families
from ithaca.files.documents import json_schema
from ithaca.formulations.families import FAMILIES
from ithaca.plugins.codesign.formulations.files import space_model
from ithaca.plugins.codesign.formulations.kinds import ACCELERATORS, unnamed_accelerators
from ithaca.plugins.codesign.results.documents import codesign_model


def codesign() -> dict[str, Any]:
    """The schema of the document of a co-design."""
    return json_schema(codesign_model(FAMILIES[unnamed_accelerators()]))


def space() -> dict[str, Any]:
    """The schema of a hardware space."""
    models = {family: space_model(family) for family in ACCELERATORS}
    return of_families("Space", models, unnamed_accelerators())
