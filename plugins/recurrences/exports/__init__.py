"""Files for other tools, and pages."""
