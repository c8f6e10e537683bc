"""The views of answers of one family alone."""
