"""What is said of answers of one family alone."""
