"""Designs: arrays, cost model, spaces; platforms."""
