"""Simulated and generated hardware."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

_HERE = "ithaca.plugins.rtl"

PLUGIN = Plugin(
    {
        "commands": {
            "simulate": f"{_HERE}.commands.simulate:simulate",
            "build": f"{_HERE}.commands.build:build",
        },
        "simulators": {"systolic": f"{_HERE}.formulations.compared:cycles_of"},
        "answers": {
            "Simulation.view": f"{_HERE}.results.view:simulation_view",
            "Simulation.chart": f"{_HERE}.exports.timeline:simulation_chart",
        },
        "run sections": {"systolic": f"{_HERE}.exports.timeline:timeline_sections"},
        "tools": {"rtl": f"{_HERE}.exports.folder:RTL"},
        "tool makers": {"rtl": f"{_HERE}.exports.generated:tool_of"},
        "tool options": {"rtl": f"{_HERE}.exports.options:HardwareOptions"},
        "schemas": {
            "simulation": f"{_HERE}.commands.simulating:SimulationDocument",
        },
        "readers": {
            "simulation": f"{_HERE}.commands.readers:read_simulation",
        },
        "names": {
            "Build": f"{_HERE}.commands.building:Build",
            "Simulation": f"{_HERE}.formulations.compared:Simulation",
            "build": f"{_HERE}.commands.building:build",
            "simulate": f"{_HERE}.commands.simulating:simulate",
        },
    },
    {
        "simulate": "Run a result word by word: where the cycles go.",
        "build": "Simulate and synthesize exported hardware.",
    },
)
