"""Modules that are imported where they are first used: collecting tests takes no seconds for
them."""

from importlib import import_module


class Lazy:
    """A module, imported when something of it is asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # pytest asks whatever it collects for marks
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


pyo = Lazy("pyomo.environ")
