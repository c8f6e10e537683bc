"""Evolutionary search from known configurations: for problems too large to prove."""
