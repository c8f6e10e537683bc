"""Printers of a family's results where they are not like any other's: a module each."""
