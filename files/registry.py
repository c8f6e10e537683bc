"""Registries: things by name, each imported when it is first asked for."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, TypeVar

T = TypeVar("T")


class Registry(UserDict[str, T]):
    """Things by name, in an order; where each is, ``ithaca.module:attribute``, until it is asked
    for."""

    data: dict[str, Any]

    def __init__(self, places: Mapping[str, str]) -> None:
        super().__init__()
        self.data |= places

    def __getitem__(self, name: str) -> T:
        """The thing of a name, a `KeyError` where there is none."""
        thing = self.data[name]
        if isinstance(thing, str):
            thing = self.data[name] = resolve_name(thing)
        return thing  # type: ignore[no-any-return]
