"""Readers of other tools' layers."""
