"""The registry of families: those that designs and documents name, and those of hardware spaces.

Each is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ithaca.files.registry import Registry
from ithaca.formulations.design import Design
from ithaca.formulations.family import Family, Profile

if TYPE_CHECKING:
    from ithaca.formulations.hardware.kind import AcceleratorKind
    from ithaca.formulations.question import Question
    from ithaca.formulations.question_kind import QuestionKind

#: By the name that designs and documents give them.
FAMILIES: Registry[Family[Any]] = Registry(
    {
        "systolic": "ithaca.formulations.systolic.family:SYSTOLIC",
        "spatial": "ithaca.formulations.spatial.family:SPATIAL",
        "recurrence": "ithaca.formulations.recurrence.family:RECURRENCES",
        "custom": "ithaca.formulations.custom.family:STATED",
    }
)

#: The options of questions of families; commands can ask of no other.
QUESTION_KINDS: Registry[QuestionKind] = Registry(
    {
        "systolic": "ithaca.formulations.systolic.options:KIND",
        "spatial": "ithaca.formulations.spatial.options:KIND",
        "recurrence": "ithaca.formulations.recurrence.options:KIND",
    }
)

#: The questions themselves.
QUESTIONS: Registry[type[Question]] = Registry(
    {
        "systolic": "ithaca.formulations.systolic.question:ArrayQuestion",
        "spatial": "ithaca.formulations.spatial.question:MappingQuestion",
        "recurrence": "ithaca.formulations.recurrence.question:RecurrenceQuestion",
    }
)

#: The family of documents that name none, as those of old.
UNNAMED = "systolic"

#: Accelerators of hardware spaces by their family; the first is that of spaces that name none.
ACCELERATORS: Registry[AcceleratorKind] = Registry(
    {
        "spatial": "ithaca.formulations.spatial.accelerator:HIERARCHIES",
        "systolic": "ithaca.formulations.systolic.accelerator:ARRAYS",
        "custom": "ithaca.formulations.custom.accelerator:CUSTOM",
    }
)


def family_of(design: Design) -> Family[Any]:
    """The family that a design belongs to."""
    return FAMILIES[design.family]


def choice_of(design: Design) -> Mapping[str, Any]:
    """The fields that tell a design from others that do the same work, as documents state them."""
    return family_of(design).choice_fields(design)


def profile_of(design: Design) -> Profile[Any]:
    """The profile of a design, for people and studies."""
    return family_of(design).profile(design)


@cache
def module_of(place: str, family: str, part: str = "") -> ModuleType | None:
    """The module of a family in a package of a later layer, for what is its own there.

    Parameters
    ----------
    place : str
        The package, such as ``ithaca.studies.families``.
    family : str
        The family.
    part : str, optional
        A module within that of the family.

    Returns
    -------
    module or None
        None where the family has none.
    """
    name = f"{place}.{family}"
    if find_spec(name) is None or (part and find_spec(f"{name}.{part}") is None):
        return None
    return import_module(f"{name}.{part}" if part else name)
