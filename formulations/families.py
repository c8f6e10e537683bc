"""The registry of families that designs and documents name.

Each is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ithaca.files.registry import Registry

if TYPE_CHECKING:
    from ithaca.formulations.design import Design
    from ithaca.formulations.family import Family, Profile
    from ithaca.formulations.question import Question
    from ithaca.formulations.question_kind import QuestionKind

#: By the name that designs and documents give them.
FAMILIES: Registry[Family[Any]] = Registry("families")

#: The options of questions of families; commands can ask of no other.
QUESTION_KINDS: Registry[QuestionKind] = Registry("question kinds")

#: The questions themselves.
QUESTIONS: Registry[type[Question]] = Registry("questions")

#: The family of documents that name none, as those of old.
UNNAMED = "systolic"


def family_of(design: Design) -> Family[Any]:
    """The family that a design belongs to."""
    return FAMILIES[design.family]


def choice_of(design: Design) -> Mapping[str, Any]:
    """The fields that tell a design from others that do the same work, as documents state them."""
    return family_of(design).choice_fields(design)


def profile_of(design: Design) -> Profile[Any]:
    """The profile of a design, for people and studies."""
    return family_of(design).profile(design)
