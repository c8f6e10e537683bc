"""What is said of answers with systolic arrays."""
