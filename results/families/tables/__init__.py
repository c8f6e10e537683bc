"""Columns of tables and Datasets that are a family's own: a module each."""
