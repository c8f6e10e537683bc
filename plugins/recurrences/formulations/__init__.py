"""Arrays of systems of uniform recurrences, such as LU decomposition."""
