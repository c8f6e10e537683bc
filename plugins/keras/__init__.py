"""Networks of Keras models."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "network files": {
            ".keras": "ithaca.plugins.keras.workloads.source:read_archive",
            **dict.fromkeys((".h5", ".hdf5"), "ithaca.plugins.keras.workloads.source:read_hdf5"),
        },
        "network sources": {"keras": "ithaca.plugins.keras.workloads.source:SOURCE"},
    }
)
