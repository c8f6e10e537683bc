"""Hardware and mappings chosen together: the best accelerator of a space, proven."""
