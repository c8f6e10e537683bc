"""The Python interface of Ithaca; the command line calls the same functions."""
