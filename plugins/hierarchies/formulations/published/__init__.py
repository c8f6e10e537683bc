"""Editions that are models of publications: each a folder with its design and its profile."""
