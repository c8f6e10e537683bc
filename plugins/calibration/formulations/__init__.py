"""Fits to synthesized arrays."""
