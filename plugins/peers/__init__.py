"""Search tools to compare with."""

from ithaca.files.plugin import Plugin

_HARDWARE = "ithaca.plugins.peers.studies.hardware_methods"

_SEARCHES = {"nsga2": "nsga2", "tpe": "tpe", "gaussian-process": "gaussian_process"}

PLUGIN = Plugin(
    {"hardware searches": {name: f"{_HARDWARE}:{search}" for name, search in _SEARCHES.items()}}
)
