"""Expressions, the number systems they are evaluated in, and directed rounding."""
