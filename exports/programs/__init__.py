"""Designs as mathematical programs: for Pyomo, for files of solvers, and for people."""
