"""Parts that the core does not name, each a folder that can be deleted."""
