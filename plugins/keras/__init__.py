"""Networks of Keras models."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "network files": {".keras": "ithaca.plugins.keras.workloads.source:read_archive"},
        "network sources": {"keras": "ithaca.plugins.keras.workloads.source:SOURCE"},
    }
)
