"""Other search tools: imported only where one is really called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ithaca.workloads.errors import InputError


def peer(module: str) -> Any:
    """Import a module of another tool.

    Raises
    ------
    InputError
        If the tool is not installed.
    """
    tool = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != tool:
            raise  # the tool is there but broken: its own message says more
        raise InputError(f"{tool} is not installed; get it with: pip install {tool}") from None
