"""Engines, certificates, proofs repeated."""
