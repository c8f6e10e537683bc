"""Descriptions read, and the arrays that they describe."""
