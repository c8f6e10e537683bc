"""Foldings of pipelines: layers, their choices, and the files of the tools."""
