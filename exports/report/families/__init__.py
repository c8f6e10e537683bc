"""What pages show of the configurations of a family: a module each, of its name."""
