"""Sparse tensors in edition `timeloop`: formats, gating and skipping, as Sparseloop states them."""
