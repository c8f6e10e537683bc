"""`ithaca.unroll`, and the command of that name."""
