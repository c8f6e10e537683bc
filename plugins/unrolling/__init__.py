"""Pipelines of FINN and hls4ml, unrolled."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "commands": {"unroll": "ithaca.plugins.unrolling.commands.unroll:unroll"},
        "network sources": {
            "configurations": "ithaca.plugins.unrolling.formulations.configurations:CONFIGURATIONS",
        },
        "answers": {"Unrolling.chart": "ithaca.plugins.unrolling.commands.chart:pipeline_chart"},
        "readers": {"unroll": "ithaca.plugins.unrolling.commands.chart:refuse_document"},
        "names": {"unroll": "ithaca.plugins.unrolling.commands.unrolling:unroll"},
    },
    {"unroll": "Unroll pipelines of FINN and hls4ml, with a proof."},
)
