"""Search tools to compare with."""

from ithaca.files.plugin import Plugin

_HARDWARE = "ithaca.plugins.peers.studies.hardware_methods"

PLUGIN = Plugin(
    {"hardware searches": {name: f"{_HARDWARE}:{name}" for name in ("nsga2", "tpe", "gp")}}
)
