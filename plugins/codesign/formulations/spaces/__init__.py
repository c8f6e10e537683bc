"""Hardware spaces that come with Ithaca."""
