"""Loop nests, array accesses, dependences, and the library of kernels."""
