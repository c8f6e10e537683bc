"""Networks of models in ONNX."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin({"network files": {".onnx": "ithaca.plugins.onnx.workloads.network:import_onnx"}})
