"""Commands, and what they print, that are of this family alone."""
