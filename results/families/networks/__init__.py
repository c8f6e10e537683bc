"""The documents of networks, by family: a module each."""
