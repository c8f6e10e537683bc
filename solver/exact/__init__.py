"""Exact branch and bound over products of candidate tables."""
