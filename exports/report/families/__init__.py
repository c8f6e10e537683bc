"""The sections of a report that only configurations of one family have: a module for each family,
of its name."""
