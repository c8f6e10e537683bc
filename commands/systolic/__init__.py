"""Commands on systolic arrays, and what they print."""
