"""Seeds: a few configurations of one design, ready for any tool; and what the tools' formats share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ithaca.exports.seeds.parameters import ParameterSpace
from ithaca.formulations.configuration import Configuration
from ithaca.workloads.errors import InputError


@dataclass(frozen=True)
class Seeds:
    """Start configurations of one design."""

    space: ParameterSpace  #: The design's parameters
    configurations: tuple[Configuration, ...]  #: The configurations, the one to try first first

    @property
    def parameters(self) -> tuple[dict[str, int], ...]:
        """The configurations as parameters by name."""
        return tuple(self.space.encode(configuration) for configuration in self.configurations)


def json_list(items: Iterable[Any]) -> str:
    """A JSON list as text, one item a line: easy to read, to compare and to cut."""
    return "[\n" + ",\n".join("  " + json.dumps(item) for item in items) + "\n]\n"


def peer(module: str) -> Any:
    """Import a module of another search tool, only where it is really called.

    Raises `InputError` if the tool is not installed.
    """
    tool = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != tool:
            raise  # the tool is there but broken: its own message says more
        raise InputError(f"{tool} is not installed; get it with: pip install {tool}") from None
