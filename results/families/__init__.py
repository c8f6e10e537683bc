"""The documents of answers that are a family's own."""
