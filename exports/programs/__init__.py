"""Designs as mathematical programs: for Pyomo, for files of solvers, and for people."""

#: Formats of programs, by the names of their tools.
FORMATS = ("pyomo", "nl", "lp", "mps", "gams", "bar", "cpsat", "latex", "python")
