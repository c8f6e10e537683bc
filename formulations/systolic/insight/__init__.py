"""Insight into a configuration: where its cycles go, what it pads, how far it is from its roofs."""
