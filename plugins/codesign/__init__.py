"""Hardware and mappings chosen together."""

from ithaca.files.plugin import Plugin

_HERE = "ithaca.plugins.codesign"

PLUGIN = Plugin(
    {
        "families": {"custom": f"{_HERE}.formulations.custom.family:STATED"},
        "accelerators": {
            "systolic": f"{_HERE}.formulations.arrays:ARRAYS",
            "custom": f"{_HERE}.formulations.custom.accelerator:CUSTOM",
        },
        "network modes": {
            "shared-array": f"{_HERE}.studies.arrays.modes:SHARED",
            "multi-array": f"{_HERE}.studies.arrays.modes:MULTI",
        },
        "array modes": {
            "shared-array": f"{_HERE}.studies.array_modes:SHARED",
            "multi-array": f"{_HERE}.studies.array_modes:MULTI",
        },
        "commands": {"codesign": f"{_HERE}.commands.codesign:codesign"},
        "hardware searches": {
            "random": f"{_HERE}.studies.methods:search_random",
            "explained": f"{_HERE}.studies.explained:search_explained",
        },
        "device searches": {"systolic": f"{_HERE}.commands.splitting:split_device"},
        "answers": {
            "NetworkResult.consistent": f"{_HERE}.results.consistency:check_arrays",
            "NetworkResult.proof": f"{_HERE}.results.arrays:prove_arrays",
            "CodesignResult.view": f"{_HERE}.results.view:codesign_view",
            "CodesignResult.document": f"{_HERE}.results.documents:codesign_document",
            "CodesignResult.dataset": f"{_HERE}.results.dataset:codesign_dataset",
            "CodesignResult.networks": f"{_HERE}.results.layers:networks",
            "CodesignResult.architecture": f"{_HERE}.results.layers:architecture_of",
            "CodesignResult.checks": f"{_HERE}.results.verification:verify_codesign",
            "CodesignResult.explanation": f"{_HERE}.commands.explaining:explain_codesign",
            "CodesignResult.page": f"{_HERE}.commands.explaining:report_codesign",
            "CodesignResult.exported": f"{_HERE}.commands.exporting:export_codesign",
            "CodesignResult.chart": f"{_HERE}.exports.chart:codesign_chart",
        },
        "lists": {"spaces": f"{_HERE}.commands.spaces:print_spaces"},
        "completions": {"space": f"{_HERE}.commands.spaces:complete"},
        "schemas": {
            "codesign": f"{_HERE}.commands.schemas:codesign",
            "codesign-whatif": f"{_HERE}.results.study_document:CodesignStudyDocument",
            "space": f"{_HERE}.commands.schemas:space",
        },
        "readers": {
            "codesign": f"{_HERE}.results.documents:read_codesign",
            "codesign-whatif": f"{_HERE}.commands.study:read_codesign_study",
        },
        "names": {
            "CodesignResult": f"{_HERE}.studies.result:CodesignResult",
            "CodesignStudy": f"{_HERE}.commands.study:CodesignStudy",
            "HardwareSpace": f"{_HERE}.formulations.space:HardwareSpace",
            "codesign": f"{_HERE}.commands.choosing:codesign",
            "list_spaces": f"{_HERE}.commands.spaces:list_spaces",
        },
    },
    {
        "codesign": "Choose hardware and mappings together, and prove it.",
    },
)
