"""Files: read under limits, written whole; errors."""
