"""Kernel files of the workloads that come with Ithaca."""
