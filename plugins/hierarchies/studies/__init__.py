"""Runs of a network that pass tiles on."""
