"""Networks as workloads of one array."""
