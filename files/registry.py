"""Registries: things by name, each imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import Any, TypeVar

from ithaca.files.errors import InputError
from ithaca.files.plugin import Plugin, plugins

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things of one kind by name, from all plug-ins, those of the core first.

    Parameters
    ----------
    kind : str
        What plug-ins call it.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._of: Mapping[str, Plugin] | None = None
        self._things: dict[str, Any] = {}

    def _known(self) -> dict[str, Any]:
        """Places, or things that were asked for; read again where plug-ins are."""
        known = plugins()
        if self._of is not known:
            things: dict[str, Any] = {}
            for plugin, its in known.items():
                for name, place in its.things.get(self.kind, {}).items():
                    if name in things:
                        raise InputError(f"plug-in {plugin}: {self.kind} {name} is another's name")
                    things[name] = place
            self._of, self._things = known, things
        return self._things

    def place(self, name: str) -> str:
        """The module, and perhaps the attribute, of a thing; a `KeyError` where there is none."""
        return next(
            its.things[self.kind][name]
            for its in plugins().values()
            if name in its.things.get(self.kind, {})
        )

    def __getitem__(self, name: str) -> T:
        """The thing of a name, a `KeyError` where there is none."""
        things = self._known()
        thing = things[name]
        if isinstance(thing, str):
            thing = things[name] = resolve_name(thing)
        return thing  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        """Whether there is a thing of this name, which need not be imported for it."""
        return name in self._known()

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())
