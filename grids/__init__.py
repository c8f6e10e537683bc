"""Refinement: exact cost grids around a design, and heat maps of them.

Evolution from a design, the other refinement, is an engine: `ithaca.solver.evolution`.
"""
