"""Configurations and seeds for other tools."""
