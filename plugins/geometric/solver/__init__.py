"""Geometric programming: certified lower bounds, fractional optima, seeds."""
