"""Hardware spaces."""
