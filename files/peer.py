"""Search tools that are there only if they are installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.extras import extra_of


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
        extra = extra_of(tool)
        package = f'"ithaca[{extra}]"' if extra else tool
        raise InputError(f"{tool} is not installed; get it with: pip install {package}") from None
