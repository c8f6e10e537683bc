"""Tile sizes of Gemmini's library, and C programs that call it."""
