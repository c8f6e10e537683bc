"""Flow graphs that come with Ithaca."""
