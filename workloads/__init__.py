"""Loop nests, tensor accesses, dependences, and the library of kernels."""
