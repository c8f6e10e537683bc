"""Proven search for the best configuration."""
