"""The views of answers with systolic arrays."""
