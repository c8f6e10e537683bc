"""Hardware and mappings chosen together."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "commands": {
            "codesign": "ithaca.commands.codesign:codesign",
            "match": "ithaca.commands.match:match",
        },
        "device searches": {
            "systolic": "ithaca.commands.families.systolic.splitting:split_device",
        },
        "answers": {
            "CodesignResult.view": "ithaca.results.codesign_view:codesign_view",
            "CodesignResult.document": "ithaca.results.codesign:codesign_document",
            "CodesignResult.dataset": "ithaca.results.datasets:codesign_dataset",
            "CodesignResult.networks": "ithaca.results.codesign_layers:networks",
            "CodesignResult.architecture": "ithaca.results.codesign_layers:architecture_of",
            "CodesignResult.chart": "ithaca.exports.charts.codesign:codesign_chart",
        },
        "lists": {"spaces": "ithaca.commands.api.spaces:print_spaces"},
        "completions": {"space": "ithaca.commands.api.spaces:complete"},
        "schemas": {
            "codesign": "ithaca.commands.schemas:codesign",
            "codesign-whatif": "ithaca.results.studies:CodesignStudyDocument",
            "match": "ithaca.commands.api.matching:MatchDocument",
            "space": "ithaca.commands.schemas:space",
        },
        "readers": {
            "match": "ithaca.commands.api.matching:read_matches",
            "codesign": "ithaca.results.codesign:read_codesign",
            "codesign-whatif": "ithaca.commands.api.split_study:read_study",
        },
        "names": {
            "CodesignResult": "ithaca.studies.codesign.result:CodesignResult",
            "CodesignStudy": "ithaca.commands.api.codesign_study:CodesignStudy",
            "HardwareSpace": "ithaca.formulations.hardware.space:HardwareSpace",
            "Matches": "ithaca.commands.api.matching:Matches",
            "codesign": "ithaca.commands.api.codesign:codesign",
            "list_spaces": "ithaca.commands.api.spaces:list_spaces",
            "match": "ithaca.commands.api.matching:match",
        },
    },
    {
        "codesign": "Choose hardware and mappings together, and prove it.",
        "match": "List every way to run a workload on an intrinsic.",
    },
)
