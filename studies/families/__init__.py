"""Studies that are a family's own."""
