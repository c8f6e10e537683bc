"""Loop nests, kernels and networks, to ask about."""
