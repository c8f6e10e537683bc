"""Layers with costs of a user's own on accelerators of hardware spaces."""

from __future__ import annotations

from typing import Any

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.plugins.codesign.formulations.custom.question import CustomQuestion
from ithaca.plugins.codesign.formulations.space import HardwareSpace


def accelerator(space: HardwareSpace, point: Configuration, text: str) -> str:
    """An accelerator of a space in words.

    Parameters
    ----------
    space : HardwareSpace
        The space.
    point : Configuration
        The values of its quantities.
    text : str
        The same in words.
    """
    return f"{space.name}: {text}"


def request(accelerator: Any, architecture: str, problems: tuple[Problem, ...]) -> CustomQuestion:
    """The question that layers on an accelerator were asked.

    Parameters
    ----------
    accelerator : object
        The accelerator.
    architecture : str
        Its name.
    problems : tuple of Problem
        A problem of every layer.
    """
    return CustomQuestion(hardware=architecture, objective=problems[0].objective, layers=problems)
