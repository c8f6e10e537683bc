"""Accelerators as flow graphs of components, each with its cycles and energy."""
