"""Configurations and seeds for other tools, and results as pages."""
