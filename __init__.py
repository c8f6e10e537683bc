"""Ithaca: proven-best hardware configurations for tensor programs."""

__version__ = "0.1.0"
