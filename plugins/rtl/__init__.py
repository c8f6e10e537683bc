"""Simulated and generated hardware."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "commands": {
            "simulate": "ithaca.plugins.rtl.commands.simulate:simulate",
            "build": "ithaca.plugins.rtl.commands.build:build",
        },
        "simulators": {"systolic": "ithaca.plugins.rtl.formulations.compared:cycles_of"},
        "answers": {
            "Simulation.view": "ithaca.plugins.rtl.results.view:simulation_view",
            "Simulation.chart": "ithaca.plugins.rtl.exports.timeline:simulation_chart",
        },
        "run sections": {"systolic": "ithaca.plugins.rtl.exports.timeline:timeline_sections"},
        "tools": {"rtl": "ithaca.plugins.rtl.exports.folder:RTL"},
        "tool makers": {"rtl": "ithaca.plugins.rtl.exports.generated:tool_of"},
        "tool options": {"rtl": "ithaca.plugins.rtl.exports.options:HardwareOptions"},
        "schemas": {"simulation": "ithaca.plugins.rtl.commands.simulating:SimulationDocument"},
        "readers": {"simulation": "ithaca.plugins.rtl.commands.readers:read_simulation"},
        "names": {
            "Build": "ithaca.plugins.rtl.commands.building:Build",
            "Simulation": "ithaca.plugins.rtl.formulations.compared:Simulation",
            "build": "ithaca.plugins.rtl.commands.building:build",
            "simulate": "ithaca.plugins.rtl.commands.simulating:simulate",
        },
    },
    {
        "simulate": "Run a result word by word: where the cycles go.",
        "build": "Simulate and synthesize exported hardware.",
    },
)
