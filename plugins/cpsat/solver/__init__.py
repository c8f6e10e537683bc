"""A problem as an integer program, solved by CP-SAT."""
