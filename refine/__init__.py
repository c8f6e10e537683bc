"""Refinement: exact cost grids around a design."""
