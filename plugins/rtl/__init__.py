"""Simulated and generated hardware."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "commands": {
            "simulate": "ithaca.commands.families.systolic.simulate:simulate",
            "build": "ithaca.commands.build:build",
        },
        "answers": {
            "Simulation.view": "ithaca.results.families.views.systolic.simulation:simulation_view",
            "Simulation.chart": "ithaca.exports.report.families.systolic_timeline:simulation_chart",
        },
        "tools": {"rtl": "ithaca.exports.rtl.folder:RTL"},
        "schemas": {
            "simulation": "ithaca.commands.families.systolic.simulating:SimulationDocument",
        },
        "readers": {
            "simulation": "ithaca.commands.families.systolic.readers:read_simulation",
        },
        "names": {
            "Build": "ithaca.commands.api.building:Build",
            "Simulation": "ithaca.formulations.systolic.simulation.compared:Simulation",
            "build": "ithaca.commands.api.building:build",
            "simulate": "ithaca.commands.families.systolic.simulating:simulate",
        },
    },
    {
        "simulate": "Run a result word by word: where the cycles go.",
        "build": "Simulate and synthesize exported hardware.",
    },
)
