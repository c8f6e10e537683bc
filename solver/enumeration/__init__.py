"""Proofs by enumeration of rows, hardware first, and interval arithmetic."""
