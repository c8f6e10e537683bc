"""Simulated and generated hardware."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "commands": {
            "simulate": "ithaca.plugins.rtl.commands.simulate:simulate",
            "build": "ithaca.plugins.rtl.commands.build:build",
        },
        "answers": {
            "Simulation.view": "ithaca.plugins.rtl.results.view:simulation_view",
            "Simulation.chart": "ithaca.plugins.rtl.exports.timeline:simulation_chart",
        },
        "tools": {"rtl": "ithaca.plugins.rtl.exports.folder:RTL"},
        "schemas": {
            "simulation": "ithaca.plugins.rtl.commands.simulating:SimulationDocument",
        },
        "readers": {
            "simulation": "ithaca.plugins.rtl.commands.readers:read_simulation",
        },
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
