"""What Ithaca offers to Python; the command line calls the same functions."""
