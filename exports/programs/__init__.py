"""Designs as mathematical programs: for Pyomo, for files of solvers, and for people."""

from ithaca.files.registry import Registry

#: Tools that write programs of designs without a configuration, too, by format.
FORMATS: Registry[object] = Registry("programs")
