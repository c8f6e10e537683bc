"""What is asked: loop nests, kernels, networks."""
