"""Published descriptions of designs, as arrays."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {"described arrays": {"odyssey": "ithaca.plugins.descriptors.formulations.arrays:described"}}
)
