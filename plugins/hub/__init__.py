"""Networks of published models, from config.json."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "network sources": {
            "hub": "ithaca.plugins.hub.workloads.source:SOURCE",
            "runtimes": "ithaca.plugins.hub.workloads.runtimes:RUNTIMES",
        }
    }
)
