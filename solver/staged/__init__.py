"""Staged exact search: inner choices bounded by their least completion, and completed best
first."""
