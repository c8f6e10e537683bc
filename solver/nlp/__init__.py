"""Nonlinear programming: local optima of the continuous relaxation, for any smooth objective."""
