"""Programs of CP-SAT as files."""
