"""Plug-ins: parts of Ithaca, and of other packages, that say by name where their things are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ithaca.files.errors import InputError

#: The group of entry points that plug-ins are found by; the name of each is the plug-in's.
GROUP = "ithaca.plugins"

#: The plug-in that is there always, and first in every registry.
CORE = "core"


@dataclass(frozen=True)
class Plugin:
    """The things that a part adds to registries; nothing of it is imported before it is used."""

    things: Mapping[str, Mapping[str, str]]
    """By registry (see `ithaca.files.registry`) and name, the place of each: ``package.module`` or
    ``package.module:attribute``."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """A line on each of its commands, by name."""


@cache
def plugins() -> Mapping[str, Plugin]:
    """The plug-ins of all installed packages by name, the core first.

    Raises `InputError` if one cannot be imported, or two have a name.
    """
    known: dict[str, Plugin] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name != CORE, e.name)):
        if entry.name in known:
            raise InputError(f"two plug-ins are called {entry.name}; allowed: one")
        known[entry.name] = _loaded(entry)
    if CORE not in known:
        raise InputError(f"no entry point {CORE} of group {GROUP}; allowed: pip install ithaca")
    return known


def _loaded(entry: EntryPoint) -> Plugin:
    try:
        plugin = entry.load()
    except (ImportError, AttributeError) as why:
        raise InputError(
            f"plug-in {entry.name} ({entry.value}): {why}; allowed: its package as it was installed"
        ) from why
    if not isinstance(plugin, Plugin):
        raise InputError(f"plug-in {entry.name} ({entry.value}) is no Plugin")
    return plugin
