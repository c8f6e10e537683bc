"""Packages that only some commands use, and the extras of Ithaca that install them; search
tools that are there only if they are installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

from ithaca.files.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")

#: Names of packages by that of their modules, where they differ.
_PACKAGES = {
    "cyipopt": "cyipopt-wheels",
    "netCDF4": "netcdf4",
    "vcd": "pyvcd",
    "vl_convert": "vl-convert-python",
}

#: Extras for those who work on Ithaca itself.
_OWN = {"bench", "docs", "test"}


def installed(*modules: str) -> bool:
    """Whether packages are installed; none of them is loaded."""
    return all(find_spec(module) is not None for module in modules)


def extra_of(module: str) -> str:
    """The extra that installs a module; empty if none does."""
    package = _PACKAGES.get(module, module)
    try:
        stated = requires("ithaca") or []
    except PackageNotFoundError:  # a tree that is not installed
        return ""
    for line in stated:
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"""extra == ['"]([\w-]+)['"]""", line)
        if name and extra and name[0].lower() == package.lower() and extra[1] not in _OWN:
            return extra[1]
    return ""


def lacking(error: ModuleNotFoundError) -> InputError | ModuleNotFoundError:
    """The refusal that names the extra which installs a missing module; the error itself if none
    does."""
    module = (error.name or "").partition(".")[0]
    extra = extra_of(module)
    if not extra:
        return error
    package = _PACKAGES.get(module, module)
    return InputError(f'this needs the package {package}: pip install "ithaca[{extra}]"')


def naming_extras(function: Callable[P, T]) -> Callable[P, T]:
    """A function that names the extra where it lacks a package."""

    @wraps(function)
    def call(*values: P.args, **keywords: P.kwargs) -> T:
        try:
            return function(*values, **keywords)
        except ModuleNotFoundError as error:
            raise lacking(error) from None

    return call


def check_installed(module: str) -> None:
    """Refuse to go on without a package, before any work is done."""
    if not installed(module):
        raise lacking(ModuleNotFoundError(name=module))


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
