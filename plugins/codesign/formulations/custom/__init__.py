"""Accelerators whose costs a user states: a graph of factors, without any model of Ithaca's."""
